"""What a test asks of a step and of the world, and how it waits for it."""

import asyncio
import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from temporalio.api.sdk.v1 import WorkflowMetadata

from surestep import Surestep
from surestep.outcome import Outcome, StepOutcome
from surestep.record import Record
from surestep.testing import World
from surestep.testing.ledger import RequestRow
from surestep.visibility import STATE
from tests.waiting import eventually


async def record(surestep: Surestep, step_id: str, name: str | None = None) -> Record | None:
    """The record of one action, or of the only one; None as long as there is none."""
    records = await surestep.handle(step_id).records()
    return next((one for one in records if name in (None, one.name)), None)


async def parked(surestep: Surestep, step_id: str, *, within: float = 20) -> Record:
    """The record, once a human is asked about it."""

    async def asked() -> Record | None:
        now = await record(surestep, step_id)
        assert now is None or now.closed is None, f"it ended {now.closed}\n{told(now)}"
        return now if now and now.asked else None

    return await eventually(asked, within=within)


async def looked(surestep: Surestep, step_id: str, *, times: int, within: float = 20) -> Record:
    """The record, once the service was looked at so many times."""

    async def enough() -> Record | None:
        now = await record(surestep, step_id)
        return now if now and now.looks.total >= times else None

    return await eventually(enough, within=within)


async def all_parked(
    surestep: Surestep, step_ids: Iterable[str], states: Iterable[str], *, within: float = 30
) -> None:
    """Waits until every step is in one of the states; one list call tells of all of them."""
    wanted = set(step_ids)
    any_of = ", ".join(f"'{state}'" for state in states)

    async def are_there() -> bool:
        found = await surestep.steps(f"{STATE} IN ({any_of}) AND ExecutionStatus = 'Running'")
        missing = wanted - {one.step_id for one in found}
        await asyncio.sleep(0.2 if missing else 0)
        return not missing

    if wanted:
        await eventually(are_there, within=within)


async def posts(world: World, key: str) -> list[RequestRow]:
    return [one for one in await world.requests(key) if one.method == "POST"]


async def arrived(world: World, key: str, *, method: str = "POST", within: float = 20) -> None:
    """Waits until the service has received a request under the key."""

    async def received() -> bool:
        return any(one.method == method for one in await world.requests(key))

    await eventually(received, within=within)


async def applied(world: World, key: str, *, within: float = 20) -> None:
    """Waits until the effect exists."""
    await eventually(lambda: world.count(key), within=within)


async def landed(world: World, keys: str, *, longest: timedelta) -> None:
    """Waits until no request can commit any more: `longest` after the last one was received."""

    async def over() -> bool:
        last = max((one.at for one in await posts(world, keys)), default=None)
        await asyncio.sleep(0.05)
        return last is None or datetime.now(UTC) > last + longest

    await eventually(over, within=longest.total_seconds() + 20)


async def details(surestep: Surestep, step_id: str) -> str:
    """What the Web UI shows as the step's current details, as a reader sees it."""
    handle = surestep.client.get_workflow_handle(step_id)
    metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    return re.sub(r"\\(.)", r"\1", str(metadata.current_details))


def told(known: Record | Outcome | StepOutcome) -> str:
    """The evidence, one line under the other."""
    lines = known.log if isinstance(known, Record) else known.evidence
    return "\n".join(line.text for line in lines)


class Stopwatch:
    """Seconds since it was made, for tests that bound how long a thing takes."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._since
