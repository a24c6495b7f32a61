"""Running activities so that every end is evidence. Nothing here retries (R3)."""

from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    TimeoutError,
    TimeoutType,
)

from surestep.consent import send_before
from surestep.evidence import Sending, Verification, unknown
from surestep.notification.told import Missed, Told
from surestep.protocol import (
    EXAMINE,
    EXAMINE_NOTICE,
    EXECUTE,
    FENCE,
    LOOK_FIRST_LIMIT,
    NOTIFY,
    PLAN,
    SENDING,
    VERIFY,
    FenceReport,
    LookOrder,
    Plan,
    PlanOrder,
    SendOrder,
    SendReport,
)
from surestep.questions import Examined, ExamineOrder, NoticeExamined, NoticeOrder, NotifyOrder
from surestep.record import Record

ONCE = RetryPolicy(maximum_attempts=1)

# A dead worker is noticed after this long; the worker beats three times as often. The first beat is
# the mark, so a look before the send must be quicker than this.
HEARTBEAT = timedelta(seconds=10)

# The activity ends by itself at its deadline; this is for the case that it cannot.
MARGIN = timedelta(seconds=5)

BY_HAND = "completed by hand, with something that is no report"

M = TypeVar("M", bound=BaseModel)


async def plan(order: PlanOrder) -> Plan:
    """Validate, normalise, snapshot. A local activity: recorded before anything is dispatched."""
    planned: Plan = await workflow.execute_local_activity(
        PLAN,
        order,
        result_type=Plan,
        start_to_close_timeout=timedelta(seconds=30),
        summary=f"plan {', '.join(action.name or action.tool for action in order.actions)}",
    )
    return planned


async def execute(
    record: Record, *, now: datetime, run_id: str, look_first: bool, room: int
) -> SendReport:
    """One attempt; whatever becomes of it, a report."""
    contract, before = record.contract, send_before(record)
    queue = min(contract.queue, before - now) if before else contract.queue
    order = SendOrder(
        key=record.key,
        tool=record.tool,
        arguments=record.arguments,
        attempt=record.attempts,
        run_id=run_id,
        timeout=contract.timeout.total_seconds(),
        room=room,
        look_first=look_first,
        before=record.before,
        receipt=record.subject,
    )
    look = timedelta(seconds=LOOK_FIRST_LIMIT if look_first else 0)
    longest = contract.timeout + look + MARGIN
    try:
        given = await workflow.execute_activity(
            EXECUTE,
            order,
            result_type=RawValue,
            schedule_to_start_timeout=queue,
            start_to_close_timeout=longest,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=ONCE,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=f"execute {record.name} · attempt {record.attempts}",
        )
    except ActivityError as error:
        return report_of(error)
    report = _read(SendReport, given)
    return report or SendReport(
        outcome=Sending.AMBIGUOUS, lost=True, why=f"the attempt was {BY_HAND}"
    )


def report_of(error: ActivityError) -> SendReport:
    """What the failure of an attempt proves. Only what is listed proves "not sent" (R5)."""
    match error.cause:
        case TimeoutError(type=TimeoutType.SCHEDULE_TO_START):
            return SendReport(outcome=Sending.NOT_SENT, why="no worker took it in time")
        case CancelledError(details=details) if "ACTIVITY_ID_NOT_STARTED" in details:
            return SendReport(outcome=Sending.NOT_SENT, why="cancelled before a worker took it")
        case TimeoutError(last_heartbeat_details=marks, type=kind):
            name = kind.name.lower() if kind else "time"
            if SENDING not in marks:
                # The mark is durable before the first byte, and refused once the attempt is over.
                why = f"the worker was lost before it sent anything ({name})"
                return SendReport(outcome=Sending.NOT_SENT, why=why)
            why = f"the worker was lost after it began to send ({name})"
            return SendReport(outcome=Sending.AMBIGUOUS, lost=True, why=why)
        case ApplicationError(type=kind):
            return SendReport(
                outcome=Sending.AMBIGUOUS, lost=True, why=f"the attempt failed with {kind}"
            )
        case cause:
            kind = type(cause).__name__
            return SendReport(
                outcome=Sending.AMBIGUOUS, lost=True, why=f"the attempt ended with {kind}"
            )


async def examine(order: ExamineOrder) -> Examined:
    """Who made a decision, and when it was received. A local activity: recorded first."""
    examined: Examined = await workflow.execute_local_activity(
        EXAMINE,
        order,
        result_type=Examined,
        start_to_close_timeout=timedelta(seconds=30),
        summary=f"examine {order.decision.verdict} of {order.tool}",
    )
    return examined


async def examine_notice(order: NoticeOrder) -> NoticeExamined:
    """Whether a notice counts. A local activity: recorded first."""
    examined: NoticeExamined = await workflow.execute_local_activity(
        EXAMINE_NOTICE,
        order,
        result_type=NoticeExamined,
        start_to_close_timeout=timedelta(seconds=30),
        summary=f"examine a notice about {order.tool}",
    )
    return examined


async def notify(order: NotifyOrder) -> Told:
    """Tell people. It is tried for a day; whoever is not reached then sees it in the lists."""
    try:
        given = await workflow.execute_activity(
            NOTIFY,
            order,
            result_type=RawValue,
            start_to_close_timeout=timedelta(minutes=5),
            schedule_to_close_timeout=timedelta(days=1),
            heartbeat_timeout=timedelta(minutes=1),
            retry_policy=RetryPolicy(maximum_interval=timedelta(minutes=10)),
            summary=f"tell people: {order.occasion} about {order.action}",
        )
    except ActivityError as error:
        return Told(missed=(Missed(target="everybody", why=str(error.cause)[:200]),))
    by_hand = Missed(target="everybody", why=f"the message was {BY_HAND}")
    return _read(Told, given) or Told(missed=(by_hand,))


async def verify(record: Record, *, room: int) -> Verification:
    """One look. A look that fails in any way is no information (R9)."""
    try:
        given = await workflow.execute_activity(
            VERIFY,
            look_order(record, room),
            result_type=RawValue,
            start_to_close_timeout=record.contract.timeout + MARGIN,
            retry_policy=ONCE,
            summary=f"verify {record.name} · look {record.looks.total + 1}",
        )
    except ActivityError as error:
        return unknown(f"the lookup did not end ({type(error.cause).__name__})")
    return _read(Verification, given) or unknown(f"the lookup was {BY_HAND}")


async def fence(record: Record, *, room: int) -> FenceReport:
    """Ask the receiver to refuse this key from now on."""
    try:
        given = await workflow.execute_activity(
            FENCE,
            look_order(record, room),
            result_type=RawValue,
            start_to_close_timeout=record.contract.timeout + MARGIN,
            retry_policy=ONCE,
            summary=f"fence {record.name}",
        )
    except ActivityError as error:
        return FenceReport(why=f"the fence call did not end ({type(error.cause).__name__})")
    return _read(FenceReport, given) or FenceReport(why=f"the fence call was {BY_HAND}")


def _read(model: type[M], given: object) -> M | None:
    """The report of an activity; None where an operator completed the activity with another value.

    A result that cannot be read would otherwise make the workflow task fail for ever.
    """
    if not isinstance(given, RawValue):  # completed without any result
        return None
    try:
        value = workflow.payload_converter().from_payload(given.payload)
        try:
            return model.model_validate(value)
        except ValidationError as error:
            return model.model_validate(_without_news(value, error))
    except Exception:
        return None


def _without_news(value: object, error: ValidationError) -> object:
    """The report without the fields that only a worker of a later version knows."""
    known = deepcopy(value)
    for wrong in error.errors(include_url=False, include_input=False):
        if wrong["type"] == "extra_forbidden":
            *path, field = wrong["loc"]
            place: Any = known
            for step in path:
                place = place[step]
            del place[field]
    return known


def look_order(record: Record, room: int) -> LookOrder:
    return LookOrder(
        key=record.key,
        tool=record.tool,
        arguments=record.arguments,
        attempt=record.attempts,
        timeout=record.contract.timeout.total_seconds(),
        room=room,
        before=record.before,
        receipt=record.accepted or record.subject,
    )
