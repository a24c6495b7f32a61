"""The handover of a blind tool's report: where nobody can look, it is the only proof there will be.

A server gives up an attempt of which it hears nothing, also where it was the server that was away,
and what such an attempt reports in the end is dropped. The step is told all the same, by the signal
with which a service says by itself that something happened.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from temporalio import activity
from temporalio.service import RPCError, RPCStatusCode

from activities.mark import AWAY, is_completed, is_wanted
from surestep.evidence import Sending
from surestep.notice import Notice
from surestep.protocol import NOTICE, SendOrder, SendReport
from surestep.signature import sign_notice
from surestep.tool import Tool

AGAIN = timedelta(seconds=1)

# The event loop keeps no task alive by itself.
_under_way: set[asyncio.Task[None]] = set()


async def hand_over(
    report: SendReport, tool: Tool, order: SendOrder, key: Ed25519PrivateKey | None
) -> None:
    """Returns once the server waits for the report, or the step has it in another way.

    It goes on by itself where the activity is cut off meanwhile.
    """
    if not _is_the_only_proof(report, tool):
        return
    task = asyncio.create_task(_told(report, order, key))
    _under_way.add(task)
    task.add_done_callback(_under_way.discard)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        activity.logger.warning("the server has not heard yet how %s ended", order.key)


def _is_the_only_proof(report: SendReport, tool: Tool) -> bool:
    if tool.verify_with is not None:
        return False  # a look will say it
    if report.outcome is Sending.ANSWERED:
        return tool.contract.response_proves
    return report.outcome is Sending.REFUSED


async def _told(report: SendReport, order: SendOrder, key: Ed25519PrivateKey | None) -> None:
    try:
        wanted = await _insist(is_wanted)
        if wanted and _is_given_up():
            wanted = await _insist(lambda: is_completed(report))
        if not wanted:
            await _insist(lambda: _notice(report, order, key))
    except Exception:
        activity.logger.warning("nobody hears how %s ended", order.key, exc_info=True)


def _is_given_up() -> bool:
    """Whether the SDK thinks that the server has given the attempt up, and will report nothing."""
    details = activity.cancellation_details()
    return details is not None and (details.not_found or details.timed_out)


async def _insist(call: Callable[[], Awaitable[bool]]) -> bool:
    """The answer, however long the server is away."""
    while True:
        try:
            return await call()
        except RPCError as error:
            if error.status not in AWAY:
                raise
            await asyncio.sleep(AGAIN.total_seconds())


async def _notice(report: SendReport, order: SendOrder, key: Ed25519PrivateKey | None) -> bool:
    receipt = report.receipt
    said = Notice(
        key=order.key,
        happened=report.outcome is Sending.ANSWERED,
        id=receipt.id if receipt else None,
        status=receipt.status if receipt else None,
        why=report.why,
    )
    message = sign_notice(said, key) if key else said
    step_id = activity.info().workflow_id
    assert step_id  # noqa: S101 - no step, no order
    try:
        await activity.client().get_workflow_handle(step_id).signal(NOTICE, message)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:  # the step is closed: nobody asks any more
            raise
    return True
