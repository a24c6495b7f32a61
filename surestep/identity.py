"""Ids and keys of steps and actions, and the hash of their input: built here, nowhere else."""

import json
import math
import re
from collections.abc import Mapping
from enum import Enum
from hashlib import sha256
from typing import Any

from pydantic_core import to_jsonable_python

from surestep.errors import InvalidArguments, InvalidStepId

# PostgreSQL clusters store workflow ids in 255 characters, many services their keys as well.
# The key is `{step}/{name}/undo~99`, so 200 + 1 + 40 + 5 + 3 fit.
STEP_ID_LIMIT = 200
NAME_LIMIT = 40

# Temporal refuses payloads over 2 MiB. A step that continues as new carries its input twice, the
# results that it has, and its records, of some ten kilobytes at the most.
STEP_INPUT_LIMIT = 256 * 1024  # bytes of JSON
RESULTS_LIMIT = 256 * 1024  # bytes of JSON, of all actions of a step together
ACTIONS_LIMIT = 100

_STEP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+=-]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
UNDO = "undo"
UNDO_SUFFIX = ".undo"  # of the tool that undoes
_EXACT_FLOAT = 2**53


def check_step_id(step_id: str) -> str:
    """The id itself, or InvalidStepId with what to change."""
    if not isinstance(step_id, str) or not _STEP_ID.fullmatch(step_id):
        raise InvalidStepId(
            f"step id {step_id!r} must start with a letter or digit and hold only ASCII letters, "
            "digits and . _ : / @ + = - (it travels in an HTTP header): name the intent in those, "
            "or use surestep.step_id(...)"
        )
    if len(step_id) > STEP_ID_LIMIT:
        raise InvalidStepId(
            f"step id of {len(step_id)} characters is over the limit of {STEP_ID_LIMIT}: "
            "shorten it, or use surestep.step_id(...)"
        )
    return step_id


def check_name(name: str) -> str:
    """The action or tool name itself, or InvalidStepId with what to change."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > NAME_LIMIT:
        raise InvalidStepId(
            f"action name {name!r} must be 1 to {NAME_LIMIT} ASCII letters, digits and . _ -, "
            "starting with a letter or digit"
        )
    if name == UNDO:
        raise InvalidStepId("'undo' is reserved for compensations: choose another action name")
    return name


def step_id(*parts: str | int) -> str:
    """A valid step id from any texts, readable where they allow it.

    Parts without a slash are joined by one. Whatever else they hold, different parts give
    different ids: by a hash, where the text alone does not say it.
    """
    texts = [str(part) for part in parts]
    text = "/".join(texts)
    plain = _STEP_ID.fullmatch(text) and len(text) <= STEP_ID_LIMIT
    if plain and not any("/" in one or "=" in one for one in texts):
        return text
    readable = re.sub(r"[^A-Za-z0-9._/-]+", "-", text).strip("-/._")[:100] or "step"
    whole = json.dumps(texts).encode()
    return f"{readable}={sha256(whole).hexdigest()[:24]}"


def action_id(step: str, name: str) -> str:
    return f"{step}/{name}"


def undo_id(action: str) -> str:
    return f"{action}/{UNDO}"


def watch_id(step: str, suffix: str) -> str:
    """The id of a workflow that watches an ended step; a new suffix for each run of the step."""
    return f"{step}/watch-{suffix}"


def watched_step(watch: str) -> str:
    """The step that a watch watches."""
    return watch.rpartition("/watch-")[0]


def wire_key(action: str, generation: int) -> str:
    """The idempotency key on the wire. The same for every attempt of one key generation."""
    return action if generation == 1 else f"{action}~{generation}"


def input_hash(arguments: Mapping[str, Any]) -> str:
    """`v1:` and the SHA-256 of the canonical JSON of normalised arguments."""
    return "v1:" + sha256(canonical(arguments).encode()).hexdigest()


def canonical(value: Any) -> str:
    """JSON with sorted keys and one spelling for equal numbers (1.0 is 1, -0.0 is 0)."""
    return json.dumps(_plain(value, ""), sort_keys=True, separators=(",", ":"), allow_nan=False)


def check_plain(value: Any, path: str = "") -> None:
    """Refuse what has no single JSON form: InvalidArguments names the path and the remedy."""
    _plain(value, path)


def _plain(value: Any, path: str) -> Any:
    where = path or "arguments"
    match value:
        case None | bool():
            return value
        case Enum():
            return _plain(value.value, path)
        case int():
            return int(value)
        case float():
            if not math.isfinite(value):
                raise InvalidArguments(f"{where}: {value} has no JSON form; use null or a number")
            # Beyond 2**53 a float no longer names one integer.
            return int(value) if value.is_integer() and abs(value) <= _EXACT_FLOAT else value
        case str():
            if any("\ud800" <= char <= "\udfff" for char in value):
                raise InvalidArguments(f"{where}: a lone surrogate is not text; clean it first")
            return str(value)
        case _ if hasattr(value, "get_secret_value"):
            raise InvalidArguments(
                f"{where}: a secret must not be an argument, it would be recorded; "
                "let the tool read it from its environment when it sends"
            )
        case set() | frozenset():
            raise InvalidArguments(
                f"{where}: a set has no order, so two processes would send different bytes; "
                "use a sorted list or tuple"
            )
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise InvalidArguments(f"{where}: key {key!r} must be a string, as in JSON")
                _plain(key, _below(path, key))
            return {key: _plain(item, _below(path, key)) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
        case _:  # dates, decimals, UUIDs, bytes, addresses: pydantic knows their JSON form
            try:
                return to_jsonable_python(value)
            except (ValueError, TypeError) as error:
                kind = type(value).__name__
                raise InvalidArguments(f"{where}: a {kind} has no JSON form: {error}") from None


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def token(action: str, length: int = 32) -> str:
    """A short hexadecimal key for services that want one; distinct for distinct actionIds."""
    if not 16 <= length <= 64:
        raise ValueError("length must be 16 to 64 hexadecimal characters")
    return sha256(action.encode()).hexdigest()[:length]


def as_uuid(action: str) -> str:
    """A version 8 UUID (RFC 9562) derived from the actionId, for services that want a UUID."""
    digits = sha256(action.encode()).hexdigest()[:32]
    digits = f"{digits[:12]}8{digits[13:16]}{'89ab'[int(digits[16], 16) % 4]}{digits[17:]}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
