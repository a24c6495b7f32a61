"""One scene on the stage: it acts as the agent does, and shows the evidence as it comes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Final

from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError

from surestep.demo.deadline import POLL_EVERY, Missed, until
from surestep.demo.stage import Stage
from surestep.demo.transcript import Transcript
from surestep.handle import StepHandle
from surestep.record import Record
from surestep.testing.ledger import EffectRow
from surestep.tool import Action

# The SDK drops a query that arrives just as a step ends; waiting longer than this is in vain.
ANSWERS_WITHIN: Final = timedelta(seconds=2)
SETTLES_WITHIN: Final = timedelta(seconds=25)


class Part:
    """What a scene needs: the stage, its own number, its step and its action."""

    def __init__(
        self,
        stage: Stage,
        transcript: Transcript,
        *,
        number: int,
        step_id: str,
        action: Action,
        patience: timedelta,
    ) -> None:
        self.stage = stage
        self.step_id = step_id
        self.action = action
        self.patience = patience  # with the human who is asked
        self.handle: StepHandle = stage.surestep.handle(step_id)
        self._transcript = transcript
        self._number = number
        self._shown: dict[int, int] = {}  # line to count

    def aside(self, text: str, style: str = "italic") -> None:
        self._transcript.aside(self._number, text, style)

    async def call(self, call_id: str, action: Action | None = None) -> None:
        """What an agent does when its model calls the tool: the step id comes from the intent."""
        await self.stage.surestep.start(
            self.step_id, action or self.action, run="demo", label=f"tool call {call_id}"
        )

    async def record(self) -> Record | None:
        """What is known about the action; None before it is planned, or where no answer comes."""
        try:
            async with asyncio.timeout(ANSWERS_WITHIN.total_seconds()):
                records = await self.handle.records()
        except (RPCError, WorkflowQueryFailedError, TimeoutError):
            return None
        return records[0] if records else None

    async def settled(self) -> Record:
        """Wait for the outcome, whoever brings it. Raises StepPending."""
        await self.handle.outcome(within=SETTLES_WITHIN)
        record = await until("the record of the step", self.record, within=SETTLES_WITHIN)
        self._show(record)
        return record

    async def known(self) -> Record | None:
        """The record in the end, also of a scene that went wrong."""
        try:
            return await until("the record of the step", self.record, within=ANSWERS_WITHIN * 2)
        except Missed:
            return None

    async def asked(self) -> Record:
        """Wait until a human is asked."""

        async def question() -> Record | None:
            record = await self.record()
            return record if record and (record.asked or record.closed) else None

        record = await until("a human is asked", question, within=SETTLES_WITHIN)
        self._show(record)
        return record

    async def landed(self, after: timedelta) -> None:
        """Wait until the first request, held up on its way, has reached the service.

        Time is the only sign: a repeat under a known key leaves no trace in the ledger.
        """
        (first, *_) = await self.stage.world.requests(f"{self.step_id}/*")

        async def arrived() -> bool:
            return datetime.now(first.at.tzinfo) > first.at + after + POLL_EVERY

        await until("the late request arrives", arrived, within=after + SETTLES_WITHIN)

    async def effects(self) -> list[EffectRow]:
        """What the ledger holds for this step, under any of its keys."""
        return await self.stage.world.effects(f"{self.step_id}/*")

    async def writes(self) -> int:
        """How many writes the service has received for this step."""
        requests = await self.stage.world.requests(f"{self.step_id}/*")
        return sum(request.method == "POST" for request in requests)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Show the evidence while the block runs, and what is left of it afterwards."""
        over = asyncio.Event()
        watching = asyncio.create_task(self._watch(over))
        try:
            yield
            over.set()
            await watching
        finally:
            watching.cancel()

    async def _watch(self, over: asyncio.Event) -> None:
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), POLL_EVERY.total_seconds())
            self._show(await self.record())

    def _show(self, record: Record | None) -> None:
        """What is new. The answers of two queries may come in the wrong order."""
        if record is None:
            return
        for position, line in enumerate(record.log):
            if line.count > self._shown.get(position, 0):
                self._shown[position] = line.count
                times = f" ({line.count} times)" if line.count > 1 else ""
                after = (line.until or line.at) - record.planned_at
                self._transcript.evidence(self._number, after, line.text + times)
