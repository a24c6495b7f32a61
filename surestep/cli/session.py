"""One command: connect, do it, and end with an exit code and at most one sentence of complaint."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, NoReturn

import typer

from surestep.cli import page
from surestep.cli.exits import Exit
from surestep.cli.failure import explain
from surestep.client import Surestep
from surestep.connection import connection
from surestep.settings import Settings

STEP_GOES_ON: Final = "a step that was started goes on"


@asynccontextmanager
async def session() -> AsyncIterator[Surestep]:
    """The client, for the server that is configured or for the embedded one."""
    settings = Settings.from_environment()
    async with connection(settings) as connected:
        if connected.embedded:
            page.aside(f"embedded server: Web UI {connected.ui_url}, data in {settings.home}")
        yield Surestep(connected.client, task_queue=settings.task_queue, ui_url=connected.ui_url)


def run(
    command: Coroutine[Any, Any, Exit], *, interrupted: str = STEP_GOES_ON, checked: bool = True
) -> NoReturn:
    """Run a command to its end. A fault of our own is not caught: its traceback is wanted.

    interrupted  what Ctrl-C leaves behind, in words
    checked      a wrong setting ends the command before it begins, also one that it does not need
    """
    try:
        if checked:
            Settings.from_environment()
        code = asyncio.run(command)
    except KeyboardInterrupt:
        page.aside(f"interrupted; {interrupted}")
        code = Exit.INTERRUPTED
    except Exception as error:
        explained = explain(error)
        if explained is None:
            raise
        code, sentence = explained
        for number, part in enumerate(sentence.splitlines()):
            page.aside(part if number else f"error: {part}")
    finally:
        command.close()
    raise typer.Exit(code)
