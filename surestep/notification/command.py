"""A program of the operator's, run without a shell, the message as JSON on its standard input."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from datetime import timedelta

from surestep.errors import Ambiguous, NotSent
from surestep.notification.message import Message
from surestep.notification.targets import Target


class Command:
    """Exit code 0 means that it was told. What it says on standard error is in the worker's log."""

    def __init__(self, target: Target, within: timedelta) -> None:
        self.name = target.name
        self._path = target.place
        self._within = within.total_seconds()

    async def tell(self, message: Message) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                self._path, stdin=PIPE, stdout=DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise NotSent(f"it could not be started ({type(error).__name__})") from error
        try:
            async with asyncio.timeout(self._within):
                await process.communicate(message.body)
        except TimeoutError as error:
            raise Ambiguous(f"it did not end within {self._within:g} s") from error
        finally:
            await _ended(process)
        if process.returncode:
            raise Ambiguous(f"it ended with exit code {process.returncode}")


async def _ended(process: Process) -> None:
    """Kill it with all that it started, if it still runs."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
