"""The two sides of E3: how their steps start, where their workers die, and how they end."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from surestep import State, Surestep, Verdict
from surestep.outcome import Outcome
from surestep.protocol import DECIDE
from surestep.testing import World
from surestep.testing.human import Human
from tests.steps import facts, tools
from tests.steps.processes import Process, Workers
from tests.waiting import eventually

from .plain import PlainStep

TOOL_SECONDS: Final = 10.0
PARKED_SECONDS: Final = 3.0
WITHIN: Final = 240.0  # seconds that a step may take to its end, on a busy machine


class Plain:
    """Plain Temporal. Its worker stops at a gate, and is killed from outside."""

    def __init__(self, arm: str, client: Client, world: World, workers: Workers) -> None:
        self.attempts = 1 if "one attempt" in arm else 0
        self.client, self.world, self.workers = client, world, workers

    async def gated(self, held: int) -> Process:
        return await self.workers.start(
            "-m", "tests.evidence.plain", tool_seconds=TOOL_SECONDS, GATE="1"
        )

    async def start(self, step_id: str) -> None:
        await self.client.start_workflow(
            PlainStep.run,
            args=[self.attempts, "parked" in step_id],
            id=step_id,
            task_queue=self.workers.queue,
        )

    async def killed(self, worker: Process, held: Sequence[str]) -> None:
        for one in held:
            await _says(worker, f"{one} is there")
        await worker.kill()

    async def park(self, steps: Sequence[str]) -> None:
        worker = await self.recover()
        await asyncio.gather(*(self.start(one) for one in steps))
        for one in steps:
            await eventually(lambda one=one: self._waits(one), within=WITHIN)
        await worker.kill()
        for one in steps:
            await self.client.get_workflow_handle(one).signal(PlainStep.approve)

    async def _waits(self, step_id: str) -> bool:
        """Its first task is done: the rest waits for the signal."""
        history = await self.client.get_workflow_handle(step_id).fetch_history()
        return any(event.HasField("workflow_task_completed_event_attributes")
                   for event in history.events)  # fmt: skip

    def recovering(self) -> "Recovering":
        return Recovering(self, None)

    async def recover(self) -> Process:
        return await self.workers.start("-m", "tests.evidence.plain", tool_seconds=TOOL_SECONDS)

    async def end(self, step_id: str) -> tuple[bool, bool]:
        try:
            async with asyncio.timeout(WITHIN):
                await self.client.get_workflow_handle(step_id).result()
        except WorkflowFailureError:
            return False, "parked" in step_id
        return True, "parked" in step_id


class Ours:
    """Surestep, with the trap of its own tests: the worker kills itself at the exact point."""

    def __init__(self, arm: str, client: Client, world: World, workers: Workers) -> None:
        self.tool = "blind" if "blind" in arm else "lookup"
        self.client, self.world, self.workers = client, world, workers
        self.surestep = Surestep(client, task_queue=workers.queue)

    async def gated(self, held: int) -> Process:
        return await self.workers.start(
            "-m", "tests.steps.trap", "SIGKILL", str(held), tool_seconds=TOOL_SECONDS
        )

    async def start(self, step_id: str) -> None:
        tool = tools.blind if "parked" in step_id else getattr(tools, self.tool)
        await self.surestep.start(step_id, tool(order="o-1", cents=2500))

    async def killed(self, worker: Process, held: Sequence[str]) -> None:
        await worker.left(within=WITHIN)

    async def park(self, steps: Sequence[str]) -> None:
        for one in steps:
            await self.world.fault(f"{one}/*", write=["reply_lost"])
        worker = await self.workers.start(tool_seconds=PARKED_SECONDS)
        await asyncio.gather(*(self.start(one) for one in steps))
        await facts.all_parked(self.surestep, steps, [State.UNKNOWN], within=WITHIN)
        versions = [await self._version(one) for one in steps]
        await worker.kill()
        said = {"verdict": Verdict.CONFIRM.value, "by": "the scripted human", "note": "it is there"}
        for one, version in zip(steps, versions, strict=True):
            handle = self.client.get_workflow_handle(one)
            await handle.signal(DECIDE, said | {"version": version})

    async def _version(self, step_id: str) -> int:
        """Of the record that a human sees."""

        async def seen() -> int:
            try:
                return (await self.surestep.handle(step_id).records())[0].version
            except RPCError:  # a machine that is too busy to answer
                return 0

        return await eventually(seen, within=WITHIN)

    def recovering(self) -> "Recovering":
        return Recovering(self, Human(self.surestep, self.world))

    async def recover(self) -> Process:
        return await self.workers.start(tool_seconds=TOOL_SECONDS)

    async def end(self, step_id: str) -> tuple[bool, bool]:
        outcome = await self.surestep.handle(step_id).outcome(within=timedelta(seconds=WITHIN))
        one: Outcome = outcome.actions[0]
        asked = any("a human is asked" in line.text for line in one.evidence)
        return one.state is State.CONFIRMED, asked


class Recovering:
    """Another worker, and whoever answers questions."""

    def __init__(self, side: Plain | Ours, human: Human | None) -> None:
        self._side, self._human = side, human

    async def __aenter__(self) -> None:
        self._worker = await self._side.recover()
        if self._human:
            await self._human.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        if self._human:
            await self._human.__aexit__(None, None, None)
        await self._worker.kill()


async def _says(worker: Process, words: str) -> None:
    async def said() -> bool:
        return words in worker.log

    await eventually(said, within=WITHIN)
