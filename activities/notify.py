"""`notify`: people are told, every target on its own, and none twice because of another."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from surestep.connection import workflow_url
from surestep.notification.channel import Channel, Channels
from surestep.notification.line import Line, Untold
from surestep.notification.message import Message
from surestep.notification.told import Missed, Told
from surestep.protocol import NOTIFY
from surestep.questions import NotifyOrder, Occasion

PATIENCE: Final = 10.0
"""Seconds in which a try may begin. What fails for longer is left to Temporal's retries, so that no
message holds a worker's place for long."""

LONGEST: Final = timedelta(minutes=1)
"""What one attempt may take at the most: a try begins within PATIENCE, and has its own deadline."""


class Notifier:
    """Tells. `ui_url`: base of the Web UI, for the link in a message."""

    def __init__(self, channels: Channels | None = None, *, ui_url: str | None = None) -> None:
        self._channels = channels or Channels()
        everybody = dict.fromkeys((*self._channels.usual, *self._channels.overdue))
        self._lines = {channel: Line(channel) for channel in everybody}
        self._ui_url = ui_url

    @property
    def tells(self) -> bool:
        """Whether there is anybody to tell."""
        return bool(self._lines)

    @activity.defn(name=NOTIFY)
    async def notify(self, order: NotifyOrder) -> Told:
        """Tell whom no earlier attempt has told. Raises while somebody is left and time is, too."""
        overdue = order.occasion is Occasion.OVERDUE
        lines = self._of(self._channels.overdue if overdue else self._channels.usual)
        names = [line.name for line in lines]
        roll = _Roll([name for name in _told_before() if name in names])
        message = Message(order, self._link(order))
        until = asyncio.get_running_loop().time() + PATIENCE
        left = [line for line in lines if line.name not in roll.told]
        ends = await asyncio.gather(*(_tell(line, message, until, roll) for line in left))
        missed = tuple(end for end in ends if end)
        answer = Told(told=tuple(name for name in names if name in roll.told), missed=missed)
        if missed and not _is_last():
            raise ApplicationError(answer.words, type="Untold")
        return answer

    def _of(self, channels: Sequence[Channel]) -> list[Line]:
        return [self._lines[channel] for channel in channels]

    def _link(self, order: NotifyOrder) -> str | None:
        if self._ui_url is None:
            return None
        return workflow_url(self._ui_url, activity.info().namespace, order.step_id)


class _Roll:
    """Who has been told, kept where the next attempt finds it."""

    def __init__(self, told: list[str]) -> None:
        self.told = told
        self._turn = asyncio.Lock()

    async def add(self, name: str) -> None:
        self.told.append(name)
        token = activity.info().task_token
        async with self._turn:  # so that no shorter list arrives after a longer one
            try:
                # Awaited, because `activity.heartbeat()` is not durable on return.
                handle = activity.client().get_async_activity_handle(task_token=token)
                await handle.heartbeat(self.told)
            except (RPCError, AsyncActivityCancelledError):
                # At worst the target is told again, under the same id.
                activity.logger.debug("who was told could not be kept", exc_info=True)


async def _tell(line: Line, message: Message, until: float, roll: _Roll) -> Missed | None:
    try:
        await line.tell(message, until)
    except Untold as error:
        return Missed(target=line.name, why=str(error))
    await roll.add(line.name)
    return None


def _told_before() -> list[str]:
    details = activity.info().heartbeat_details
    return list(details[0]) if details else []


def _is_last() -> bool:
    """Whether there may be no further attempt, so that this one has to say how it ended."""
    info = activity.info()
    policy = info.retry_policy
    if policy and policy.maximum_attempts and info.attempt >= policy.maximum_attempts:
        return True
    if not info.schedule_to_close_timeout:
        return False
    ends = info.scheduled_time + info.schedule_to_close_timeout
    pause = policy.maximum_interval if policy else None
    pause = pause or info.schedule_to_close_timeout / 10
    return datetime.now(UTC) + pause + LONGEST >= ends
