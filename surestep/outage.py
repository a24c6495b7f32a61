"""An outage of the Temporal server: what it looks like to a call, and saying so once.

The SDK repeats a call for some seconds before it gives up, so a short outage is not seen at all.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from temporalio.client import Client, RPCTimeoutOrCancelledError
from temporalio.service import RPCError, RPCStatusCode

from surestep.errors import CannotConnect

logger = logging.getLogger("surestep")

OUTAGE: Final = (
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.RESOURCE_EXHAUSTED,
    RPCStatusCode.CANCELLED,
)
"""What a call fails with that reached no server, or a server that could not answer."""

# The SDK has tried for some seconds before a call fails.
AGAIN: Final = timedelta(seconds=1)

IN_TIME: Final = "not in time"

T = TypeVar("T")


class Outage:
    """The outages that one caller meets. `meanwhile` says what goes on in spite of them."""

    def __init__(self, client: Client, meanwhile: str) -> None:
        self._client = client
        self._meanwhile = meanwhile
        self._since = 0.0
        self.last: str | None = None
        """The outage that lasts, in words; None: the server answers."""

    def met(self, error: RPCError) -> None:
        """A call failed. Raises `error` where that is no outage."""
        if error.status not in OUTAGE:
            raise error
        self.begins(error.message)

    def begins(self, cause: str) -> None:
        """Say so, unless it has begun before."""
        if self.last is None:
            self._since = time.monotonic()
            self.last = silence(self._client, cause)
            logger.warning("%s. %s", self.last, self._meanwhile)

    def over(self) -> None:
        """A call was answered."""
        if self.last:
            self.last = None
            logger.warning(
                "Temporal at %s answers again, after %.0f s",
                address(self._client),
                time.monotonic() - self._since,
            )

    async def sit_out(self, call: Callable[[], Awaitable[T]], until: float | None) -> T:
        """The answer to a call that may be repeated. An outage is sat out, `until` that time."""
        while True:
            try:
                answer = await call()
            except RPCError as error:
                if until is not None and time.monotonic() >= until:
                    raise
                self.met(error)
                await asyncio.sleep(AGAIN.total_seconds())
            else:
                self.over()
                return answer


@contextmanager
def told_as(client: Client, unknown: str) -> Iterator[None]:
    """Turn an outage into CannotConnect; `unknown` says what is not known, and what is safe now."""
    try:
        yield
    except RPCTimeoutOrCancelledError as error:
        # An update raises it for a cancellation as well, which must stay one.
        task = asyncio.current_task()
        if task and task.cancelling():
            raise asyncio.CancelledError from None
        raise CannotConnect(f"{silence(client, IN_TIME)}. {unknown}") from error
    except RPCError as error:
        if error.status not in OUTAGE:
            raise
        raise CannotConnect(f"{silence(client, error.message)}. {unknown}") from error


def silence(client: Client, cause: str) -> str:
    """Which server does not answer, when, and why."""
    now = datetime.now(UTC)
    return f"Temporal at {address(client)} does not answer at {now:%H:%M:%S} UTC ({cause})"


def address(client: Client) -> str:
    """Host and port, as the client was told."""
    return client.service_client.config.target_host
