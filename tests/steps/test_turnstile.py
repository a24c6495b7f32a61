"""A service that comes back after an outage is not stormed by the looks that are due."""

import asyncio

import pytest
from pydantic import BaseModel
from temporalio.testing import ActivityEnvironment

import activities.turnstile
from activities.look import Observer
from activities.turnstile import NoTurn, Turnstile
from surestep import Contract, Effect, Tool, Tools, not_found
from surestep.evidence import Finding
from surestep.protocol import LookOrder
from tests.waiting import eventually


class Nothing(BaseModel):
    pass


class Service:
    """Answers once it is let; remembers how many asked at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.answers = asyncio.Event()

    def tool(self, name: str) -> Tool:
        tool = Tool(name, Nothing, Contract(effect=Effect.IRREVERSIBLE))

        @tool.execute
        async def _(args, call):
            raise AssertionError("nothing is sent here")

        @tool.verify
        async def _(args, call):
            self.now += 1
            self.most = max(self.most, self.now)
            await self.answers.wait()
            self.now -= 1
            return not_found()

        return tool


async def under_way(*services: Service, of: int) -> bool:
    return all(service.now == of for service in services)


def order(tool: str, number: int) -> LookOrder:
    key = f"step/{number}"
    return LookOrder(key=key, tool=tool, arguments={}, attempt=1, timeout=20, room=1000)


async def test_so_many_looks_at_one_service_are_under_way_and_no_more():
    one, other = Service(), Service()
    tools = Tools(one.tool("one"), other.tool("other"))
    observer = Observer(tools, turnstile=Turnstile(at_once=4))
    looks = [
        asyncio.create_task(ActivityEnvironment().run(observer.verify, order(tool, number)))
        for tool in ("one", "other")
        for number in range(30)
    ]
    await eventually(lambda: under_way(one, other, of=4))
    one.answers.set()
    other.answers.set()
    seen = await asyncio.gather(*looks)
    assert (one.most, other.most) == (4, 4)
    assert {look.finding for look in seen} == {Finding.NOT_FOUND}


async def test_a_look_whose_turn_does_not_come_is_given_up_and_says_that_nothing_was_asked(
    monkeypatch,
):
    monkeypatch.setattr(activities.turnstile, "WAITS", 0.05)
    service = Service()
    observer = Observer(Tools(service.tool("slow")), turnstile=Turnstile(at_once=1))
    first = asyncio.create_task(ActivityEnvironment().run(observer.verify, order("slow", 1)))
    await eventually(lambda: under_way(service, of=1))
    seen = await ActivityEnvironment().run(observer.verify, order("slow", 2))
    assert seen.finding is Finding.UNKNOWN
    assert "nothing was asked" in seen.why
    service.answers.set()
    await first
    assert service.most == 1


async def test_looks_begin_at_the_rate_that_is_set(monkeypatch):
    monkeypatch.setattr(activities.turnstile, "WAITS", 1.0)
    turnstile, begun = Turnstile(per_second=100), []

    async def one() -> None:
        async with turnstile.turn("tool"):
            begun.append(asyncio.get_running_loop().time())

    await asyncio.gather(*(one() for _ in range(11)))
    assert begun[-1] - begun[0] >= 0.095


async def test_a_turn_that_lies_too_far_ahead_is_refused_at_once():
    turnstile = Turnstile(per_second=0.1)
    async with turnstile.turn("tool"):
        pass
    with pytest.raises(NoTurn):
        async with turnstile.turn("tool"):
            raise AssertionError("its turn is in ten seconds")
