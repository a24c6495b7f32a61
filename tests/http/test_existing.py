"""409 "it exists already": whose it is, the object itself says, by the mark that we gave it."""

import json
from datetime import timedelta

import pytest

from surestep import State
from surestep.http import Lookup, Request, Shape
from tests.http import tools

LIMIT = timedelta(seconds=40)
MARK = {"name": "{order}", "mark": "{call.key}"}

bucket = tools.tool(
    "bucket",
    "x",
    promised={"in_flight": timedelta(0), "visibility_lag": timedelta(0), "sends": 2},
    request=Request("PUT", "/buckets/{order}", body=MARK),
    shape=Shape(id="/name"),
    lookup=Lookup("/buckets/{order}", key="/mark"),
)


class Buckets:
    """Names are unique here. The first PUT meets a fate: its answer is `lost`, or `busy` is 409."""

    def __init__(self, fate=None, **made):
        self.fate, self.made, self.puts = fate, made, 0

    async def __call__(self, peer):
        head, _, body = (await peer.request()).partition(b"\r\n\r\n")
        method, target = head.decode().split(" ")[:2]
        name = target.rpartition("/")[2]
        if method == "GET":
            found = {"name": name, "mark": self.made[name]} if name in self.made else {}
            await peer.answer("200 OK" if found else "404 Not Found", json.dumps(found).encode())
            return
        self.puts += 1
        fate, self.fate = self.fate, None
        if name in self.made or fate == "busy":
            await peer.answer("409 Conflict", b'{"code": "exists"}')
            return
        self.made[name] = json.loads(body)["mark"]
        if fate != "lost":
            await peer.answer("201 Created", json.dumps({"name": name}).encode())


@pytest.mark.parametrize(
    ("buckets", "state", "ours", "puts"),
    [
        (Buckets(), State.CONFIRMED, True, 1),
        (Buckets("lost"), State.CONFIRMED, True, 1),
        # Of another team: nothing of ours happened, and it is not taken for ours.
        (Buckets(b1="theirs"), State.NOT_FOUND, False, 2),
        # The conflict was with a removal: there is nothing, so it may be made.
        (Buckets("busy"), State.CONFIRMED, True, 2),
    ],
    ids=["free", "ours", "theirs", "removed"],
)
async def test_it_is_ours_only_by_our_mark(buckets, state, ours, puts, working, at_raw, step_id):
    async with at_raw(buckets), working(bucket) as surestep:
        outcome = await surestep.run(step_id, bucket(order="b1", cents=1), within=LIMIT)
    assert outcome.state is state
    assert (buckets.made["b1"] == f"{step_id}/bucket") is ours
    assert buckets.puts == puts
