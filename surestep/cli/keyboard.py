"""What a person types in answer to a question."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from threading import Thread
from typing import TypeVar

import typer

from surestep.cli import page
from surestep.cli.moments import moment

T = TypeVar("T")


class Left(Exception):
    """The person closed the keyboard instead of answering."""


def somebody_there() -> bool:
    """Whether somebody reads the questions and can answer them."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def text(question: str, *, needed: bool, most: int) -> str:
    """One line of at most so many characters."""
    while True:
        given = (await _line(question)).strip()
        if not given.isprintable():
            page.aside("that holds keys that are no text: type it again")
        elif len(given) > most:
            page.aside(f"that is {len(given)} characters, and {most} are kept: shorten it")
        elif needed and not given:
            page.aside("that is needed: it is recorded, and the next person reads it")
        else:
            return given


async def choice(question: str, of: Sequence[T]) -> T:
    """One of a list that was shown with the numbers 1, 2, …"""
    while True:
        given = (await _line(f"{question} (1-{len(of)})")).strip()
        if given.isascii() and given.isdecimal() and 1 <= int(given) <= len(of):
            return of[int(given) - 1]
        page.aside(f"a number from 1 to {len(of)}, please; Ctrl-C leaves everything as it is")


async def time_ahead(question: str) -> datetime:
    """A time that has not come yet."""
    while True:
        try:
            given = moment(await _line(question))
        except typer.BadParameter as error:
            page.aside(error.message)
            continue
        if given > datetime.now(UTC):
            return given
        page.aside("that time has passed: one that lies ahead, please")


async def agreed(question: str) -> bool:
    """Yes or no; an empty answer is no."""
    while True:
        given = (await _line(f"{question} [y/N]")).strip().lower()
        if given in ("", "n", "no", "y", "yes"):
            return given.startswith("y")
        page.aside("y or n, please")


async def leaving_nothing_behind(asking: Callable[[], Awaitable[T]]) -> T | None:
    """The answer; None: the person left. Whoever leaves is told that nothing was sent."""
    try:
        return await asking()
    except (Left, asyncio.CancelledError) as left:
        page.aside("")  # the next line begins after what was typed
        page.aside("nothing was sent")
        if isinstance(left, asyncio.CancelledError):
            raise
        return None


async def _line(question: str) -> str:
    """What is typed until Enter. Raises Left where there is nothing more to read.

    A thread of its own waits for it, not one that the event loop would wait for at its end:
    Ctrl-C must not have to be followed by Enter.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def deliver(given: str) -> None:
        if not answer.done():
            answer.set_result(given)

    def read() -> None:
        try:
            given = sys.stdin.readline()
        except UnicodeDecodeError:
            given = "\ufffd\0\n"  # no text either
        with suppress(RuntimeError):  # whoever asked has left meanwhile
            loop.call_soon_threadsafe(deliver, given)

    page.prompt(f"{question}: ")
    Thread(target=read, daemon=True).start()
    given = await answer
    if not given:
        raise Left
    return given
