"""The rows of the happy path and of what follows it. A row performs one thing under one id."""

from collections.abc import Sequence

from surestep.evidence import State
from surestep.protocol import WATCH_WORKFLOW

from .charging import Charge, charged
from .floor import on_the_floor
from .stage import Stage

CHARGE = Charge(order="order-7781", cents=2500)
TEN = 10
PARKS_WITHIN = 300.0


class Row:
    """`usual` is how many a second one may expect; a slice has so many that it takes its time."""

    def __init__(self, name: str, usual: float) -> None:
        self.name = name
        self.usual = usual

    async def prepare(self, stage: Stage, ids: Sequence[str], flight: int) -> None:
        """What must be so before the clock starts."""

    async def act(self, stage: Stage, step_id: str) -> None:
        raise NotImplementedError

    async def tidy(self, stage: Stage) -> None:
        """What would otherwise go on working while other rows are measured."""

    def keys(self, step_id: str) -> list[str]:
        """The keys that have one effect each afterwards."""
        return [f"{step_id}/charge"]


class Bare(Row):
    async def act(self, stage: Stage, step_id: str) -> None:
        await charged(f"{stage.world.url}/keyed", f"{step_id}/charge", CHARGE)


class OnTheFloor(Row):
    def __init__(self, name: str, usual: float, *, tuned: bool = False) -> None:
        super().__init__(name, usual)
        self._tuned = tuned

    async def act(self, stage: Stage, step_id: str) -> None:
        url = f"{stage.world.url}/keyed"
        client = stage.client if self._tuned else stage.plain
        await on_the_floor(client, url, step_id, CHARGE, tuned=self._tuned)


class OneAction(Row):
    """A step with one action of the tool of this name."""

    def __init__(self, name: str, usual: float, tool: str) -> None:
        super().__init__(name, usual)
        self._tool = tool

    async def act(self, stage: Stage, step_id: str) -> None:
        action = getattr(stage.kit, self._tool)(**CHARGE.model_dump())
        await _confirmed(stage, step_id, action.model_copy(update={"name": "charge"}))


class Settle(OneAction):
    """Ends with a watch, which looks again after a minute."""

    async def tidy(self, stage: Stage) -> None:
        query = f"WorkflowType = '{WATCH_WORKFLOW}' AND ExecutionStatus = 'Running'"
        async for one in stage.client.list_workflows(query):
            await stage.client.get_workflow_handle(one.id).terminate("the row is over")


class ParallelTen(Row):
    async def act(self, stage: Stage, step_id: str) -> None:
        await _confirmed(stage, step_id, *_several(stage, TEN), mode="parallel")

    def keys(self, step_id: str) -> list[str]:
        return [f"{step_id}/a{number}" for number in range(TEN)]


class Attach(Row):
    """The same step once more, after it has ended."""

    async def prepare(self, stage: Stage, ids: Sequence[str], flight: int) -> None:
        for step_id in ids:
            await self.act(stage, step_id)

    async def act(self, stage: Stage, step_id: str) -> None:
        await _confirmed(stage, step_id, stage.kit.keyed(**CHARGE.model_dump()))


class Decide(Row):
    """A person's word, by update, and the outcome that follows from it."""

    async def prepare(self, stage: Stage, ids: Sequence[str], flight: int) -> None:
        self._version = await park(stage, ids)

    async def act(self, stage: Stage, step_id: str) -> None:
        await confirm(stage, step_id, self._version)

    def keys(self, step_id: str) -> list[str]:
        return [f"{step_id}/blind"]


ROWS: tuple[Row, ...] = (
    Bare("bare HTTP call", 250),
    OnTheFloor("floor", 45),
    OnTheFloor("floor, tuned", 45, tuned=True),
    OneAction("keyed", 45, "keyed"),
    OneAction("look-up-able, looked at first", 38, "lookup"),
    ParallelTen("parallel step of ten", 8),
    Attach("attach to a finished step", 110),
    Settle("settle after a lost reply", 22, "lossy"),
    Decide("decision by update", 35),
)
BY_NAME = {row.name: row for row in ROWS}
FLOOR, TUNED, KEYED, PARALLEL = "floor", "floor, tuned", "keyed", "parallel step of ten"


async def park(stage: Stage, ids: Sequence[str]) -> int:
    """Steps that wait for a person, of one prefix; the version of their records."""
    for step_id in ids:
        await stage.surestep.start(step_id, stage.kit.blind(**CHARGE.model_dump()))
    common = ids[0].rpartition("/")[0]
    await stage.parked(f"{common}/", len(ids), PARKS_WITHIN)
    (record,) = await stage.surestep.handle(ids[0]).records()
    return record.version


async def confirm(stage: Stage, step_id: str, version: int) -> None:
    ruling = await stage.surestep.decide(step_id, "confirm", by="bench", version=version)
    assert ruling.taken, ruling
    outcome = await stage.surestep.handle(step_id).outcome()
    assert outcome.worst.state is State.CONFIRMED, outcome


def _several(stage: Stage, count: int) -> list:
    made = stage.kit.keyed(**CHARGE.model_dump())
    return [made.model_copy(update={"name": f"a{number}"}) for number in range(count)]


async def wide(stage: Stage, step_id: str, count: int) -> list[str]:
    """One parallel step of so many actions; their keys."""
    actions = _several(stage, count)
    await _confirmed(stage, step_id, *actions, mode="parallel")
    return [f"{step_id}/{one.name}" for one in actions]


async def _confirmed(
    stage: Stage, step_id: str, *actions: object, mode: str = "sequential"
) -> None:
    outcome = await stage.surestep.run(step_id, *actions, mode=mode)
    wrong = [one for one in outcome.actions if one.state is not State.CONFIRMED]
    assert not wrong, wrong
