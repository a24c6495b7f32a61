"""What comes back from a service, cut to what may be recorded and logged."""

import json
import traceback

from temporalio import activity

from surestep.errors import SurestepError, summary
from surestep.evidence import Receipt, Verification

MATCHES_LIMIT = 20
TEXT_LIMIT = 500


def bounded(receipt: Receipt, room: int) -> Receipt:
    """The receipt with a result of at most `room` bytes of JSON; a note says so if it was cut.

    A large answer must not turn a success into a failure.
    """
    try:
        text = json.dumps(receipt.result, allow_nan=False)
    except (TypeError, ValueError) as error:
        note = {"surestep": f"the result is not JSON ({type(error).__name__})"}
        return receipt.model_copy(update={"result": note})
    if len(text) <= room:
        return receipt
    note = {"surestep": f"a result of {len(text)} bytes was cut", "start": text[: room // 2][:1000]}
    return receipt.model_copy(update={"result": note})


def bounded_look(seen: Verification, room: int) -> Verification:
    """The verification with bounded receipts and texts."""
    matches = tuple(bounded(match, room) for match in seen.matches[:MATCHES_LIMIT])
    return seen.model_copy(update={"matches": matches, "why": seen.why[:TEXT_LIMIT]})


def log_failure(what: str, tool: str, error: Exception) -> None:
    """Where a tool failed, for its author. Not the exception's text: it can hold secrets."""
    if isinstance(error, SurestepError):
        activity.logger.info("%s %s: %s", what, tool, summary(error))
        return
    frames = "".join(traceback.format_tb(error.__traceback__))
    activity.logger.warning("%s %s raised %s\n%s", what, tool, summary(error), frames)
