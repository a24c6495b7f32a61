"""One cell: one action under one contract, one style and one fault, until nothing can change."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from surestep import Outcome, State, StepOutcome, Surestep, Tool, Verdict
from surestep.outcome import outcome_of
from surestep.record import Record
from surestep.testing import World
from surestep.testing.human import Word, truthful
from surestep.testing.ledger import EffectRow, RequestRow

from .columns import Column
from .rows import Row
from .theory import Way, broken, way
from .tools import Style

SETTLES_WITHIN: Final = timedelta(seconds=110)
ASKED: Final = "a human is asked"
MARGIN: Final = 1.0  # seconds, for what the world does late


@dataclass(frozen=True)
class Cell:
    column: Column
    style: Style
    row: Row

    @property
    def name(self) -> str:
        return f"{self.column.title} / {self.style} / {self.row.name}"

    @property
    def broken(self) -> str | None:
        return broken(self.column, self.style, self.row)

    @property
    def way(self) -> Way | None:
        return way(self.column, self.style, self.row)

    @property
    def lands(self) -> float:
        return self.row.lands(self.column.works)


@dataclass
class Result:
    """What became of a cell; `outcome` None: it did not settle. `effects` are the ledger's."""

    cell: Cell
    step_id: str
    outcome: Outcome | None
    asked: bool
    effects: int
    requests: list[RequestRow]
    anomalies: tuple[str, ...] = ()
    unsettled: Outcome | None = None

    @property
    def state(self) -> State | None:
        return self.outcome.state if self.outcome else None

    @property
    def watched(self) -> bool:
        """Whether the ended action is looked at again: see R17."""
        column, unsaid = self.cell.column, self.state is State.NOT_FOUND
        return column.looks and (unsaid or not column.keyed)

    @property
    def told(self) -> str:
        """The evidence, a line each."""
        known = self.outcome or self.unsettled
        lines = known.evidence if known else ()
        return "\n".join(f"  {one.at:%H:%M:%S.%f} {one.text}" for one in lines)


class Knowing:
    """A truthful human who waits until nothing of an action can land any more.

    What two retries did not bring about is given up.
    """

    def __init__(self) -> None:
        self.cells: dict[str, Cell] = {}
        self._retries: dict[str, int] = {}

    def says(self, record: Record, effects: Sequence[EffectRow]) -> Word | None:
        step_id = record.action_id.rpartition("/")[0]
        cell, ended = self.cells[step_id], record.ended or record.planned_at
        if datetime.now(UTC) < ended + timedelta(seconds=cell.lands + MARGIN):
            return None
        word = truthful(record, effects)
        if word.verdict is Verdict.RETRY:
            tried = self._retries[step_id] = self._retries.get(step_id, 0) + 1
            if tried > 2:
                return Word(Verdict.ABANDON, word.note, accept_duplicate=word.accept_duplicate)
        return word


async def run(
    cell: Cell,
    step_id: str,
    tool: Tool,
    surestep: Surestep,
    world: World,
    started: Callable[[float], None],
) -> Result:
    """Submits the action and waits until it is settled and everything late has landed.

    `started` is told how many seconds the submission took.
    """
    first = ["honest"] if cell.column.looks_first else []
    looks = [*first, *cell.row.looks] if cell.row.looks else []
    await world.fault(f"{step_id}/*", write=cell.row.writes, lookup=looks)
    outcome: Outcome | None = None
    unsettled: Outcome | None = None
    try:
        begun = time.monotonic()
        await surestep.start(step_id, tool(order="o-1", cents=2500))
        started(time.monotonic() - begun)
        # `handle.outcome` looks at growing intervals, so as not to hold a call for days.
        waiting = surestep.client.get_workflow_handle(step_id, result_type=StepOutcome)
        async with asyncio.timeout(SETTLES_WITHIN.total_seconds()):
            (outcome,) = (await waiting.result()).actions
    except TimeoutError:
        records = await surestep.handle(step_id).records()
        unsettled = outcome_of(records[0]) if records else None
    requests = [one for one in await world.requests(f"{step_id}/*") if one.method == "POST"]
    writes = [one for one in requests if one.path.endswith("/effects")]
    landed = max((one.at for one in writes), default=datetime.now(UTC))
    landed += timedelta(seconds=cell.lands + MARGIN)
    await asyncio.sleep(max((landed - datetime.now(UTC)).total_seconds(), 0.0))
    return Result(
        cell,
        step_id,
        outcome,
        asked=outcome is not None and any(ASKED in line.text for line in outcome.evidence),
        effects=await world.count(f"{step_id}/*"),
        requests=writes,
        anomalies=tuple(one.kind.value for one in outcome.anomalies) if outcome else (),
        unsettled=unsettled,
    )
