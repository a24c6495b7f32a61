"""A world per test, an HTTP client that repeats nothing, and waiting with a deadline."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import httpx
import pytest

from surestep.testing.service import READY_MADE, Service
from surestep.testing.world import World

SERVICES = [
    *(service for name, service in READY_MADE.items() if name not in ("lagging", "asynchronous")),
    Service("lagging", lag=timedelta(seconds=0.3)),
    Service("asynchronous", accepts_for=timedelta(seconds=0.3)),
    Service("short", key_lifetime=timedelta(seconds=0.2)),
    Service("strict", key_lifetime=timedelta(hours=24), forgets="refuse"),
    Service("stubborn", key_lifetime=timedelta(hours=24), stores_failures=True),
    Service("slow_queue", accepts_for=timedelta(seconds=0.4), lag=timedelta(seconds=0.2)),
    Service("keyed_fenced", key_lifetime=timedelta(hours=24), fences=True),
]


@pytest.fixture
async def world(tmp_path) -> AsyncIterator[World]:
    async with World.start(folder=tmp_path, services=SERVICES) as running:
        yield running


class Caller:
    """Writes and looks with httpx, one short line each."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def post(
        self, service: str, key: str | None, body=None, *, fault=None, patience=5.0, content=None
    ) -> httpx.Response:
        return await self.http.post(
            f"/{service}/effects",
            content=content,
            json={"cents": 2500} if body is None and content is None else body,
            headers=_headers(key, fault),
            timeout=patience,
        )

    async def delete(self, service: str, effect_id: str, key=None, *, fault=None, patience=5.0):
        return await self.http.delete(
            f"/{service}/effects/{effect_id}", headers=_headers(key, fault), timeout=patience
        )

    async def look(self, service: str, key: str, *, fault=None, patience=5.0) -> httpx.Response:
        return await self.http.get(
            f"/{service}/effects",
            params={"key": key},
            headers=_headers(None, fault),
            timeout=patience,
        )

    async def seen(self, service: str, key: str) -> list[dict]:
        return (await self.look(service, key)).json()["effects"]

    async def fence(self, service: str, key: str) -> httpx.Response:
        return await self.http.post(f"/{service}/fences", json={"key": key})


def _headers(key: str | None, fault: str | None) -> dict[str, str]:
    headers = {"Idempotency-Key": key, "World-Fault": fault}
    return {name: value for name, value in headers.items() if value is not None}


@pytest.fixture
async def caller(world) -> AsyncIterator[Caller]:
    async with httpx.AsyncClient(base_url=world.url, verify=False, trust_env=False) as http:
        yield Caller(http)


@pytest.fixture
def eventually() -> Callable[[Callable[[], Awaitable[object]], object], Awaitable[None]]:
    """Asks again until the answer is the expected one, five seconds at most."""

    async def poll(ask, expected) -> None:
        deadline = time.monotonic() + 5
        while (found := await ask()) != expected:
            assert time.monotonic() < deadline, f"still {found!r} instead of {expected!r}"
            await asyncio.sleep(0.01)

    return poll
