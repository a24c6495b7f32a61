"""What is open now, counted in Temporal's visibility: the figures that no single workflow knows."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any, Final

from temporalio.client import Client, WorkflowExecution
from temporalio.common import MetricMeter
from temporalio.service import RPCError

from surestep import visibility
from surestep.evidence import State
from surestep.facts import AnomalyKind
from surestep.protocol import STEP_WORKFLOW
from surestep.telemetry import meters
from surestep.tool import Tools

EVERY: Final = timedelta(minutes=1)
"""A census is some eight calls; a cluster can allow a namespace thirty a second."""

DELAYED_AFTER: Final = timedelta(minutes=15)
"""So long a step may be neither settled nor asked about. Attempts back off to five minutes."""

RECENTLY: Final = timedelta(hours=1)
"""So long a step that was ended from outside in doubt is shown. Afterwards `anomalies` finds it."""

OPEN: Final = (State.PLANNED, State.SENT, State.ACCEPTED, State.UNKNOWN)
PAGE: Final = 1000
PAGES: Final = 20

RUNNING: Final = "ExecutionStatus='Running'"
ORPHANED: Final = (
    f"{visibility.STATE} IN ('sent', 'accepted', 'unknown') AND "
    "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed', 'Canceled')"
)
STUCK: Final = (
    "TemporalReportedProblems IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')"
)

logger = logging.getLogger("surestep.census")


class Census:
    """Sets the gauges. `tools`: whose figures are shown as zero where nothing of them is open."""

    def __init__(self, client: Client, meter: MetricMeter, tools: Tools) -> None:
        self._client = client
        self._meter = meter
        self._limits = {tool.name: tool.contract.overdue_after for tool in tools}
        self._seen: set[str] = set()

    async def keep(self, build_id: str | None = None) -> None:
        """Count, for as long as the worker runs."""
        build = build_id or ""
        self._set(meters.WORKER, 1, version=version("surestep"), build_id=build)
        while True:
            try:
                await self.take()
            except Exception as error:  # a worker works on without figures
                logger.warning("what is open could not be counted (%s)", type(error).__name__)
            await asyncio.sleep(EVERY.total_seconds())

    async def take(self) -> bool:
        """Count once. False: visibility did not answer, or not to these queries."""
        now = datetime.now(UTC)
        try:
            await self._count_steps(now)
            self._show_waiting([run async for run in self._waiting()], now)
        except RPCError as error:
            # The gauges stay as they were; that they are old is an alert of its own.
            logger.warning("what is open could not be counted (%s)", error.status.name)
            return False
        self._set(meters.CENSUS, time.time())
        return True

    async def _count_steps(self, now: datetime) -> None:
        of_steps = f"WorkflowType='{STEP_WORKFLOW}' AND {RUNNING}"
        for state in OPEN:
            count = await self._number(f"{visibility.STATE}='{state.value}' AND {of_steps}")
            self._set(meters.OPEN_STEPS, count, state=state.value)
        before = (now - DELAYED_AFTER).isoformat()
        # Until the first news a step has no state; it must not go on for long without any.
        delayed = (
            f"({visibility.STATE} IS NULL OR {visibility.STATE} IN ('planned', 'sent')) "
            f"AND {visibility.NEEDS_HUMAN}=false"
        )
        count = await self._number(f"{delayed} AND StartTime < '{before}' AND {of_steps}")
        self._set(meters.DELAYED_STEPS, count)
        after = (now - RECENTLY).isoformat()
        orphaned = f"{ORPHANED} AND CloseTime > '{after}' AND WorkflowType='{STEP_WORKFLOW}'"
        self._set(meters.ORPHANED_STEPS, await self._number(orphaned))
        self._set(meters.STUCK_STEPS, await self._number(f"{STUCK} AND {RUNNING}"))

    async def _number(self, query: str) -> int:
        return (await self._client.count_workflows(query)).count

    async def _waiting(self) -> AsyncIterator[WorkflowExecution]:
        """What waits for a person: the newest first, so with the oldest at the end."""
        limit = PAGE * PAGES
        async for run in self._client.list_workflows(
            visibility.WAITING, page_size=PAGE, limit=limit
        ):
            yield run

    def _show_waiting(self, waiting: list[WorkflowExecution], now: datetime) -> None:
        questions: Counter[str] = Counter()
        overdue: Counter[str] = Counter()
        anomalies: Counter[str] = Counter()
        oldest: dict[str, float] = {}
        oldest_unknown: dict[str, float] = {}
        for run in waiting:
            known = {pair.key.name: pair.value for pair in run.typed_search_attributes}
            anomalies.update(known.get(visibility.ANOMALY, ()))
            since = known.get(visibility.UNKNOWN_SINCE)
            if since is None:
                continue
            age = max((now - since).total_seconds(), 0.0)
            for tool in known.get(visibility.TOOL, ()):
                questions[tool] += 1
                overdue[tool] += self._is_overdue(tool, age)
                oldest[tool] = max(oldest.get(tool, 0.0), age)
                if known.get(visibility.STATE) == State.UNKNOWN.value:
                    oldest_unknown[tool] = max(oldest_unknown.get(tool, 0.0), age)
        self._seen |= {*self._limits, *questions}
        for tool in sorted(self._seen):
            self._set(meters.OPEN_QUESTIONS, questions[tool], tool=tool)
            self._set(meters.OVERDUE_QUESTIONS, overdue[tool], tool=tool)
            self._set(meters.OLDEST_QUESTION, oldest.get(tool, 0.0), tool=tool)
            self._set(meters.OLDEST_UNKNOWN, oldest_unknown.get(tool, 0.0), tool=tool)
        for tool, limit in self._limits.items():
            if limit is not None:
                self._set(meters.UNKNOWN_LIMIT, limit.total_seconds(), tool=tool)
        for kind in AnomalyKind:
            self._set(meters.OPEN_ANOMALIES, anomalies[kind.value], kind=kind.value)

    def _is_overdue(self, tool: str, age: float) -> bool:
        limit = self._limits.get(tool)
        return limit is not None and age > limit.total_seconds()

    def _set(self, name: str, value: float, **labels: Any) -> None:
        self._meter.create_gauge_float(name).set(value, labels)
