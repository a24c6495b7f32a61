"""Python processes that begin with their imports done; see `tests/nursery.py`.

What `begin` returns is used as an `asyncio.subprocess.Process` is.
"""

import asyncio
import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tests.nursery import NUMBER

ROOT = Path(__file__).parents[1]
Stream = int | IO[bytes]
PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT


class Prepared:
    """A process. `stdout` and `stderr` can be read where they are pipes."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._channel = channel
        self._ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(channel, self._end)

    def _end(self) -> None:
        (self.returncode,) = NUMBER.unpack(self._channel.recv(NUMBER.size))
        self._loop.remove_reader(self._channel)
        self._channel.close()
        self._ended.set()

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    async def communicate(self) -> tuple[bytes, bytes]:
        streams = (self.stdout, self.stderr)
        out, err = await asyncio.gather(*(one.read() if one else _nothing() for one in streams))
        await self.wait()
        return out, err

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


async def begin(
    *words: str,
    env: Mapping[str, str],
    cwd: Path = ROOT,
    stdin: Stream = DEVNULL,
    stdout: Stream = PIPE,
    stderr: Stream = PIPE,
    terminal: bool = False,
) -> Prepared:
    """`python *words`: a file or `-m module`, with its arguments.

    `terminal`: its stdin is one, and becomes its controlling terminal.
    """
    ours, theirs = socket.socketpair()
    pipes: dict[str, int] = {}
    with contextlib.ExitStack() as stack:
        stack.callback(theirs.close)
        given: list[int] = []
        for name, wanted in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
            if wanted == DEVNULL:
                file = os.open(os.devnull, os.O_RDWR)
                stack.callback(os.close, file)
            elif wanted == PIPE:
                pipes[name], file = os.pipe()
                stack.callback(os.close, file)
            elif wanted == STDOUT:
                file = given[-1]
            else:
                file = wanted if isinstance(wanted, int) else wanted.fileno()
            given.append(file)
        socket.send_fds(_nursery(), [b"!"], [theirs.fileno(), *given])
    order = {"words": words, "folder": str(cwd), "environment": dict(env), "terminal": terminal}
    await asyncio.to_thread(ours.sendall, json.dumps(order).encode() + b"\n")
    ours.setblocking(False)
    (pid,) = NUMBER.unpack(await asyncio.get_running_loop().sock_recv(ours, NUMBER.size))
    process = Prepared(pid, ours)
    for name, pipe in pipes.items():
        setattr(process, name, await _reader(pipe))
    return process


@functools.cache
def _nursery() -> socket.socket:
    """It ends with this process: then nobody can order any more."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "tests.nursery", str(theirs.fileno())]
    nursery = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])
    theirs.close()

    def end() -> None:
        ours.close()
        nursery.wait(20)

    atexit.register(end)
    return ours


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb", 0)
    )
    return reader


async def _nothing() -> bytes:
    return b""
