"""A run: a server, a world, a fleet and a human; the plan is carried out, and all is settled."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from surestep import Outcome, StepOutcome, Surestep
from surestep.errors import CannotConnect, SurestepError
from surestep.identity import watched_step
from surestep.outcome import outcome_of
from surestep.protocol import WATCH_WORKFLOW
from surestep.testing import RemoteWorld
from surestep.testing.human import Human
from tests.chaos.case import Case
from tests.chaos.fleet import Fleet, insistently
from tests.chaos.human import Knowing
from tests.chaos.kinds import TOOLS
from tests.chaos.plan import FREEZES, SERVER, Blow, Plan, PlannedBlow, PlannedStep
from tests.chaos.report import Ended
from tests.steps.server import Server

QUEUE: Final = "chaos"
SETTLES_WITHIN: Final = timedelta(seconds=180)
SAYS_EVERY: Final = 60.0
AGAIN: Final = 0.3  # seconds
AT_ONCE: Final = 120  # steps; a machine that is slow starts the next ones later
LOOKS_EVERY: Final = timedelta(seconds=1)

Said = Callable[[str], None]


async def run(plan: Plan, folder: Path, said: Said = lambda _: None) -> Ended:
    """Carries the plan out, waits until everything is settled, and gathers what became of it."""
    async with AsyncExitStack() as stack:
        (folder / "temporal").mkdir(parents=True)
        server = Server(folder / "temporal")
        await server.start()
        stack.push_async_callback(server.end)
        world = await stack.enter_async_context(RemoteWorld.spawn(folder=folder / "world"))
        fleet = Fleet(server, world, folder, QUEUE)
        await fleet.start(plan.workers, stack)
        run = Run(plan, await server.client(), world, fleet, said)
        async with Human(run.surestep, world, run.knowing.says, every=LOOKS_EVERY):
            await run.storm()
            await run.settle()
        return Ended(plan.seed, await run.cases(), fleet.struck)


class Run:
    """One plan being carried out."""

    def __init__(
        self, plan: Plan, client: Client, world: RemoteWorld, fleet: Fleet, said: Said
    ) -> None:
        self._plan, self._world, self._fleet, self._said = plan, world, fleet, said
        self.surestep = Surestep(client, task_queue=QUEUE)
        actions = {f"{step.step_id}/{one.name}": one for step in plan.steps for one in step.actions}
        self.knowing = Knowing(fleet, actions)
        self._started: dict[str, datetime] = {}
        self._outcomes: dict[str, StepOutcome] = {}
        self._failures: dict[str, str] = {}
        self._steps: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._begun = 0.0

    async def storm(self) -> None:
        """Starts and strikes as planned; returns when the last blow is over."""
        self._begun = asyncio.get_running_loop().time()
        self._steps = {
            step.step_id: asyncio.create_task(self._perform(step)) for step in self._plan.steps
        }
        lanes: dict[object, list[PlannedBlow]] = {}
        for one in self._plan.blows:
            lane = "server" if one.blow in SERVER else one.worker
            lanes.setdefault(lane, []).append(one)
        saying = asyncio.create_task(self._say_now_and_then())
        try:
            async with asyncio.TaskGroup() as group:
                for blows in lanes.values():
                    group.create_task(self._strike(blows))
                group.create_task(self._at(self._plan.seconds))
        finally:
            saying.cancel()

    async def settle(self) -> None:
        """Everything is well again. Waits until every step has ended, or for long enough."""
        self._said(f"{self._clock()} everything heals; {self._state()}")
        for step_id in self._open():
            await insistently(self._world.fault, f"{step_id}/*", write=[], lookup=[])
            for action in next(s for s in self._plan.steps if s.step_id == step_id).actions:
                key = f"{step_id}/{action.name}"
                await insistently(self._world.fault, key, write=[], lookup=[])
        await asyncio.wait(self._steps.values(), timeout=SETTLES_WITHIN.total_seconds())
        self._said(f"{self._clock()} {self._state()}")
        for task in self._steps.values():
            if task.done():
                task.result()
            task.cancel()
        await asyncio.gather(*self._steps.values(), return_exceptions=True)

    async def cases(self) -> list[Case]:
        found = []
        effects = await insistently(self._world.effects)
        requests = await insistently(self._world.requests)
        alarms = await self._alarms()
        for step in self._plan.steps:
            known = await self._known(step.step_id)
            ids = [f"{step.step_id}/{one.name}" for one in step.actions]
            earlier = {two: one for one, two in pairwise(ids)}
            for action, key in zip(step.actions, ids, strict=True):
                found.append(
                    Case(
                        key,
                        action,
                        self._started.get(step.step_id, datetime.now(UTC)),
                        known.get(action.name),
                        settled=step.step_id in self._outcomes,
                        effects=[one for one in effects if _is_of(key, one.key)],
                        requests=[one for one in requests if _is_of(key, one.key)],
                        questions=frozenset(self.knowing.asked.get(key, ())),
                        before=earlier.get(key) if step.mode == "sequential" else None,
                        why=self._failures.get(step.step_id, ""),
                        alarm=alarms.get(step.step_id, "") if key == ids[0] else "",
                    )
                )
        return found

    async def _alarms(self) -> dict[str, str]:
        """What the watches of ended actions say, by step: nothing, where all is as it was told."""
        waiting = [one for one in await self.surestep.unresolved() if one.watch_id]
        found = {one.step_id: "its watch tells of an anomaly" for one in waiting}
        query = f"WorkflowType = '{WATCH_WORKFLOW}' AND ExecutionStatus = 'Failed'"
        async for watch in self.surestep.client.list_workflows(query):
            found[watched_step(watch.id)] = "its watch failed"
        return found

    async def _known(self, step_id: str) -> dict[str, Outcome]:
        if step_id in self._outcomes:
            return {one.name: one for one in self._outcomes[step_id].actions}
        with suppress(RPCError):
            records = await self.surestep.handle(step_id).records()
            return {one.name: outcome_of(one) for one in records}
        return {}

    async def _perform(self, step: PlannedStep) -> None:
        await self._at(step.at)
        async with self._places:
            await self._submit(step)

    async def _submit(self, step: PlannedStep) -> None:
        for one in step.actions:
            if one.writes or one.looks:
                key = f"{step.step_id}/{one.name}"
                await insistently(self._world.fault, key, write=one.writes, lookup=one.looks)
        self._started[step.step_id] = datetime.now(UTC)
        actions = [
            TOOLS[one.kind, one.style](order=step.step_id, cents=2500).named(one.name)
            for one in step.actions
        ]
        waiting = self.surestep.client.get_workflow_handle(step.step_id, result_type=StepOutcome)
        try:
            await _again(lambda: self.surestep.start(step.step_id, *actions, mode=step.mode))
            self._outcomes[step.step_id] = await _again(waiting.result)
        except (SurestepError, WorkflowFailureError) as error:
            why = error.cause if isinstance(error, WorkflowFailureError) else error
            self._failures[step.step_id] = f"no outcome: {type(why).__name__}: {why}"

    async def _strike(self, blows: list[PlannedBlow]) -> None:
        for one in blows:
            await self._at(one.at)
            await self._fleet.suffer(one)

    async def _at(self, seconds: float) -> None:
        await asyncio.sleep(self._begun + seconds - asyncio.get_running_loop().time())

    async def _say_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SAYS_EVERY)
            fell = [one.planned.blow for one in self._fleet.struck]
            kills, freezes = fell.count(Blow.KILL), sum(one in FREEZES for one in fell)
            servers = sum(one in SERVER for one in fell)
            self._said(
                f"{self._clock()} {self._state()}; {kills} kills, {freezes} freezes, "
                f"{servers} server restarts"
            )

    def _open(self) -> list[str]:
        ended = self._outcomes.keys() | self._failures.keys()
        return [step_id for step_id in self._started if step_id not in ended]

    def _clock(self) -> str:
        minutes, seconds = divmod(int(asyncio.get_running_loop().time() - self._begun), 60)
        return f"{minutes}:{seconds:02}"

    def _state(self) -> str:
        count = len(self._started)
        asked = len(self.knowing.asked)
        return f"{count} steps started, {len(self._open())} open, {asked} actions asked about"


async def _again(call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """As an agent does whose server went away: the same call once more."""
    while True:
        try:
            return await call()
        except (RPCError, CannotConnect):
            await asyncio.sleep(AGAIN)


def _is_of(key: str, given: str | None) -> bool:
    """Whether a key is the action's, in any generation."""
    return given is not None and given.partition("~")[0] == key
