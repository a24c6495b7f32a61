"""Telling people, beside everything else: no step waits for a message to be delivered."""

import asyncio
from collections.abc import Callable, Sequence

from temporalio import workflow

from surestep.notification.told import Told
from surestep.questions import NotifyOrder, Occasion
from surestep.record import Record
from surestep.ruling import verdicts
from surestep.shown import shown
from workflows import dispatch
from workflows.chronicle import Chronicle


class Heralds:
    """Messages on their way. `enabled`: this deployment has somebody to tell."""

    def __init__(self, delivered: Callable[[NotifyOrder, Told], None]) -> None:
        """`delivered` is called with what became of a message."""
        self._delivered = delivered
        self.enabled = False
        self._chronicle = Chronicle()
        self._under_way: dict[NotifyOrder, asyncio.Task[None]] = {}

    def tell(self, record: Record, occasion: Occasion, step_id: str | None = None) -> None:
        """Send one message about an action; `step_id`: of another workflow than this one."""
        record = shown(record)
        said = record.decision
        since = record.closed.at if record.closed else record.asked
        why = "; ".join(anomaly.why for anomaly in record.anomalies)
        order = NotifyOrder(
            id=f"{record.action_id}/{occasion}/{record.version}",
            occasion=occasion,
            step_id=step_id or workflow.info().workflow_id,
            run_id=workflow.info().run_id,
            action=record.name,
            tool=record.tool,
            state=record.state.value,
            recognised=record.recognised,
            why=why if occasion is Occasion.ANOMALY else record.asked_why,
            since=since or record.planned_at,
            verdicts=tuple(verdict.value for verdict in verdicts(record)),
            decided=f"{said.author} decided to {said.verdict}" if said else "",
        )
        self.send(order)

    def send(self, order: NotifyOrder) -> None:
        if self.enabled and order not in self._under_way:
            self._under_way[order] = asyncio.create_task(self._deliver(order))

    async def _deliver(self, order: NotifyOrder) -> None:
        told = await dispatch.notify(order)
        self._chronicle.delivered(order, told)
        self._delivered(order, told)

    def take_back(self) -> Sequence[NotifyOrder]:
        """Stop, and return what has not been delivered: the run after this one goes on with it."""
        left = [order for order, task in self._under_way.items() if not task.done()]
        for order in left:
            self._under_way[order].cancel()
        return left
