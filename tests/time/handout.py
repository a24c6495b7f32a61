"""How the time-skipping test server hands an attempt out, put right.

By two times the product knows that an attempt is handed out again: when it was scheduled, and when
it was scheduled last. A real server has one time for both until somebody schedules it again. The
test server reads its clock twice, so that now and then, on a busy machine, they lie a millisecond
apart. It has no button that schedules anything again: the earlier one is right.
"""

from dataclasses import replace

from temporalio import activity
from temporalio.client import Interceptor
from temporalio.worker import ActivityInboundInterceptor, ActivityOutboundInterceptor
from temporalio.worker import Interceptor as WorkerInterceptor


class FirstHandout(Interceptor, WorkerInterceptor):
    """Given to a client of the test server: its workers see a first attempt as it is."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Inbound(next)


class _Inbound(ActivityInboundInterceptor):
    def init(self, outbound: ActivityOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(ActivityOutboundInterceptor):
    def info(self) -> activity.Info:
        info = super().info()
        if info.attempt > 1:
            return info
        return replace(info, current_attempt_scheduled_time=info.scheduled_time)
