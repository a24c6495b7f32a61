"""The values of secrets that arguments name: found by the worker, right before they are needed."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from surestep.errors import NotSent, SurestepError
from surestep.mask import Mask
from surestep.places import Place, Revealed, places, replaced, value_at
from surestep.sensitive import Secret
from surestep.tool import Tool

SecretSource: TypeAlias = Callable[[str], str | Awaitable[str]]
"""Gives the value of a secret by its name; raises LookupError for one that it does not have."""

WITHIN: Final = 3.0  # seconds; an attempt has ten before its mark, and may look in them as well
SIZE_LIMIT: Final = 64 * 1024  # bytes


class _Unfit(LookupError):
    """A secret is there and cannot be used; the words say why, and hold nothing of it."""


@dataclass(frozen=True)
class Ready:
    """Arguments with their secrets in place.

    words    hides secret and personal values: for everything that is read by people or logged
    secrets  hides secret values only: for what the agent gets, and is recorded
    """

    arguments: Any = None
    words: Mask = Mask()  # noqa: RUF009 - it is never changed
    secrets: Mask = Mask()  # noqa: RUF009 - as above


def folder(path: Path) -> SecretSource:
    """A file for each secret, as Docker and Kubernetes mount them; read anew each time.

    One line end behind the value is left out.
    """

    def read(name: str) -> str:
        # A name is checked to have no slash and no dot in front, so it stays in the folder.
        file = path / name
        try:
            if not file.is_file():
                raise _Unfit("is not there")
            with file.open("rb") as opened:
                content = opened.read(SIZE_LIMIT + 1)
            value = content.decode()
        except OSError as error:
            raise _Unfit(f"cannot be read ({error.strerror})") from None
        except UnicodeDecodeError:
            raise _Unfit("is not text in UTF-8") from None
        if len(content) > SIZE_LIMIT:
            raise _Unfit(f"has more than {SIZE_LIMIT} bytes")
        return value.removesuffix("\n").removesuffix("\r")

    return read


def given(values: Mapping[str, str]) -> SecretSource:
    """Secrets that the program holds itself."""
    return values.__getitem__


async def readied(
    tool: Tool, recorded: dict[str, Any], source: SecretSource | None, within: float = WITHIN
) -> Ready:
    """The arguments for the tool's code, their secrets resolved.

    Raises InvalidArguments, and NotSent, with what is to be done, where a secret is missing.
    """
    arguments = tool.load(recorded)
    if not tool.sensitive:
        return Ready(arguments)
    found = list(places(arguments))
    plain = arguments.model_dump(mode="json", by_alias=True)
    personal = [value_at(plain, one.path) for one in found if not isinstance(one.mark, Secret)]
    values: list[str] = []
    for one in found:
        if isinstance(one.mark, Secret):
            value = await _value(one, source, within)
            values.append(value)
            arguments = replaced(arguments, one, Revealed(value, name=one.value))
    return Ready(arguments, Mask([*values, *personal]), Mask(values))


async def _value(place: Place, source: SecretSource | None, within: float) -> str:
    argument = ".".join(map(str, place.path))
    what = f"argument {argument!r} names the secret {place.value!r}"
    if source is None:
        raise NotSent(
            f"{what}, and this worker has no secrets: set SURESTEP_SECRETS to the folder with a "
            "file of that name"
        )
    try:
        async with asyncio.timeout(within):
            value = source(place.value)
            value = await value if inspect.isawaitable(value) else value
    except SurestepError:
        raise
    except _Unfit as error:
        why = str(error)
    except Exception as error:
        why = "is not there" if isinstance(error, LookupError) else _failed(error, within)
    else:
        if isinstance(value, str) and value.strip():
            return value
        why = "is empty"
    raise NotSent(
        f"{what}, which {why}: put its value into a file of that name in the worker's "
        "SURESTEP_SECRETS"
    )


def _failed(error: Exception, within: float) -> str:
    if isinstance(error, TimeoutError):
        return f"was not given within {within:g} s"
    return f"could not be read ({type(error).__name__})"
