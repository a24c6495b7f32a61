"""A world that runs in another process, with the same calls as one that runs here."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from surestep.testing.control import Control
from surestep.testing.faults import lookup_fault, write_fault
from surestep.testing.ledger import EffectRow, RequestRow


class RemoteWorld(Control):
    """The world at `url`. Calls raise httpx.HTTPError where it cannot be reached.

    The control port is asked for once, by the first call, so that the world stays within reach
    while its services refuse connections; that first call therefore fails during an outage.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._control_url: str | None = None

    @classmethod
    @asynccontextmanager
    async def spawn(cls, *, folder: Path, port: int = 0) -> AsyncIterator["RemoteWorld"]:
        """A world in a new process with the ready-made services; it ends with the block.

        Raises RuntimeError where the process does not come up; its reason is on stderr.
        """
        command = ["-m", "surestep.testing", "--folder", str(folder), "--port", str(port)]
        process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE)
        try:
            line = await process.stdout.readline() if process.stdout else b""
            if not line:
                raise RuntimeError("the world's process did not start")
            world = cls(json.loads(line)["url"])
            world._control_url = json.loads(line)["control"]
            yield world
        finally:
            if process.returncode is None:
                process.terminate()
            await process.communicate()

    @property
    def url(self) -> str:
        return self._url

    async def effects(self, key: str | None = None) -> list[EffectRow]:
        found = await self._call("GET", "effects", key=key)
        return [EffectRow.model_validate(row) for row in found["effects"]]

    async def requests(self, key: str | None = None) -> list[RequestRow]:
        found = await self._call("GET", "requests", key=key)
        return [RequestRow.model_validate(row) for row in found["requests"]]

    async def fault(
        self,
        key: str,
        *,
        write: Iterable[str] | None = None,
        lookup: Iterable[str] | None = None,
    ) -> None:
        given = {
            "key": key,
            "write": None if write is None else [write_fault(text).text for text in write],
            "lookup": None if lookup is None else [lookup_fault(text).text for text in lookup],
        }
        await self._call("PUT", "faults", given)

    async def forget(self, key: str) -> None:
        await self._call("POST", "forget", {"key": key})

    async def release(self, key: str = "*") -> None:
        await self._call("POST", "release", {"key": key})

    async def stop_listening(self) -> None:
        await self._call("POST", "outage", {"on": True})

    async def listen_again(self) -> None:
        await self._call("POST", "outage", {"on": False})

    async def _call(
        self, method: str, what: str, given: Any = None, *, key: str | None = None
    ) -> dict[str, Any]:
        params = {} if key is None else {"key": key}
        # Plain HTTP to this machine: loading certificates would cost more than the call.
        async with httpx.AsyncClient(verify=False, trust_env=False) as http:
            if self._control_url is None:
                ready = await http.get(f"{self.url}/_world/ready")
                self._control_url = ready.raise_for_status().json()["control"]
            place = f"{self._control_url}/_world/{what}"
            answer = await http.request(method, place, params=params, json=given)
        found: dict[str, Any] = answer.raise_for_status().json()
        return found
