"""`execute`: one attempt of one action, and whatever becomes of it, a report."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from temporalio import activity

from activities.bounds import bounded, log_failure, said
from activities.handover import hand_over
from activities.look import cut_off_by, look
from activities.mark import Beats, leave_mark
from activities.repeat import refuse_repeats
from activities.shield import pressed, undeterred
from surestep.errors import Ambiguous, NotSent, Refused
from surestep.evidence import Finding, Receipt, Sending, Verification
from surestep.protocol import EXECUTE, LOOK_FIRST_LIMIT, SendOrder, SendReport
from surestep.tool import Accepted, Call, Tool, Tools
from surestep.vault import Ready, SecretSource, readied


class Executor:
    """Sends. Nothing else in Surestep does."""

    def __init__(
        self,
        tools: Tools,
        signing_key: Ed25519PrivateKey | None = None,
        secrets: SecretSource | None = None,
    ) -> None:
        """`signing_key`: for what must be told by a notice where notices must be signed."""
        self._tools = tools
        self._secrets = secrets
        self._signing_key = signing_key

    @activity.defn(name=EXECUTE)
    async def execute(self, order: SendOrder) -> SendReport:
        """One attempt. It raises nothing: every end, also a cancellation, is a report."""
        before: Verification | None = None
        ready = Ready()
        try:
            refuse_repeats(order)
            tool, call = self._tools[order.tool], _call(order)
            ready = await readied(tool, order.arguments, self._secrets)
            if order.look_first:
                quick = order.model_copy(update={"timeout": LOOK_FIRST_LIMIT})
                before = await look(tool, ready, call, quick)
                if before.trace or before.finding not in (Finding.NOT_FOUND, Finding.UNKNOWN):
                    return _report(NotSent("a look before the send found it"), before)
            call, over_at = _call(order, before=before), _now() + order.timeout
            await leave_mark()
        except Ambiguous as error:  # an earlier hand-out of the attempt may still be under way
            return _report(error, before).model_copy(update={"lost": True})
        except NotSent as error:
            return _report(error, before, ready)
        except Exception as error:  # whatever it was, it was before the mark
            return _report(NotSent(said(error, ready)), before)
        except asyncio.CancelledError:
            return _report(NotSent(f"{cut_off_by()} before it was sent"), before)
        beats = Beats()
        sending = _send(tool, ready, call, order, over_at, before, beats)
        report = await undeterred(sending, lambda: beats.unheard and tool.verify_with is None)
        if button := pressed():
            report = report.model_copy(update={"why": _also(report.why, f"{button} meanwhile")})
        await hand_over(report, tool, order, self._signing_key)
        return report


async def _send(
    tool: Tool,
    ready: Ready,
    call: Call,
    order: SendOrder,
    over_at: float,
    before: Verification | None,
    beats: Beats,
) -> SendReport:
    """The exchange, until it is `over_at`. After the mark, unlisted is ambiguous."""
    assert tool.execute_with  # noqa: S101 - the registry has checked
    left = over_at - _now()
    if left <= 0:
        # The worker was frozen. Nothing was sent, and from here on nothing will be.
        return _report(NotSent("the worker woke up too late to send"), before)
    try:
        async with asyncio.timeout(left) as deadline, beats.beating(deadline):
            answer: object = await tool.execute_with(ready.arguments, call)
    except TimeoutError:
        return _report(Ambiguous(f"no answer within {order.timeout:g} s"), before)
    except asyncio.CancelledError:
        report = _report(Ambiguous(f"{cut_off_by()} while the request was under way"), before)
        # A thread of the tool was not stopped by this, and may send until the deadline.
        return report.model_copy(update={"lost": True})
    except BaseException as error:  # a group of them, an exit: the SDK would record its text
        log_failure("execute", tool.name, error, ready)
        return _report(error, before, ready)
    match answer:
        case Receipt():
            receipt = bounded(answer, order.room, ready)
            return SendReport(outcome=Sending.ANSWERED, receipt=receipt, before=before)
        case Accepted():
            return SendReport(
                outcome=Sending.ACCEPTED,
                receipt=bounded(answer.receipt, order.room, ready),
                retry_after=answer.look_after,
                before=before,
            )
        case other:
            why = f"execute returned {type(other).__name__} instead of Receipt or Accepted"
            return _report(Ambiguous(why), before)


def _report(
    error: BaseException, before: Verification | None, ready: Ready | None = None
) -> SendReport:
    outcome = Sending.AMBIGUOUS  # R5: also for whatever is not listed here
    pause: timedelta | None = None
    if isinstance(error, NotSent):
        outcome, pause = Sending.NOT_SENT, error.retry_after
    elif isinstance(error, Refused):
        outcome = Sending.REFUSED_FOR_NOW if error.again else Sending.REFUSED
        pause = error.retry_after
    seconds = pause.total_seconds() if pause is not None else None
    return SendReport(
        outcome=outcome, why=said(error, ready or Ready()), retry_after=seconds, before=before
    )


def _also(why: str, more: str) -> str:
    return f"{why}; {more}" if why else more


def _call(order: SendOrder, before: Verification | None = None) -> Call:
    return Call(
        action_id=order.key,
        attempt=order.attempt,
        deadline=datetime.now(UTC) + timedelta(seconds=order.timeout),
        before=before or order.before,
        receipt=order.receipt,
    )


def _now() -> float:
    """Seconds that go on while the process is frozen and, on Linux, while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
