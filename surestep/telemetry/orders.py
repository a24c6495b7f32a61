"""What an activity was ordered to do: on its span, and on the log lines that are written in it."""

from typing import Any

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from surestep.evidence import Verification
from surestep.protocol import FenceReport, LookOrder, SendOrder, SendReport
from surestep.questions import ExamineOrder, NotifyOrder
from surestep.telemetry.spans import annotate
from surestep.telemetry.subject import subject


class Orders(Interceptor):
    """Every worker of ours has it."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Ordered(next)


class _Ordered(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        about = _about(input.args[0] if input.args else None)
        annotate(**about)
        token = subject.set(about)
        try:
            report = await super().execute_activity(input)
        finally:
            subject.reset(token)
        annotate(outcome=_outcome(report))
        return report


def _about(order: object) -> dict[str, str | int]:
    """Ids and numbers; no arguments."""
    match order:
        case SendOrder() | LookOrder():
            return {"action": order.key, "tool": order.tool, "attempt": order.attempt}
        case NotifyOrder():
            action = f"{order.step_id}/{order.action}"
            return {"action": action, "tool": order.tool, "occasion": order.occasion.value}
        case ExamineOrder():
            return {"action": order.action_id, "tool": order.tool}
        case _:
            return {}


def _outcome(report: object) -> str | None:
    match report:
        case SendReport(outcome=outcome):
            return outcome.value
        case Verification(finding=finding):
            return finding.value
        case FenceReport():
            return "held" if report.held else "exists" if report.exists else "failed"
        case _:
            return None
