"""One peer in its process: started, ordered about, killed, started again."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .meter import Meter

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "build" / "peers" / "bin" / "python"
STARTS_WITHIN = 60.0
ANSWERS_WITHIN = 180.0


@dataclass(frozen=True)
class Peer:
    """`own`: it runs in the environment of `peers.lock`; `setting`: how it is used here."""

    name: str
    module: str
    setting: str
    own: bool = False

    @property
    def installed(self) -> bool:
        return not self.own or PEERS.exists()


class Contender:
    def __init__(self, peer: Peer, place: str, log: Path) -> None:
        self.peer = peer
        self._place = place
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        python = str(PEERS) if self.peer.own else sys.executable
        module = f"tests.bench.peers.{self.peer.module}"
        env = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                python, "-m", module, self._place,
                cwd=ROOT, env=env, stdin=PIPE, stdout=PIPE, stderr=log,
            )  # fmt: skip
        await self._answer(STARTS_WITHIN)

    async def order(self, **order: Any) -> dict[str, Any]:
        await self.send(**order)
        return await self._answer(ANSWERS_WITHIN)

    async def send(self, **order: Any) -> None:
        """Without waiting for the answer: whoever kills it does not get one."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        await self._process.stdin.drain()

    async def kill(self) -> None:
        """SIGKILL."""
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    def cpu(self) -> float:
        assert self._process
        return Meter(self._process.pid).cpu()

    async def _answer(self, within: float) -> dict[str, Any]:
        assert self._process
        assert self._process.stdout
        async with asyncio.timeout(within):
            while line := await self._process.stdout.readline():
                if line.startswith(b"{"):  # some greet on the same output
                    answer: dict[str, Any] = json.loads(line)
                    return answer
        raise AssertionError(f"{self.peer.name} ended\n{self._log.read_text()[-2000:]}")


@asynccontextmanager
async def contending(peer: Peer, place: str, log: Path) -> AsyncIterator[Contender]:
    made = Contender(peer, place, log)
    try:
        await made.start()
        yield made
    finally:
        await made.kill()
