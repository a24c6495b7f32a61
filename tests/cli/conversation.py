"""A command on a terminal of its own, and a person who reads what it says and types."""

import asyncio
import errno
import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests import prepared
from tests.prepared import Prepared

from .conftest import PATIENCE, Terminal

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
CTRL_C, CTRL_D = "\x03", "\x04"


class Conversation:
    """What stands on the screen, and who types there."""

    def __init__(self, process: Prepared, screen: int) -> None:
        self.process = process
        self.raw = ""
        self._screen = screen
        self._read = 0  # of `seen`, up to the last thing that was waited for
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(screen, self._more)

    def _more(self) -> None:
        try:
            got = os.read(self._screen, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that nobody writes any more
                raise
            got = b""
        if not got:
            asyncio.get_running_loop().remove_reader(self._screen)
        self.raw += got.decode(errors="replace")
        self._news.set()

    @property
    def seen(self) -> str:
        """Everything so far, without colours."""
        return COLOURS.sub("", self.raw).replace("\r\n", "\n")

    @property
    def shown(self) -> str:
        """Everything so far, without line breaks and columns."""
        return " ".join(self.seen.split())

    async def reads(self, words: str) -> str:
        """Wait for the words, after those that were waited for before; what stood up to them."""
        async with asyncio.timeout(PATIENCE.total_seconds()):
            while words not in self.seen[self._read :]:
                self._news.clear()
                await self._news.wait()
        start = self._read
        self._read = self.seen.index(words, start) + len(words)
        return self.seen[start : self._read]

    def types(self, line: str) -> None:
        self.presses(f"{line}\n")

    def presses(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    async def answers(self, question: str, line: str) -> None:
        """Wait for the question, and answer it."""
        await self.reads(question)
        self.types(line)

    async def ends(self) -> int:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            code = await self.process.wait()
        assert "Traceback" not in self.seen, self.seen
        return code


@asynccontextmanager
async def conversation(terminal: Terminal, *words: str) -> AsyncIterator[Conversation]:
    """`async with conversation(terminal, "decide") as talk:`"""
    screen, keyboard = pty.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = await prepared.begin(
        "starter.py",
        *words,
        env=terminal.environment | {"TERM": "xterm"},
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        terminal=True,
    )
    os.close(keyboard)
    talk = Conversation(process, screen)
    try:
        yield talk
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        asyncio.get_running_loop().remove_reader(screen)
        os.close(screen)
