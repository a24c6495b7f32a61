"""The line to one target, shared by all messages of a process."""

import asyncio
from typing import Final

from surestep.errors import summary
from surestep.notification.channel import Channel
from surestep.notification.message import Message

# A hiccup is waited out; what fails so often in a row is down.
DOWN_AFTER: Final = 3
FIRST_PAUSE: Final = 1.0
FIRST_SILENCE: Final = 2.0
LONGEST_SILENCE: Final = 60.0


class Untold(Exception):
    """A target was not told; the words say why."""


class Line:
    """Tries again with growing pauses, and spares a target that is down.

    A worker has a hundred places for activities. When a service fails, many questions are opened at
    once, and if the target hangs as well, their messages must not keep attempts from being sent: so
    while a target is down, one message at a time tries it, and the others give up at once.
    """

    def __init__(self, channel: Channel) -> None:
        self.name = channel.name
        self._channel = channel
        self._failures = 0
        self._why = ""
        self._silent_until = 0.0
        self._silence = FIRST_SILENCE

    async def tell(self, message: Message, until: float) -> None:
        """Tell, in as many tries as can begin before `until`, a time of the loop. Raises Untold."""
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        while True:
            if self._failures >= DOWN_AFTER:
                if loop.time() < self._silent_until:
                    raise Untold(self._why)
                self._be_silent(loop.time())
            if await self._tried(message, loop):
                return
            if self._failures >= DOWN_AFTER or loop.time() + pause > until:
                raise Untold(self._why)
            await asyncio.sleep(pause)
            pause *= 2

    async def _tried(self, message: Message, loop: asyncio.AbstractEventLoop) -> bool:
        try:
            await self._channel.tell(message)
        except Exception as error:  # whatever it was, the others are told nevertheless
            self._why = summary(error)
            self._failures += 1
            if self._failures == DOWN_AFTER:
                self._be_silent(loop.time())
            return False
        self._failures, self._silence = 0, FIRST_SILENCE
        return True

    def _be_silent(self, now: float) -> None:
        self._silent_until = now + self._silence
        self._silence = min(self._silence * 2, LONGEST_SILENCE)
