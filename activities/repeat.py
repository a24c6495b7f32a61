"""Recognising that Temporal hands an attempt out a second time. It never sends then."""

from temporalio import activity

from surestep.errors import Ambiguous
from surestep.protocol import SendOrder


def refuse_repeats(order: SendOrder) -> None:
    """Raises Ambiguous where an earlier hand-out of this attempt may have sent.

    An operator who resets or unpauses an activity can set its attempts back to one and wipe out its
    mark. What he cannot set back is when it was first scheduled. The server does not say whether a
    worker had it before that, so an activity that was only paused in its queue is in doubt as well.
    """
    info = activity.info()
    if info.workflow_run_id != order.run_id:
        raise Ambiguous("the step was reset while this attempt was under way; it was not repeated")
    scheduled_again = info.current_attempt_scheduled_time > info.scheduled_time
    if info.attempt > 1 or info.heartbeat_details or scheduled_again:
        why = "the activity was reset, unpaused or retried; the attempt was not repeated"
        raise Ambiguous(why)
