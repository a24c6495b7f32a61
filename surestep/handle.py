"""The handle of one step: wait for it, look at it, find out what was submitted."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from surestep import errors, visibility
from surestep.encryption.errors import WorkerCannotAnswer
from surestep.errors import StepFailed, SurestepError
from surestep.outage import IN_TIME, OUTAGE, Outage
from surestep.outcome import StepOutcome
from surestep.protocol import NOTHING_SENT, RECORDS, STEP_WORKFLOW, StepInput
from surestep.record import Record

# A namespace allows some 1,200 callers that wait on results; whoever waits long looks instead.
PATIENT = timedelta(seconds=10)
SHORTEST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=30)

# A query that meets the end of a step can be lost by the worker; asked again, it is answered.
QUERY_WAITS = (timedelta(seconds=2), timedelta(seconds=5), timedelta(seconds=10))

# The query met a workflow task, or a renewal of the history.
_ASK_AGAIN = (*OUTAGE, RPCStatusCode.FAILED_PRECONDITION)


class StepHandle:
    """One step by its id; the newest run of it."""

    def __init__(self, client: Client, step_id: str, ui_url: str | None = None) -> None:
        self.client = client
        self.step_id = step_id
        self._ui_url = ui_url
        self._seen = "unsettled"

    @property
    def url(self) -> str | None:
        """The step's page in the Web UI, where its address is known."""
        from surestep.connection import workflow_url

        if self._ui_url is None:
            return None
        return workflow_url(self._ui_url, self.client.namespace, self.step_id)

    async def outcome(self, *, within: timedelta | None = None) -> StepOutcome:
        """Wait until the step is settled. Raises StepPending after `within`, and StepFailed.

        An outage of the server is sat out, and told of once by a warning.
        """
        deadline = None if within is None else time.monotonic() + within.total_seconds()
        outage = Outage(self.client, self._waited_for())
        wait = _seconds(PATIENT, deadline)
        while True:
            try:
                async with asyncio.timeout(wait):
                    return await self._result()
            except TimeoutError:
                pass
            except StepFailed:
                if await self._looks_closed(outage, deadline):
                    raise  # otherwise it was reset, and the new run goes on
            except RPCError as error:
                outage.met(error)
            await self._until_closed(outage, deadline)
            # Its result is there at once, unless it was reset meanwhile.
            wait = max(_seconds(PATIENT, deadline), SHORTEST_PAUSE.total_seconds())

    def _waited_for(self) -> str:
        return (
            f"Step {self.step_id}, waited for since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, is "
            "kept and goes on once the server is back; there is nothing to submit again"
        )

    async def _until_closed(self, outage: Outage, deadline: float | None) -> None:
        pause = SHORTEST_PAUSE
        while not await self._looks_closed(outage, deadline):
            if deadline is not None and time.monotonic() >= deadline:
                raise StepPending(self, self._seen, outage.last)
            await asyncio.sleep(_seconds(pause, deadline))
            pause = SHORTEST_PAUSE if outage.last else min(pause * 1.5, LONGEST_PAUSE)

    async def _result(self) -> StepOutcome:
        handle = self.client.get_workflow_handle(self.step_id, result_type=StepOutcome)
        try:
            outcome: StepOutcome = await handle.result()
            return outcome
        except WorkflowFailureError as error:
            raise self._failure(error.cause) from error

    def _failure(self, cause: BaseException | None) -> SurestepError:
        if isinstance(cause, ApplicationError) and cause.type in NOTHING_SENT:
            kind: type[SurestepError] = getattr(errors, cause.type)
            return kind(cause.message)
        return StepFailed(
            f"step {self.step_id!r} ended without an outcome ({type(cause).__name__}: {cause}). "
            "What it sent is not known. Submitting the same step again is safe: the new run "
            "finds out before it sends."
        )

    async def _looks_closed(self, outage: Outage, deadline: float | None) -> bool:
        """One look; in an outage it is cut off soon after the deadline."""
        limit = None if deadline is None else max(deadline - time.monotonic(), 1.0)
        try:
            async with asyncio.timeout(limit):
                now = await self.describe()
        except TimeoutError:
            outage.begins(IN_TIME)
            return False
        except RPCError as error:
            outage.met(error)
            return False
        outage.over()
        self._seen = _state(now)
        return now.status is not WorkflowExecutionStatus.RUNNING

    async def describe(self) -> WorkflowExecutionDescription:
        """Temporal's own description of the newest run."""
        return await self.client.get_workflow_handle(self.step_id).describe()

    async def is_open(self) -> bool:
        """Whether the newest run goes on."""
        return (await self.describe()).status is WorkflowExecutionStatus.RUNNING

    async def exists(self) -> bool:
        """Whether Temporal knows a step of this id."""
        try:
            found = await self.describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND and "Namespace" not in error.message:
                return False
            raise
        return found.workflow_type == STEP_WORKFLOW

    async def state(self) -> str:
        """The step's state from its search attributes; `unsettled` where there are none."""
        return _state(await self.describe())

    async def records(self) -> list[Record]:
        """Everything that is known about the step's actions. Needs a worker.

        Raises RPCError where none answers in time, and WorkerCannotAnswer where the one that was
        asked lacks a key.
        """
        handle = self.client.get_workflow_handle(self.step_id)
        last = len(QUERY_WAITS)
        for number, wait in enumerate(QUERY_WAITS, start=1):
            try:
                records: list[Record] = await handle.query(
                    RECORDS, result_type=list[Record], rpc_timeout=wait
                )
                return records
            except WorkflowQueryFailedError as error:  # before it reached our handler
                raise WorkerCannotAnswer(f"a worker could not read the step: {error}") from error
            except RPCError as error:
                if number == last or error.status not in _ASK_AGAIN:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def submitted(self, run_id: str | None = None) -> StepInput:
        """The input of a run, the newest by default, from its history."""
        handle = self.client.get_workflow_handle(self.step_id, run_id=run_id)
        async for event in handle.fetch_history_events(page_size=1):
            started = event.workflow_execution_started_event_attributes
            (step,) = await self.client.data_converter.decode(started.input.payloads, [StepInput])
            return step  # type: ignore[no-any-return]
        raise StepFailed(f"step {self.step_id!r} has no history")

    async def began(self, run: WorkflowExecution) -> datetime | None:
        """When the step that this run belongs to can first have sent; None: not known."""
        step = await self.submitted(run.run_id)
        if step.records:
            return min(record.planned_at for record in step.records)
        return step.earlier.since if step.earlier else run.start_time

    async def sent_nothing(
        self, status: WorkflowExecutionStatus | None, run_id: str | None = None
    ) -> bool:
        """Whether a run, the newest by default, ended because its input could not be used."""
        return await self.why_nothing_was_sent(status, run_id) is not None

    async def why_nothing_was_sent(
        self, status: WorkflowExecutionStatus | None, run_id: str | None = None
    ) -> str | None:
        """Why the input of a run, the newest by default, could not be used; None: it was used."""
        if status is not WorkflowExecutionStatus.FAILED:
            return None
        try:
            await self.client.get_workflow_handle(self.step_id, run_id=run_id).result()
        except WorkflowFailureError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError) and cause.type in NOTHING_SENT:
                return cause.message
        return None

    async def last_that_may_have_sent(self) -> WorkflowExecution | None:
        """The newest run that did not end for its input, as far as retention remembers."""
        runs = [run async for run in self.client.list_workflows(f"WorkflowId = '{self.step_id}'")]
        for run in sorted(runs, key=lambda run: run.start_time, reverse=True):
            if not await self.sent_nothing(run.status, run.run_id):
                return run
        return None


class StepPending(SurestepError):
    """The step is not settled yet. Wait on `handle`; do not submit the action again.

    `state`: as it was last seen; `silence`: the server does not answer, in a sentence.
    """

    def __init__(self, handle: StepHandle, state: str, silence: str | None = None) -> None:
        seen = (
            f"was {state} when it was last seen, and {silence}" if silence else f"is still {state}"
        )
        super().__init__(f"step {handle.step_id!r} {seen}; do not repeat it, wait on the handle")
        self.handle = handle
        self.state = state
        self.silence = silence


def _state(described: WorkflowExecutionDescription) -> str:
    known = {pair.key.name: pair.value for pair in described.typed_search_attributes}
    return str(known.get(visibility.STATE, "unsettled"))


def _seconds(pause: timedelta, deadline: float | None) -> float:
    """The pause, or what is left of it until the deadline."""
    seconds = pause.total_seconds()
    return seconds if deadline is None else min(seconds, max(deadline - time.monotonic(), 0.0))
