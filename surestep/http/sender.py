"""Sending for one tool: rendering, the deadline, and what a cancellation proves."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import BaseModel

from surestep.errors import NotSent, Refused
from surestep.http.proof import Track
from surestep.http.request import Key, Rendered, Request
from surestep.http.rules import Rule
from surestep.http.service import Reply, Service
from surestep.http.template import Unfillable, Values
from surestep.tool import Call

MARGIN: Final = 0.1
"""Part of the attempt kept back, so that we end the exchange, and know its phase, and not the
worker's own limit, which only knows that time is up."""


@dataclass(frozen=True)
class Sender:
    """Sends the requests of one tool to its service, each within the attempt's deadline."""

    service: Service
    key: Key
    rules: tuple[Rule, ...]

    def values(self, args: BaseModel, call: Call) -> Values:
        """What the tool's templates are filled with."""
        return Values.of(args, call, self.key.form)

    async def send(self, request: Request, args: BaseModel, call: Call) -> Reply:
        """The exchange that has the effect. Raises NotSent, Refused or Ambiguous."""
        track = Track()
        try:
            rendered = request.render(self.values(args, call), self.key)
        except Exception as error:
            why = str(error) if isinstance(error, Unfillable) else type(error).__name__
            raise NotSent(f"the request cannot be built ({why})") from error
        try:
            return await self.service.send(
                rendered, within=_within(call), track=track, rules=self.rules
            )
        except asyncio.CancelledError:
            if not track.unsent:
                raise
            why = f"stopped while {track.phase}, before it was sent"
            if track.left_before:
                raise Refused(f"refused with 401; the next {why}", again=True) from None
            raise NotSent(why) from None

    async def look(self, request: Rendered, call: Call) -> Reply:
        """An exchange that changes nothing. Raises NotSent or Ambiguous; a refusal is a Reply."""
        return await self.service.send(request, within=_within(call), track=Track())


def _within(call: Call) -> timedelta:
    left = call.deadline - datetime.now(UTC)
    return left - min(left * MARGIN, timedelta(seconds=1))
