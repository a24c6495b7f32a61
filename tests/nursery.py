"""Where the tests' Python processes come from: a process that has imported what they import.

`python -m tests.nursery FD` imports it once, and forks for each process that is ordered at the
socket FD. Such a process has a pid, files, signals and an end of its own, like any other; only the
second that its imports would take is saved. `tests/prepared.py` orders.
"""

import contextlib
import fcntl
import gc
import io
import json
import os
import runpy
import signal
import socket
import struct
import sys
import termios
from importlib import import_module
from typing import Any

# Not surestep.cli: its consoles look at environment and terminal when they are made.
IMPORTED = (
    "worker",
    "typer",
    "rich.console",
    "rich.table",
    "surestep.operators",
    "surestep.answer",
)
NUMBER = struct.Struct("!i")
STREAMS = 3  # stdin, stdout and stderr come with the order

Order = dict[str, Any]


def serve(orders: socket.socket) -> Order:
    """Forks until nobody can order any more; returns in each process that was ordered."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for those who order
    while True:
        word, files, _, _ = socket.recv_fds(orders, 1, 1 + STREAMS)
        if not word:
            os._exit(0)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            orders.close()
            return mind(socket.socket(fileno=files[0]), files[1:])
        for file in files:
            os.close(file)


def mind(channel: socket.socket, streams: list[int]) -> Order:
    """Forks the process, tells its pid and then its exit code; returns in the process."""
    with channel, channel.makefile("rb") as told:
        order: Order = json.loads(told.readline())
        pid = os.fork()
        if pid:
            os.closerange(0, STREAMS)
            for stream in streams:
                os.close(stream)
            channel.sendall(NUMBER.pack(pid))
            _, status = os.waitpid(pid, 0)
            with contextlib.suppress(OSError):  # whoever ordered is gone
                channel.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))
            os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    return order


def become(order: Order) -> None:
    """Takes on the order's terminal, folder, environment, streams and arguments."""
    if order["terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = _stream(1, "strict", buffered=not os.isatty(1))
    sys.stderr = _stream(2, "backslashreplace", buffered=False)
    sys.argv = [word for word in order["words"][:1] if word != "-m"] + order["words"][1:]


def _stream(number: int, errors: str, *, buffered: bool) -> io.TextIOWrapper:
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    raw = os.fdopen(number, "wb", buffering=0 if at_once else -1, closefd=False)
    return io.TextIOWrapper(
        raw, encoding="utf-8", errors=errors, line_buffering=not buffered, write_through=at_once
    )


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    gc.freeze()
    ordered = serve(socket.socket(fileno=int(sys.argv[1])))
    become(ordered)
    match ordered["words"]:
        case ["-m", module, *_]:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [file, *_]:
            runpy.run_path(file, run_name="__main__")
