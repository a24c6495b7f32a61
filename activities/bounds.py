"""What comes back from a service, cut to what may be recorded and logged."""

import json
import traceback

from pydantic_core import to_json
from temporalio import activity

from surestep.errors import SurestepError, summary
from surestep.evidence import Receipt, Verification
from surestep.vault import Ready

MATCHES_LIMIT = 20
TEXT_LIMIT = 200  # characters
WHY_LIMIT = 500


def bounded(receipt: Receipt, room: int, ready: Ready) -> Receipt:
    """The receipt in a form that can be recorded, its result in at most `room` bytes of JSON.

    A large or odd answer must not turn a success into a failure; a note says what was cut. Of a
    secret nothing is left; personal values stay in id and result, which are the agent's.
    """
    try:
        text = to_json(receipt.result, inf_nan_mode="strings").decode()
        plain = json.loads(text, parse_constant=_refuse)
        if ready.secrets:
            receipt = receipt.model_copy(update={"result": ready.secrets.within(plain)})
            text = to_json(receipt.result).decode()
        note = None if len(text) <= room else f"a result of {len(text)} bytes was cut"
    except Exception as error:  # whatever a service sends: surrogates, depth, objects
        text, note = "", f"the result cannot be recorded ({type(error).__name__})"
    kept = {
        "id": _short(receipt.id and ready.secrets.text(receipt.id)),
        "status": _short(receipt.status and ready.words.text(receipt.status)),
    }
    if note is None:
        return receipt.model_copy(update=kept)
    cut = {"surestep": note, "start": text[: room // 2][:1000]}
    return receipt.model_copy(update={**kept, "result": cut})


def bounded_look(seen: Verification, room: int, ready: Ready) -> Verification:
    """The verification with bounded receipts and texts, which repeat no marked argument."""
    matches = tuple(bounded(match, room, ready) for match in seen.matches[:MATCHES_LIMIT])
    hide = ready.words.text
    lists = {
        field: tuple(_short(hide(text)) or "" for text in getattr(seen, field)[:MATCHES_LIMIT])
        for field in ("differs", "holds", "missing")
    }
    why = _short(hide(seen.why)) or ""
    return seen.model_copy(update={"matches": matches, "why": why, **lists})


def said(error: BaseException, ready: Ready) -> str:
    """What of an error may be recorded and logged: masked before it is cut, so that no part of a
    value is left at the end."""
    whole = str(error) if isinstance(error, SurestepError) else ""
    return ready.words.text(whole)[:WHY_LIMIT] if whole else ready.words.text(summary(error))


def _short(text: str | None) -> str | None:
    """Text that every encoding can hold, of a bounded length."""
    if text is None:
        return None
    return text[:TEXT_LIMIT].encode("utf-8", "replace").decode()


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def log_failure(what: str, tool: str, error: BaseException, ready: Ready) -> None:
    """Where a tool failed, for its author. Not the exception's text: it can hold secrets."""
    if isinstance(error, SurestepError):
        activity.logger.info("%s %s: %s", what, tool, said(error, ready))
        return
    frames = "".join(traceback.format_tb(error.__traceback__))
    activity.logger.warning("%s %s raised %s\n%s", what, tool, said(error, ready), frames)
