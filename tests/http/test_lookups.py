"""Lookups find our effect by our key alone, and say `unknown` where they cannot know."""

import json

import pytest

from surestep.evidence import Finding
from surestep.http import Cursor, Lookup, NextLink, Shape, Sight
from tests.http import tools
from tests.http.servers import HOST, answering

KEY = "step-1/charge"
JSON = "Content-Type: application/json"


def effect(number=1, key=KEY, **more):
    body = {"order": "o-1", "cents": 2500}
    return {"id": f"ch_{number}", "key": key, "status": "succeeded", "body": body} | more


def listing(**options):
    given = {"items": "/effects", "shape": tools.SHOWN} | options
    return tools.tool("listing", "x", lookup=Lookup("/effects", {"key": "{call.key}"}, **given))


def pages(*documents, link=None):
    """Serves `?page=n`; the last page is the last document."""

    async def behaviour(peer):
        target = (await peer.request()).split(b" ")[1].decode()
        number = int(target.partition("page=")[2].partition("&")[0] or 0)
        headers = [link(number)] if link and number + 1 < len(documents) else []
        await peer.answer("200 OK", json.dumps(documents[number]).encode(), JSON, *headers)

    return behaviour


@pytest.mark.parametrize(
    "fault", ["error:500", "error:429", "error:401", "error:404", "html",
              "empty_json", "reset", "hang"],
)  # fmt: skip
async def test_a_lookup_that_learns_nothing_says_so(fault, at_world):
    await tools.execute(tools.lookup, KEY)
    await at_world.fault(KEY, lookup=[fault])
    seen = await tools.verify(tools.lookup, KEY, within=0.5)
    assert seen.finding is Finding.UNKNOWN
    assert seen.why
    assert (await tools.verify(tools.lookup, KEY)).finding is Finding.CONFIRMED


async def test_a_service_that_is_down_is_no_miss(at_world):
    async with at_world.outage():
        seen = await tools.verify(tools.lookup, KEY)
    assert (seen.finding, seen.why) == (Finding.UNKNOWN, "not connected (ConnectError)")


async def test_looks_do_not_make_it_ours(at_world):
    await tools.execute(tools.lookup, "somebody/else")
    await at_world.fault(KEY, lookup=["lookalike"])
    assert (await tools.verify(tools.lookup, KEY)).finding is Finding.NOT_FOUND


async def test_one_hit_among_replicas_is_enough_and_a_miss_is_a_miss(at_world):
    await tools.execute(tools.lookup, KEY)
    await at_world.fault(KEY, lookup=["miss", "honest", "miss"])
    seen = [(await tools.verify(tools.lookup, KEY)).finding for _ in range(3)]
    assert seen == [Finding.NOT_FOUND, Finding.CONFIRMED, Finding.NOT_FOUND]


async def test_every_match_is_told(at_world):
    await at_world.fault(KEY, write=["twice"])
    await tools.execute(tools.lookup, KEY)
    assert len((await tools.verify(tools.lookup, KEY)).matches) == 2


@pytest.mark.parametrize(
    ("shown", "differs"),
    [
        ({"order": "o-1", "cents": 2500}, ()),
        ({"order": "o-1", "cents": 2500.0}, ()),
        ({"order": "o-1", "cents": "2500"}, ("cents",)),
        ({"order": "o-2", "cents": 1}, ("cents", "order")),
        ({"cents": 2500}, ("order",)),
        ({}, ("cents", "order")),
    ],
)
async def test_named_fields_are_compared_exactly(shown, differs, at_raw):
    tool = listing(same={"cents": "/body/cents", "order": "/body/order"})
    async with at_raw(pages({"effects": [effect(body=shown)]})):
        assert (await tools.verify(tool, KEY)).differs == differs


@pytest.mark.parametrize(
    ("states", "finding", "trace"),
    [
        (["succeeded"], Finding.CONFIRMED, None),
        (["pending"], Finding.PENDING, None),
        (["failed"], Finding.REJECTED, None),
        (["requires_action"], Finding.UNKNOWN, "requires_action"),
        ([None], Finding.UNKNOWN, "no state"),
        (["failed", "succeeded"], Finding.CONFIRMED, None),
        (["failed", "pending"], Finding.PENDING, None),
        (["failed", "odd"], Finding.UNKNOWN, "odd"),
    ],
)
async def test_found_is_not_confirmed(states, finding, trace, at_raw):
    found = [effect(number, status=state) for number, state in enumerate(states)]
    async with at_raw(pages({"effects": found})):
        seen = await tools.verify(listing(), KEY)
    assert seen.finding is finding
    assert (trace in seen.trace) if trace else seen.trace is None


class TestPages:
    """Lists are read to their end, or the answer is `unknown`."""

    OTHERS = tuple({"effects": [effect(n, key=f"other/{n}")], "more": f"{n}"} for n in range(3))

    async def test_our_effect_may_be_on_the_last_page(self, at_raw):
        tool = listing(next=Cursor("/next", "page"))
        documents = [{**self.OTHERS[0], "next": "1"}, {"effects": [effect()], "next": None}]
        async with at_raw(pages(*documents)) as raw:
            assert (await tools.verify(tool, KEY)).matches[0].id == "ch_1"
        assert raw.connections == 2
        assert b"key=step-1%2Fcharge&page=1" in raw.requests[1]

    async def test_a_link_in_the_header_or_in_the_body_is_followed(self, at_raw):
        def link(number):
            return f'Link: </effects?page={number + 1}>; rel="next"'

        async with at_raw(pages(*self.OTHERS, {"effects": [effect()]}, link=link)) as raw:
            seen = await tools.verify(listing(next=NextLink()), KEY)
        assert seen.finding is Finding.CONFIRMED
        assert raw.connections == 4
        documents = ({"effects": [], "next": "/effects?page=1"}, {"effects": []})
        async with at_raw(pages(*documents)) as raw:
            seen = await tools.verify(listing(next=NextLink("/next")), KEY)
        assert seen.finding is Finding.NOT_FOUND
        assert raw.connections == 2

    async def test_a_function_may_say_what_comes_next(self, at_raw):
        def after_the_last(document):
            return {"page": "1"} if document.get("has_more") else None

        documents = ({"effects": [], "has_more": True}, {"effects": [effect()]})
        async with at_raw(pages(*documents)):
            seen = await tools.verify(listing(next=after_the_last), KEY)
        assert seen.finding is Finding.CONFIRMED

    async def test_beyond_the_bound_a_miss_is_unknown(self, at_raw):
        tool = listing(next=Cursor("/next", "page"), pages=2)
        documents = [{"effects": [], "next": str(n + 1)} for n in range(5)]
        async with at_raw(pages(*documents)) as raw:
            seen = await tools.verify(tool, KEY)
        assert seen.finding is Finding.UNKNOWN
        assert "first 2 pages" in seen.why
        assert raw.connections == 2

    async def test_a_hit_counts_although_a_later_page_fails(self, at_raw):
        tool = listing(next=Cursor("/next", "page"))
        for second, finding in (({"effects": "?"}, Finding.CONFIRMED), ([], Finding.CONFIRMED)):
            async with at_raw(pages({"effects": [effect()], "next": "1"}, second)):
                assert (await tools.verify(tool, KEY)).finding is finding
        async with at_raw(pages({"effects": [], "next": "1"}, {"effects": "?"})):
            assert (await tools.verify(tool, KEY)).finding is Finding.UNKNOWN

    async def test_a_circle_ends(self, at_raw):
        tool = listing(next=Cursor("/next", "page"))
        async with at_raw(pages({"effects": [], "next": "1"}, {"effects": [], "next": "1"})):
            seen = await tools.verify(tool, KEY)
        assert (seen.finding, "circle" in seen.why) == (Finding.UNKNOWN, True)

    async def test_no_page_is_asked_for_elsewhere(self, at_raw):
        for link in ("https://evil.example/effects", f"http://{HOST}:1/effects", "//evil.example"):
            async with at_raw(pages({"effects": [], "next": link})) as raw:
                seen = await tools.verify(listing(next=NextLink("/next")), KEY)
            assert (seen.finding, raw.connections) == (Finding.UNKNOWN, 1)


class TestASingleEffect:
    """A lookup may ask for the one effect of a key."""

    TOOL = tools.tool("single", "x", lookup=Lookup("/by-key/{call.key}"))

    async def test_it_is_there(self, at_raw):
        async with at_raw(pages(effect())) as raw:
            assert (await tools.verify(self.TOOL, KEY)).matches[0].id == "ch_1"
        assert raw.requests[0].startswith(b"GET /by-key/step-1%2Fcharge ")

    @pytest.mark.parametrize(
        ("answer", "finding"),
        [
            (answering("404 Not Found", b'{"code": "none"}', JSON), Finding.NOT_FOUND),
            (answering("404 Not Found", b"<html>", "Content-Type: text/html"), Finding.UNKNOWN),
            (answering("404 Not Found"), Finding.UNKNOWN),
            (answering("410 Gone", b"{}", JSON), Finding.UNKNOWN),
            (answering("200 OK", b"{}", JSON), Finding.UNKNOWN),
            (answering("200 OK", b"[]", JSON), Finding.UNKNOWN),
            (answering("200 OK", b'{"key": "other"}', JSON), Finding.NOT_FOUND),
            (answering("403 Forbidden", b"{}", JSON), Finding.UNKNOWN),
        ],
    )
    async def test_only_an_answer_of_the_service_says_that_it_is_not(self, answer, finding, at_raw):
        async with at_raw(answer):
            assert (await tools.verify(self.TOOL, KEY)).finding is finding


async def test_a_list_that_was_filtered_and_shows_no_key_at_all_is_suspicious(at_raw):
    tool = listing(key="/metadata/action")
    async with at_raw(pages({"effects": [effect()]})):
        seen = await tools.verify(tool, KEY)
    assert (seen.finding, "/metadata/action" in seen.why) == (Finding.UNKNOWN, True)


async def test_sight_is_what_the_known_object_shows(at_raw):
    tool = tools.tool("seeing", "lookup", sight=Sight("/known", sees={"/alive": True}))
    for answer, sees in (
        (answering("200 OK", b'{"alive": true}'), True),
        (answering("200 OK", b'{"alive": 1}'), False),
        (answering("200 OK", b"<html>"), False),
        (answering("401 Unauthorized"), False),
        (answering("404 Not Found", b"{}"), False),
    ):
        async with at_raw(answer):
            assert await tool.sight_with(tools.args(tool), tools.call()) is sees


async def test_a_service_that_asks_for_a_pause_is_left_alone(at_raw):
    async with at_raw(answering("429 Too Many", b"{}", JSON, "Retry-After: 60")) as raw:
        tool = listing()
        first = await tools.verify(tool, KEY)
        second = await tools.verify(tool, KEY)
        await tools.verify(tool, "another/action")
    assert (first.finding, second.finding) == (Finding.UNKNOWN, Finding.UNKNOWN)
    assert "asked not to be asked" in second.why
    assert raw.connections == 2


async def test_what_was_undone_did_happen():
    assert tools.SHOWN.standing({"status": "voided"}).name == "SUCCEEDED"
    assert Shape().standing({"status": "voided"}).name == "SUCCEEDED"
