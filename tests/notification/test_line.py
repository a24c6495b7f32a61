"""A target that is down costs a worker little, and is told again once it is back."""

import asyncio
from datetime import timedelta
from itertools import count

import pytest

from surestep.notification.channel import Channels
from surestep.notification.line import DOWN_AFTER, Line, Untold
from surestep.notification.message import Message
from surestep.settings import Settings
from tests.notification.orders import order
from tests.waiting import eventually


@pytest.fixture
def line(receiver) -> Line:
    settings = Settings.from_environment({"SURESTEP_NOTIFY": receiver.url()})
    (channel,) = Channels.of(settings, within=timedelta(seconds=1)).usual
    return Line(channel)


async def tell(line: Line, id: str, patience: float) -> None:
    await line.tell(Message(order(id=id)), asyncio.get_running_loop().time() + patience)


async def test_a_target_that_hangs_is_tried_by_one_message_at_a_time(line, receiver):
    receiver.fates["/hook"] = ["hold"] * 100
    first = [tell(line, f"first/{number}", 0) for number in range(20)]
    ends = await asyncio.gather(*first, return_exceptions=True)
    assert all(isinstance(end, Untold) for end in ends)
    before = len(receiver.requests())

    async def tried_again() -> bool:
        more = [tell(line, f"more/{number}", 0) for number in range(50)]
        ends = await asyncio.gather(*more, return_exceptions=True)
        assert all(isinstance(end, Untold) for end in ends)
        return len(receiver.requests()) > before

    await eventually(tried_again)
    assert len(receiver.requests()) == before + 1


async def test_once_it_is_back_everybody_is_told(line, receiver):
    receiver.fates["/hook"] = ["500"] * DOWN_AFTER
    first = [tell(line, f"first/{number}", 0) for number in range(DOWN_AFTER)]
    ends = await asyncio.gather(*first, return_exceptions=True)
    assert {str(end) for end in ends} == {"the service answered 500 Internal Server Error"}
    numbers = count()

    async def told() -> bool:
        try:
            await tell(line, f"try/{next(numbers)}", 0)
        except Untold:
            return False
        return True

    await eventually(told)
    await asyncio.gather(*(tell(line, f"after/{number}", 0) for number in range(20)))
    assert len(receiver.requests()) == DOWN_AFTER + 1 + 20


async def test_a_message_that_is_refused_does_not_keep_others_from_being_told(line, receiver):
    receiver.fates["/hook"] = ["400"]
    with pytest.raises(Untold, match="400"):
        await tell(line, "odd", 0)
    await tell(line, "usual", 0)
    assert receiver.ids() == ["odd", "usual"]
