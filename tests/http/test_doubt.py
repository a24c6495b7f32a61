"""What may have happened is ambiguous, whatever the connection did, and is sent once."""

import asyncio

import pytest

from surestep import Ambiguous, Receipt, Refused, confirmed, not_found
from surestep.evidence import Finding
from surestep.http import Request, after_effect, exchange
from tests.http import tools
from tests.http.servers import answering, serving

KEY = "step-1/charge"

# fault, effects in the ledger
FAULTS = [
    ("reply_lost", 1),
    ("reply_reset", 1),
    ("hang", 1),
    ("hang_uncommitted", 0),
    ("never_arrives", 0),
    ("reset_before", 0),
    ("slow:3", 1),
    ("error_after:500", 1),
    ("error_before:500", 0),
    ("error_after:502", 1),
    ("error_after:503", 1),
    ("error_before:503", 0),
    ("error_after:504", 1),
    ("error_after:522", 1),
    ("error_after:408", 1),
    ("error_before:409", 0),
    ("error_before:412", 0),
    ("error_before:425", 0),
    ("truncated", 1),
    ("truncated_status", 1),
    ("corrupt_encoding", 1),
    ("html", 1),
    ("html_uncommitted", 0),
    ("empty", 1),
    ("huge:6000000", 1),
    ("drip:20", 1),
    ("other_content", 1),
    *((f"redirect:{code}", 1) for code in (301, 302, 303, 307, 308)),
    ("redirect_uncommitted:307", 0),
]


@pytest.mark.parametrize(("fault", "effects"), FAULTS, ids=[fault for fault, _ in FAULTS])
async def test_it_is_ambiguous_and_sent_once(fault, effects, at_world):
    await at_world.fault(KEY, write=[fault])
    with pytest.raises(Ambiguous) as caught:
        await tools.execute(tools.lookup, KEY, within=0.7)
    assert str(caught.value)
    assert await at_world.count(KEY) == effects
    assert [one.method for one in await at_world.requests()] == ["POST"]
    seen = await tools.verify(tools.lookup, KEY)
    if fault == "other_content":
        assert seen.differs == ("cents",)
    else:
        assert seen.finding is (Finding.CONFIRMED if effects else Finding.NOT_FOUND)


@pytest.mark.parametrize(
    "fault", ["honest", "twice", "huge:3000000", "slow_commit:0.2", "drip:0.2"]
)
async def test_a_whole_answer_is_a_receipt(fault, at_world):
    await at_world.fault(KEY, write=[fault])
    receipt = await tools.execute(tools.lookup, KEY)
    assert receipt.id in {effect.id for effect in await at_world.effects(KEY)}


async def _commit_and_close_unread(peer):
    await peer.head()


async def _close_at_once(peer):
    peer.close()


async def _reset_at_once(peer):
    peer.reset()


async def _garbage(peer):
    await peer.request()
    await peer.say(b"\x00\x01\x02 not HTTP at all\r\n\r\n")


async def _switching(peer):
    await peer.request()
    await peer.say(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")


async def _continues_for_ever(peer):
    await peer.request()
    await peer.say(b"HTTP/1.1 100 Continue\r\n\r\n")
    await peer.gone()


async def _headers_without_end(peer):
    await peer.request()
    await peer.say(b"HTTP/1.1 201 Created\r\n" + b"X-Padding: " + b"x" * 200_000)
    await peer.gone()


async def _chunk_cut(peer):
    await peer.request()
    await peer.say(b'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"')


@pytest.mark.parametrize(
    "behaviour",
    [
        _commit_and_close_unread,
        _close_at_once,  # the keep-alive race: closed before anything was read
        _reset_at_once,
        _garbage,
        _switching,
        _continues_for_ever,
        _headers_without_end,
        _chunk_cut,
        answering("201 Created", b"[1]"),
        answering("201 Created", b'{"id": null}'),
        answering("201 Created", b'{"id": true}'),
        answering("201 Created", b'{"id": NaN}'),
        answering("200 OK", b"\xff\xfe"),
        answering("204 No Content"),
        answering("207 Multi-Status", b'{"results": [{"status": 400}]}'),
        answering("299 Odd", b""),
        answering("304 Not Modified"),
        answering("600 Beyond", b"{}"),
    ],
)
async def test_whatever_else_a_server_does_is_ambiguous(behaviour, at_raw):
    async with at_raw(behaviour) as raw:
        with pytest.raises(Ambiguous) as caught:
            await tools.execute(tools.raw(), within=0.6)
    assert str(caught.value)
    assert raw.connections == 1


async def _reset_within_the_body(peer):
    await peer.head()
    peer.reset()


async def _silent_within_the_body(peer):
    await peer.head()
    await asyncio.Event().wait()


@pytest.mark.parametrize("behaviour", [_reset_within_the_body, _silent_within_the_body])
async def test_what_breaks_off_within_the_body_is_ambiguous(behaviour, at_raw):
    def large(args, call):
        return {"padding": "x" * 16_000_000}  # more than the socket's buffers take

    tool = tools.raw(request=Request("POST", "/charges", body=large))
    async with at_raw(behaviour) as raw:
        with pytest.raises(Ambiguous, match="while sending"):
            await tools.execute(tool, within=1)
    assert raw.connections == 1


async def test_a_connection_is_never_used_twice(at_raw):
    """So that no idle one can be closed under a request."""
    async with at_raw(answering("201 Created", b'{"id": "1"}')) as raw:
        await tools.execute(tools.raw())
        await tools.execute(tools.raw())
    assert raw.connections == 2
    assert all(b"\r\nconnection: close\r\n" in request.lower() for request in raw.requests)
    assert all(b"HTTP/1.1\r\n" in request for request in raw.requests)


async def test_a_redirect_is_followed_nowhere_with_our_key(at_raw):
    async with serving(answering("200 OK", b'{"id": "1"}')) as elsewhere:
        for status in ("302 Found", "307 Temporary Redirect"):
            moved = answering(status, b"", f"Location: {elsewhere.url()}/charges")
            async with at_raw(moved) as raw:
                with pytest.raises(Ambiguous, match=status[:3]):
                    await tools.execute(tools.raw())
            assert raw.connections == 1
    assert elsewhere.connections == 0


async def test_after_the_effect_no_error_is_definite(at_world):
    """A second request's refusal must not speak for the first."""

    async def pay_and_tag():
        await exchange("POST", f"{at_world.url}/lookup/effects", key=KEY, json={"cents": 1})
        with after_effect():
            await exchange("GET", f"{at_world.url}/lookup/effects/none")

    with pytest.raises(Ambiguous, match="after the effect was sent: the service answered 404"):
        await pay_and_tag()
    assert await at_world.count(KEY) == 1


async def test_after_the_effect_a_success_and_other_errors_pass():
    with after_effect():
        pass
    with pytest.raises(KeyError), after_effect():
        raise KeyError
    with pytest.raises(Ambiguous), after_effect():
        raise Refused("no")


async def test_the_two_truths_of_a_closed_connection(at_world):
    for key, fault, seen in (
        ("step-1/a", "reply_lost", confirmed()),
        ("step-1/b", "never_arrives", not_found()),
    ):
        await at_world.fault(key, write=[fault])
        with pytest.raises(Ambiguous, match="RemoteProtocolError"):
            await tools.execute(tools.lookup, key)
        assert (await tools.verify(tools.lookup, key)).finding is seen.finding


def test_the_receipt_of_an_answer_holds_nothing_that_was_not_asked_for():
    assert tools.SHOWN.receipt({"id": 7, "card": "4242"}) == Receipt(id="7")
