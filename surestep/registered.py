"""Whether the search attributes are there, asked for once a minute, not once a step."""

import asyncio
import time
from datetime import timedelta
from typing import Final
from weakref import WeakKeyDictionary

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.registration import registered
from surestep.visibility import SEARCH_ATTRIBUTES

ASKED_AGAIN: Final = timedelta(minutes=1)

# The time-skipping test server has no lists, and some credentials may not ask.
_NOT_TO_BE_ASKED = (RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED)


class Registration:
    """All of ours, and of their types. They can be removed while a process runs."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._asking = asyncio.Lock()
        self._complete = False
        self._asked = -ASKED_AGAIN.total_seconds()

    async def is_complete(self) -> bool:
        """Raises RPCError where the server does not answer."""
        async with self._asking:
            fresh = time.monotonic() < self._asked + ASKED_AGAIN.total_seconds()
            if not (self._complete and fresh):
                self._complete = await self._ask()
                self._asked = time.monotonic()
        return self._complete

    async def _ask(self) -> bool:
        try:
            there = await registered(self._client)
        except RPCError as error:
            if error.status in _NOT_TO_BE_ASKED:
                return False
            raise
        return SEARCH_ATTRIBUTES.items() <= there.items()


_KNOWN: WeakKeyDictionary[Client, Registration] = WeakKeyDictionary()


def registration(client: Client) -> Registration:
    """The one of this client."""
    return _KNOWN.setdefault(client, Registration(client))
