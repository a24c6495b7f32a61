"""What comes back from a service, cut to what may be recorded and logged."""

import json
import traceback

from pydantic_core import to_json
from temporalio import activity

from surestep.errors import SurestepError, summary
from surestep.evidence import Receipt, Verification

MATCHES_LIMIT = 20
TEXT_LIMIT = 200  # characters


def bounded(receipt: Receipt, room: int) -> Receipt:
    """The receipt in a form that can be recorded, its result in at most `room` bytes of JSON.

    A large or odd answer must not turn a success into a failure; a note says what was cut.
    """
    try:
        text = to_json(receipt.result, inf_nan_mode="strings").decode()
        json.loads(text, parse_constant=_refuse)
        note = None if len(text) <= room else f"a result of {len(text)} bytes was cut"
    except Exception as error:  # whatever a service sends: surrogates, depth, objects
        text, note = "", f"the result cannot be recorded ({type(error).__name__})"
    kept = {"id": _short(receipt.id), "status": _short(receipt.status)}
    if note is None:
        return receipt.model_copy(update=kept)
    cut = {"surestep": note, "start": text[: room // 2][:1000]}
    return receipt.model_copy(update={**kept, "result": cut})


def bounded_look(seen: Verification, room: int) -> Verification:
    """The verification with bounded receipts and texts."""
    matches = tuple(bounded(match, room) for match in seen.matches[:MATCHES_LIMIT])
    lists = {
        field: tuple(_short(text) or "" for text in getattr(seen, field)[:MATCHES_LIMIT])
        for field in ("differs", "holds", "missing")
    }
    return seen.model_copy(update={"matches": matches, "why": _short(seen.why) or "", **lists})


def _short(text: str | None) -> str | None:
    """Text that every encoding can hold, of a bounded length."""
    if text is None:
        return None
    return text[:TEXT_LIMIT].encode("utf-8", "replace").decode()


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def log_failure(what: str, tool: str, error: Exception) -> None:
    """Where a tool failed, for its author. Not the exception's text: it can hold secrets."""
    if isinstance(error, SurestepError):
        activity.logger.info("%s %s: %s", what, tool, summary(error))
        return
    frames = "".join(traceback.format_tb(error.__traceback__))
    activity.logger.warning("%s %s raised %s\n%s", what, tool, summary(error), frames)
