"""Refusals are definite: nothing was applied, and the words say why without repeating secrets."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from surestep import Ambiguous, Receipt, Refused
from surestep.evidence import Sending
from surestep.http import Key, Request, Rule, Service, Shape, bearer, env, exchange
from tests.http import tools
from tests.http.servers import answering, serving

KEY = "step-1/charge"
PROBLEM = "Content-Type: application/problem+json"


def problem(status, *headers, **members):
    return answering(status, json.dumps(members).encode(), PROBLEM, *headers)


@pytest.mark.parametrize("status", [400, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431])
async def test_a_refusal_is_final(status, at_world):
    await at_world.fault(KEY, write=[f"refuse:{status}"])
    with pytest.raises(Refused, match=str(status)) as caught:
        await tools.execute(tools.keyed, KEY)
    assert not caught.value.again
    assert await at_world.count(KEY) == 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("Retry-After: 7", 7),
        ("Retry-After: 99999999999999999999", 86_400),
        ("Retry-After: in five minutes", 300),
        (f"Retry-After: {format_datetime(datetime(2020, 1, 1, tzinfo=UTC))}", 0),
        ("Retry-After: soon", None),
        ("Retry-After: -5", None),
        ("Retry-After: ²", None),
        ("X-Other: 1", None),
    ],
)
async def test_a_pause_that_is_asked_for_is_kept(header, seconds, at_raw):
    name, _, value = header.partition(": ")
    if value == "in five minutes":
        value = format_datetime(datetime.now(UTC) + timedelta(minutes=5))
    behaviour = problem("429 Too Many", f"{name}: {value.encode().decode('latin-1')}")
    async with at_raw(behaviour):
        with pytest.raises(Refused) as caught:
            await tools.execute(tools.raw())
    assert caught.value.again
    pause = caught.value.retry_after
    if seconds is None:
        assert pause is None
    else:
        assert pause.total_seconds() == pytest.approx(seconds, abs=30)


async def _too_large_then_reads_on(peer):
    await peer.head()
    await peer.answer("413 Content Too Large", b"x" * 10)
    await peer.gone()


async def _too_large_then_closes(peer):
    await peer.head()
    await peer.answer("413 Content Too Large", b"x" * 10)


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (_too_large_then_reads_on, Refused),
        # Unread bytes make the kernel send RST, and an RST may take the answer with it.
        (_too_large_then_closes, (Refused, Ambiguous)),
    ],
)
async def test_an_early_413_is_believed_if_it_arrives(behaviour, error, at_raw):
    def large(args, call):
        return {"padding": "x" * 8_000_000}  # more than the socket's buffers take

    tool = tools.raw(request=Request("POST", "/charges", body=large))
    async with at_raw(behaviour) as raw:
        with pytest.raises(error):
            await tools.execute(tool)
    assert raw.connections == 1


@pytest.mark.parametrize("status", ["403 Forbidden", "404 Not Found", "429 Too Many Requests"])
async def test_a_refusal_whose_body_breaks_off_is_still_one(status, at_raw):
    async def cut(peer):
        await peer.request()
        await peer.say(f"HTTP/1.1 {status}\r\nContent-Length: 500\r\n\r\nhalf".encode())

    async with at_raw(cut):
        with pytest.raises(Refused, match=status[:3]):
            await tools.execute(tools.raw())


@pytest.mark.parametrize("status", ["400 Bad Request", "409 Conflict", "422 Unprocessable"])
async def test_where_a_code_could_turn_it_around_the_body_must_be_whole(status, at_raw):
    async def cut(peer):
        await peer.request()
        await peer.say(f"HTTP/1.1 {status}\r\nContent-Length: 500\r\n\r\nhalf".encode())

    async with at_raw(cut):
        with pytest.raises(Ambiguous):
            await tools.execute(tools.raw())


class TestTheKey:
    """What a service says about our key itself."""

    async def test_without_a_key_a_service_refuses(self, at_world):
        naked = tools.tool(
            "naked", "keyed", key=Key(header=None), promised={"ask": True}, looks=False
        )
        with pytest.raises(Refused, match="did not see our key"):
            await tools.execute(naked, KEY)
        assert await at_world.count() == 0

    async def test_in_progress_is_tried_again_under_the_same_key(self, at_world):
        await at_world.fault(KEY, write=["late_hang:0.6"])
        with pytest.raises(Ambiguous):
            await tools.execute(tools.keyed, KEY, within=0.3)
        with pytest.raises(Refused, match="in_progress") as caught:
            await tools.execute(tools.keyed, KEY)
        assert caught.value.again

    async def test_in_progress_is_no_refusal_where_the_contract_knows_no_key(self, at_raw):
        async with at_raw(problem("409 Conflict", code="in_progress")):
            with pytest.raises(Ambiguous):
                await tools.execute(tools.raw(promised={"ask": True}))
            with pytest.raises(Refused):
                await tools.execute(tools.raw())

    async def test_other_content_under_our_key_is_looked_at(self, at_world):
        await tools.execute(tools.keyed, KEY)
        with pytest.raises(Ambiguous, match="other content"):
            await tools.execute(tools.keyed, KEY, cents=9900)
        assert (await tools.verify(tools.keyed, KEY, cents=9900)).differs == ("cents",)
        assert await at_world.count(KEY) == 1

    @pytest.mark.parametrize(
        ("status", "members", "error", "again"),
        [
            ("400 x", {"title": "Idempotency-Key is missing"}, Refused, False),
            ("422 x", {"title": "Idempotency-Key is already used"}, Ambiguous, None),
            (
                "409 x",
                {"title": "A request is outstanding for this Idempotency-Key"},
                Refused,
                True,
            ),
            ("409 x", {}, Ambiguous, None),
            ("409 x", {"title": "Conflict"}, Ambiguous, None),
            ("422 x", {"title": "cents must be positive"}, Refused, False),
            ("400 x", {"error": {"type": "idempotency_error"}}, Ambiguous, None),
            ("409 x", {"error": {"code": "idempotency_key_in_use"}}, Refused, True),
            ("400 x", {"type": "https://e.example/p/key_mismatch"}, Ambiguous, None),
        ],
    )
    async def test_the_draft_and_what_services_make_of_it(
        self, status, members, error, again, at_raw
    ):
        async with at_raw(problem(status, **members)):
            with pytest.raises(error) as caught:
                await tools.execute(tools.raw())
        if again is not None:
            assert caught.value.again is again


class TestAServicesOwnTable:
    """Rules go before the general table."""

    @staticmethod
    def tool(*rules, **parts):
        return tools.raw(service=Service(env("SERVICE_URL"), rules=rules), **parts)

    async def test_its_503_is_before_execution(self, at_raw):
        tool = self.tool(Rule(503, Sending.REFUSED_FOR_NOW, why="its gateway is full"))
        async with at_raw(answering("503 Busy", b"", "Retry-After: 3")):
            with pytest.raises(Refused, match=r"503.*its gateway is full") as caught:
                await tools.execute(tool)
        assert caught.value.again
        assert caught.value.retry_after == timedelta(seconds=3)

    async def test_its_409_is_our_own_effect(self, at_raw):
        tool = self.tool(Rule(409, Sending.ANSWERED, "duplicate_content"))
        async with at_raw(problem("409 Conflict", code="duplicate_content", id="ch_1")):
            assert await tools.execute(tool) == Receipt(id="ch_1")
        async with at_raw(problem("409 Conflict", code="something_else")):
            with pytest.raises(Ambiguous):
                await tools.execute(tool)

    async def test_its_200_carries_an_error(self, at_raw):
        tool = self.tool(Rule(200, Sending.REFUSED, "card_declined"))
        async with at_raw(answering("200 OK", b'{"id": "1", "error": {"code": "card_declined"}}')):
            with pytest.raises(Refused, match="card_declined"):
                await tools.execute(tool)

    async def test_its_404_proves_nothing(self, at_raw):
        async with at_raw(answering("404 Not Found")):
            with pytest.raises(Ambiguous):
                await tools.execute(self.tool(Rule(404, Sending.AMBIGUOUS)))

    async def test_a_code_goes_before_a_bare_status_and_before_the_draft(self, at_raw):
        tool = self.tool(
            Rule(422, Sending.REFUSED_FOR_NOW), Rule(422, Sending.REFUSED, "key_mismatch")
        )
        async with at_raw(problem("422 x", code="key_mismatch")):
            with pytest.raises(Refused) as caught:
                await tools.execute(tool)
        assert not caught.value.again


class TestWords:
    """TH-09: what is raised is recorded, so it repeats nothing that was sent."""

    async def test_title_and_type_are_told_and_nothing_else(self, at_raw):
        members = {
            "type": "https://e.example/out-of-credit?account=77",
            "title": "You have no credit",
            "detail": "account 12345 of Ada",
            "instance": "/account/12345",
        }
        async with at_raw(problem("403 Forbidden", **members)):
            with pytest.raises(Refused) as caught:
                await tools.execute(tools.raw())
        assert str(caught.value) == (
            "the service answered 403 Forbidden; You have no credit; https://e.example/out-of-credit"
        )

    async def test_nothing_that_was_sent_comes_back(self, at_raw, monkeypatch):
        monkeypatch.setenv("TOKEN", "tok-secret-123")
        tool = tools.raw(service=Service(env("SERVICE_URL"), bearer(env("TOKEN"))))
        card = "4242424242424242"
        members = {
            "code": "tok-secret-123",
            "title": f"card {card} with Bearer tok-secret-123",
            "detail": card,
        }
        async with at_raw(problem(f"400 {card}", **members)):
            with pytest.raises(Refused) as caught:
                await tools.execute(tool, order=card)
        assert str(caught.value) == "the service answered 400 Bad Request"
        async with serving(answering("500 Oops", f"{card} tok-secret-123".encode())) as raw:
            with pytest.raises(Ambiguous) as caught:
                await exchange("POST", f"{raw.url()}/?card={card}", json={"card": card})
        assert str(caught.value) == "the service answered 500 Internal Server Error"

    async def test_words_are_bounded_and_printable(self, at_raw):
        async with at_raw(problem("403 x", title="a\x1b[31m\n" * 100_000, code="c" * 10_000)):
            with pytest.raises(Refused) as caught:
                await tools.execute(tools.raw())
        assert len(str(caught.value)) < 400
        assert str(caught.value).isprintable()


async def test_an_effect_that_the_service_calls_failed_is_refused(at_raw):
    tool = tools.raw(shape=Shape(states=tools.States(failed=frozenset({"declined"}))))
    async with at_raw(answering("201 Created", b'{"id": "1", "status": "declined"}')):
        with pytest.raises(Refused, match="declined"):
            await tools.execute(tool)
