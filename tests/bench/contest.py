"""Row 5: others that promise something of the kind, each under its own recommended setting."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from surestep.testing.remote import RemoteWorld
from tests.postgresql import server as postgresql
from tests.waiting import eventually

from .contender import Contender, Peer, contending
from .load import Slice
from .meter import Meter
from .servers import running
from .size import Size
from .spread import Spread
from .stage import verdict

SURESTEP: Final = Peer("Surestep", "surestep_peer", "contract: in flight 5 s, visible at once")
PLAIN: Final = Peer("Temporal, plain", "temporal_peer", "default retries, 5 s for an attempt")
SQLITE: Final = Peer(
    "DBOS, SQLite", "dbos_peer", "workflow id = key, step may be retried", own=True
)
POSTGRESQL: Final = Peer(
    "DBOS, PostgreSQL", "dbos_peer", "workflow id = key, step may be retried", own=True
)
ONCE: Final = Peer("agent-once, SQLite", "once_peer", "verify asks the service by key", own=True)
ALL: Final = (SURESTEP, PLAIN, SQLITE, POSTGRESQL, ONCE)

FLIGHTS: Final = (1, 16)
SERVICES: Final = ("lookup", "keyed")
LATE: Final = 3.0
BLOWS: Final = {
    "reply lost": "reply_lost",
    "killed": "expect_kill",
    "lands late": f"late:{LATE:g}",
}
log = logging.getLogger("bench")


@dataclass(frozen=True)
class Corner:
    """A contender, and what its server has cost so far."""

    contender: Contender
    server_cpu: Callable[[], float]


async def contest(size: Size, folder: Path) -> dict[str, Any]:
    missing = [peer.name for peer in ALL if not peer.installed]
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(RemoteWorld.spawn(folder=folder / "world"))
        corners = await _corners(stack, folder)
        rates, wrong = await _rates(corners, world, size)
        told = await asyncio.gather(*(_blows(one, world) for one in corners))
    blows = [one for some in told for one in some]
    wrong += [
        f"Surestep, {one['blow']}, {one['service']}: {one['effects']} effects, said {one['said']}"
        for one in blows
        if one["peer"] == SURESTEP.name and not one["survived"]
    ]
    return {"rates": rates, "blows": blows, "not_installed": missing, "wrong": wrong}


async def _corners(stack: AsyncExitStack, folder: Path) -> list[Corner]:
    corners = []
    for peer in ALL:
        if not peer.installed:
            continue
        home = folder / peer.name.replace(", ", "-")
        home.mkdir()
        cost: Callable[[], float] = _nothing
        if peer in (SURESTEP, PLAIN):
            server = stack.enter_context(running(home / "server"))
            place, cost = server.address, server.meter.cpu
        elif peer is POSTGRESQL:
            # For tests it is quick; here it has to keep what it was told, as the others do.
            kept = {"fsync": "on", "shared_buffers": "128MB", "autovacuum": "on"}
            postgresql.SETTINGS.update(kept, max_connections="100")
            database = stack.enter_context(postgresql.primary())
            place = database.url("bench")
            pid = int((database.folder / "postmaster.pid").read_text().split()[0])
            cost = Meter(pid, family=True).cpu
        else:
            suffix = "sqlite:///" if peer is SQLITE else ""
            place = f"{suffix}{home / 'peer.sqlite'}"
        contender = await stack.enter_async_context(contending(peer, place, home / "log"))
        corners.append(Corner(contender, cost))
    return corners


def _nothing() -> float:
    return 0.0


async def _rates(
    corners: list[Corner], world: RemoteWorld, size: Size
) -> tuple[list[dict[str, Any]], list[str]]:
    """The keyed service, without any fault, in rounds."""
    readings: dict[tuple[str, int], list[Slice]] = {}
    wrong: list[str] = []
    for number in range(-1, size.peer_rounds):  # the first to warm up
        for flight in FLIGHTS:
            for place, corner in enumerate(corners if number % 2 else reversed(corners)):
                count = max(flight, size.peer_actions) if number >= 0 else 2
                name = corner.contender.peer.name
                prefix = f"rate/{name.replace(', ', '-')}/{number}/{flight}/{place}/"
                prefix = prefix.replace(" ", "-")
                reading = await _reading(corner, world.url, prefix, count, flight)
                counted: dict[str, int] = {}
                for effect in await world.effects(f"{prefix}*"):
                    counted[effect.key or ""] = counted.get(effect.key or "", 0) + 1
                wanted = {f"{prefix}{one}/charge": 1 for one in range(count)}
                wrong += verdict(f"{name} at {flight}", wanted, counted)
                if number >= 0:
                    readings.setdefault((name, flight), []).append(reading)
                    log.warning("%s at %d: %.1f/s", name, flight, reading.per_second)
    told = [
        {
            "peer": name,
            "flight": flight,
            "per_s": asdict(Spread.of([one.per_second for one in found])),
            "cpu_ms": asdict(Spread.of([one.cpu_ms for one in found])),
        }
        for (name, flight), found in readings.items()
    ]
    return told, wrong


async def _reading(corner: Corner, url: str, prefix: str, count: int, flight: int) -> Slice:
    before = corner.server_cpu(), corner.contender.cpu()
    answer = await corner.contender.order(
        do="run", url=f"{url}/keyed", prefix=prefix, count=count, flight=flight
    )
    after = corner.server_cpu(), corner.contender.cpu()
    return Slice(count, answer["seconds"], after[0] - before[0], after[1] - before[1], 0.0, 0.0)


async def _blows(corner: Corner, world: RemoteWorld) -> list[dict[str, Any]]:
    found = []
    for blow, fault in BLOWS.items():
        for service in SERVICES:
            name = corner.contender.peer.name.replace(", ", "-").replace(" ", "-")
            key = f"blow/{name}/{fault.partition(':')[0]}/{service}/charge"
            url = f"{world.url}/{service}"
            await world.fault(key, write=[fault])
            said = await (_killed if blow == "killed" else _asked_again)(corner, world, url, key)
            await asyncio.sleep(LATE + 0.5 if blow == "lands late" else 0)
            effects = await world.count(key)
            found.append(
                {
                    "peer": corner.contender.peer.name,
                    "blow": blow,
                    "service": service,
                    "effects": effects,
                    "said": said["said"],
                    "why": said.get("why", ""),
                    "survived": effects == 1 and said["said"] == "done",
                }
            )
    return found


async def _asked_again(corner: Corner, world: RemoteWorld, url: str, key: str) -> dict[str, Any]:
    """Whoever is told of an error asks once more with the same key, as every README says."""
    said = await corner.contender.order(do="one", url=url, key=key)
    if said["said"] == "error":
        said = await corner.contender.order(do="one", url=url, key=key)
    return said


async def _killed(corner: Corner, world: RemoteWorld, url: str, key: str) -> dict[str, Any]:
    """SIGKILL once the effect is there, which nobody was told of; then it starts, and is asked."""

    async def applied() -> bool:
        return await world.count(key) > 0

    await corner.contender.send(do="one", url=url, key=key)
    await eventually(applied, within=60)
    await corner.contender.kill()
    await world.release(key)
    await corner.contender.start()
    said: dict[str, Any] = {"said": "error"}
    for _ in range(8):  # some say for a while that it is under way
        said = await corner.contender.order(do="one", url=url, key=key)
        if said["said"] == "done":
            break
        await asyncio.sleep(1)
    return said
