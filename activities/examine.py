"""`examine`: who made a decision, and when it was received; and whether a notice counts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from pydantic import ValidationError
from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.authority import Authority
from surestep.decision import Decision
from surestep.outage import OUTAGE
from surestep.protocol import DECIDE, EXAMINE, EXAMINE_NOTICE
from surestep.questions import Examined, ExamineOrder, NoticeExamined, NoticeOrder

# One page, and so one call, however long the history is. Whatever lies further back has been
# buried by hundreds of other messages, and counts as received when it is examined.
NEWEST_EVENTS: Final = 250

READ_LIMIT: Final = 1000  # payloads whose meaning is remembered


class Examiner:
    """Runs as a local activity: its answer is in the history before the decision is applied."""

    def __init__(self, authority: Authority | None, client: Client) -> None:
        self._authority = authority
        self._client = client
        self._read: dict[bytes, Decision | None] = {}  # a flood says the same over and over

    @activity.defn(name=EXAMINE)
    async def examine(self, order: ExamineOrder) -> Examined:
        """The answer. Without an authority, everybody may decide. Raises RPCError in an outage."""
        now = at = max(datetime.now(UTC), order.now)
        try:
            if order.by_signal:
                events = await self._newest_events()
                # The server's clock counts where it is ahead: an answer comes before no question.
                now = max([now, *map(_time, events[:1])])
                at = await self._received(order.decision, events) or now
            else:
                at = now = max(now, await self._task_began() or now)
        except RPCError as error:
            if error.status in OUTAGE:
                raise  # Temporal asks again; an answer that came in time must not pass for late
            activity.logger.warning("when a decision was received is not known: %r", error)
        if self._authority is None:
            return Examined(at=at, now=now)
        return self._authority.examine(order, at=at, now=now)

    @activity.defn(name=EXAMINE_NOTICE)
    async def examine_notice(self, order: NoticeOrder) -> NoticeExamined:
        """Whether a notice counts. Without an authority, every one does."""
        objection = self._authority.object_to(order) if self._authority else None
        return NoticeExamined(now=max(datetime.now(UTC), order.now), objection=objection)

    async def _newest_events(self) -> Sequence[HistoryEvent]:
        """The run's newest events, the last first."""
        info = activity.info()
        run = WorkflowExecution(
            workflow_id=info.workflow_id or "", run_id=info.workflow_run_id or ""
        )
        request = GetWorkflowExecutionHistoryReverseRequest(
            namespace=self._client.namespace, execution=run, maximum_page_size=NEWEST_EVENTS
        )
        try:
            call = self._client.workflow_service.get_workflow_execution_history_reverse
            return (await call(request)).history.events
        except RPCError as error:
            if error.status is not RPCStatusCode.UNIMPLEMENTED:  # the time-skipping test server
                raise
        handle = self._client.get_workflow_handle(run.workflow_id, run_id=run.run_id)
        return (await handle.fetch_history()).events[::-1]

    async def _task_began(self) -> datetime | None:
        """When the present workflow task began, by the server's clock."""
        info = activity.info()
        handle = self._client.get_workflow_handle(
            info.workflow_id or "", run_id=info.workflow_run_id
        )
        task = (await handle.describe()).raw_description.pending_workflow_task
        return task.started_time.ToDatetime(UTC) if task.HasField("started_time") else None

    async def _received(
        self, decision: Decision, events: Sequence[HistoryEvent]
    ) -> datetime | None:
        """When the server received the signal with this decision; None: it is not found.

        The same decision can be there more than once. Those of one workflow task (a double click
        while no worker was up) arrive together, and the first of them tells when it was said. One
        of an earlier task was examined there: today's signal is not as old as yesterday's.
        """
        found = None
        for event in events:
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED and found:
                break
            if await self._holds(event, decision):
                found = _time(event)
        return found

    async def _holds(self, event: HistoryEvent, decision: Decision) -> bool:
        signal = event.workflow_execution_signaled_event_attributes
        if signal.signal_name != DECIDE or len(signal.input.payloads) != 1:
            return False
        (payload,) = signal.input.payloads
        said = payload.SerializeToString(deterministic=True)
        try:
            if said not in self._read:
                (given,) = await self._client.data_converter.decode([payload])
                if len(self._read) >= READ_LIMIT:
                    self._read.clear()
                self._read[said] = _decision(given)
            return self._read[said] == decision
        except Exception:  # a payload can be anything, and a codec can fail; not remembered
            return False


def _decision(given: object) -> Decision | None:
    """None: it is no decision."""
    try:
        if isinstance(given, str):
            return Decision.model_validate_json(given)
        return Decision.model_validate(given)
    except ValidationError:
        return None


def _time(event: HistoryEvent) -> datetime:
    return event.event_time.ToDatetime(UTC)
