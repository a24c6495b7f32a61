"""The tools of the rows, for the world at `url`. Every one makes the call of `charging`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from surestep import (
    Call,
    Contract,
    Effect,
    KeySupport,
    Receipt,
    Tool,
    Tools,
    Verification,
    confirmed,
    not_found,
    unknown,
)

from .charging import Charge, charged, found

ATTEMPT = timedelta(seconds=30)
SECOND = timedelta(seconds=1)


class Eyes:
    """How a tool looks: shut, it sees nothing. Counts how many look at once."""

    def __init__(self) -> None:
        self.shut = False
        self.looking = 0
        self.most = 0

    @asynccontextmanager
    async def look(self) -> AsyncIterator[None]:
        self.looking += 1
        self.most = max(self.most, self.looking)
        try:
            yield
        finally:
            self.looking -= 1


class Kit:
    """keyed     the service honours our key
    lookup    it ignores keys, and can be asked: looked at before the first send
    lossy     the same service, whose reply is lost each time
    blind     it ignores keys, cannot be asked, and its reply is lost each time: people are asked
    doubtful  as `lossy`, with `eyes` that can be shut
    """

    def __init__(self, url: str) -> None:
        irreversible = Effect.IRREVERSIBLE
        key = KeySupport(lifetime=timedelta(hours=24))
        at_once = {"in_flight": SECOND, "visibility_lag": timedelta(0)}
        promised = Contract(effect=irreversible, timeout=ATTEMPT, **at_once)
        keyed = promised.model_copy(update={"key": key})
        silent = Contract(effect=irreversible, timeout=ATTEMPT)
        asking = Contract(effect=irreversible, timeout=ATTEMPT, ask=True)
        self.eyes = Eyes()
        self.keyed = _tool("charge", keyed, f"{url}/keyed")
        self.lookup = _tool("lookup", promised, f"{url}/lookup")
        self.lossy = _tool("lossy", promised, f"{url}/lookup", fault="reply_lost")
        self.blind = _tool("blind", asking, f"{url}/blind", fault="reply_lost", looks=False)
        self.doubtful = _tool("doubtful", silent, f"{url}/lookup", fault="reply_lost", looks=False)
        self._look_with_eyes(f"{url}/lookup")

    def _look_with_eyes(self, url: str) -> None:
        @self.doubtful.verify
        async def _(args: Charge, call: Call) -> Verification:
            if self.eyes.shut:
                return unknown("the eyes are shut")
            async with self.eyes.look():
                return await _seen(url, call)

    def tools(self) -> Tools:
        return Tools(self.keyed, self.lookup, self.lossy, self.blind, self.doubtful)


def _tool(
    name: str, contract: Contract, url: str, *, fault: str | None = None, looks: bool = True
) -> Tool:
    made = Tool(name, Charge, contract)

    @made.execute
    async def _(args: Charge, call: Call) -> Receipt:
        return Receipt(id=await charged(url, call.action_id, args, fault=fault))

    if looks:

        @made.verify
        async def _(args: Charge, call: Call) -> Verification:
            return await _seen(url, call)

    return made


async def _seen(url: str, call: Call) -> Verification:
    ids = await found(url, call.action_id)
    return confirmed(matches=[Receipt(id=one) for one in ids]) if ids else not_found()
