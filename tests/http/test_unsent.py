"""What provably was not sent: no byte of the request reached a service, and NotSent says so."""

import asyncio
import socket
from datetime import timedelta

import pytest

from surestep import Ambiguous, NotSent
from surestep.http import exchange, transport
from surestep.http.proof import Track
from surestep.http.transport import Outgoing, converse
from tests.http import tools
from tests.http.servers import HOST, answering, closed_port, serving
from tests.waiting import eventually

CREATED = answering("201 Created", b'{"id": "1"}')


async def test_a_refused_connection(monkeypatch):
    monkeypatch.setenv("SERVICE_URL", f"http://{HOST}:{closed_port()}")
    with pytest.raises(NotSent, match="ConnectError"):
        await tools.execute(tools.raw())


async def test_a_name_that_does_not_resolve(monkeypatch):
    monkeypatch.setenv("SERVICE_URL", "http://no-such-host.invalid")
    with pytest.raises(NotSent, match=r"not connected"):
        await tools.execute(tools.raw(), within=5)


async def test_a_connection_that_is_never_accepted(monkeypatch):
    """A full backlog swallows SYNs; where the kernel accepts all the same, nothing is read."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        await asyncio.sleep(0.05)
        monkeypatch.setenv("SERVICE_URL", f"http://{HOST}:{listener.getsockname()[1]}")
        with pytest.raises(NotSent, match="not connected"):
            await tools.execute(tools.raw(), within=1)
        for filler in fillers:
            filler.close()


@pytest.mark.parametrize("url", ["ftp://example.com", "https://", "http://exa mple", "nowhere"])
async def test_an_address_that_is_none(url, monkeypatch):
    monkeypatch.setenv("SERVICE_URL", url)
    with pytest.raises(NotSent):
        await tools.execute(tools.raw())
    with pytest.raises(NotSent):
        await exchange("POST", url, json={})


async def test_a_tls_handshake_with_a_server_that_speaks_plain_http(monkeypatch):
    async def plain(peer):
        await peer.answer("400 Bad Request", b"plain HTTP only")

    async with serving(plain) as raw:
        monkeypatch.setenv("SERVICE_URL", raw.url("https"))
        with pytest.raises(NotSent, match="ConnectError"):
            await tools.execute(tools.raw())
    assert raw.connections == 1
    assert raw.requests == []


async def test_a_certificate_that_is_not_trusted(certificate, monkeypatch):
    async with serving(CREATED, tls=certificate.context) as raw:
        monkeypatch.setenv("SERVICE_URL", raw.url("https"))
        with pytest.raises(NotSent, match="ConnectError"):
            await tools.execute(tools.raw())
    assert raw.requests == []


async def _refuse_tunnel(peer):
    await peer.request()
    await peer.answer("502 Bad Gateway", b"no")


async def _drop_tunnel(peer):
    await peer.request()


async def _hang_tunnel(peer):
    await peer.request()
    await peer.gone()


@pytest.mark.parametrize("proxy", [_refuse_tunnel, _drop_tunnel, _hang_tunnel])
async def test_a_proxy_that_opens_no_tunnel(proxy, monkeypatch):
    async with serving(proxy) as raw:
        monkeypatch.setenv("HTTPS_PROXY", raw.url())
        monkeypatch.setenv("SERVICE_URL", "https://service.invalid")
        with pytest.raises(NotSent, match="not connected"):
            await tools.execute(tools.raw(), within=0.6)
    assert [one.split()[0] for one in raw.requests] == [b"CONNECT"]
    assert b"o-1" not in b"".join(raw.requests)


async def test_a_plain_proxy_that_answers_for_the_service_proves_nothing(monkeypatch):
    """Not through a tunnel, the same 502 is an answer: the proxy may have passed the request on."""
    async with serving(_refuse_tunnel) as raw:
        monkeypatch.setenv("HTTP_PROXY", raw.url())
        monkeypatch.setenv("SERVICE_URL", "http://service.invalid")
        with pytest.raises(Ambiguous, match="502"):
            await tools.execute(tools.raw())
    assert raw.requests[0].startswith(b"POST http://service.invalid/charges")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1"),  # httpx needs an extra for it
        ("ALL_PROXY", "gopher://127.0.0.1:1"),
        ("SSL_CERT_FILE", "/nowhere.pem"),
    ],
)
async def test_an_environment_in_which_no_client_can_be_made(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    transport._trusted.cache_clear()
    async with serving(CREATED) as raw:
        monkeypatch.setenv("SERVICE_URL", raw.url())
        with pytest.raises(NotSent, match="cannot be built"):
            await tools.execute(tools.raw())
    transport._trusted.cache_clear()
    assert raw.connections == 0


@pytest.mark.parametrize(
    "given",
    [
        {"key": "schlüssel"},
        {"key": "two\nlines"},
        {"headers": {"X-Note": "naïve"}},
        {"headers": {"X-Note": "a\r\nX-Other: b"}},
        {"json": {"rate": float("nan")}},
        {"json": {"rate": float("inf")}},
        {"json": {"when": object()}},
        {"json": "\ud800", "headers": {"X": "\ud800"}},
    ],
    ids=lambda given: next(iter(given)),
)
async def test_a_request_that_cannot_be_written_down(given):
    async with serving(CREATED) as raw:
        with pytest.raises(NotSent):
            await exchange("POST", raw.url(), **given)
    assert raw.requests == []


async def test_a_cancellation_before_the_first_byte(monkeypatch):
    async with serving(_hang_tunnel) as raw:
        monkeypatch.setenv("HTTPS_PROXY", raw.url())
        monkeypatch.setenv("SERVICE_URL", "https://service.invalid")
        task = asyncio.create_task(tools.execute(tools.raw(), within=20))
        await eventually(lambda: asyncio.sleep(0, raw.requests))
        task.cancel()
        with pytest.raises(NotSent, match="stopped while connecting"):
            await task


async def test_a_cancellation_after_the_first_byte_stays_a_cancellation(at_world):
    await at_world.fault("step-1/charge", write=["hang"])
    task = asyncio.create_task(tools.execute(tools.lookup, within=20))
    await eventually(lambda: at_world.count("step-1/charge"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_deadline_that_has_passed_sends_nothing(at_world):
    with pytest.raises(NotSent, match="no time"):
        await tools.execute(tools.keyed, within=-1)
    assert await at_world.requests() == []


async def test_the_phases_of_an_exchange_are_those_that_httpcore_tells():
    """Should an update rename the events, this fails before "not sent" can be a lie."""
    seen, track = [], Track()

    class Spy:
        phase, left_before = track.phase, False
        begin = staticmethod(track.begin)

        @staticmethod
        async def trace(event, info):
            await track.trace(event, info)
            seen.append((event, str(track.phase)))

    async with serving(CREATED) as raw:
        outgoing = Outgoing("POST", raw.url(), {}, b"{}")
        await converse(outgoing, timedelta(seconds=2), Spy)
    told = dict(reversed(seen))
    assert told["connection.connect_tcp.started"] == "connecting"
    assert told["connection.connect_tcp.complete"] == "connecting"
    assert told["http11.send_request_headers.started"] == "sending"
    assert {phase for _, phase in seen[2:]} == {"sending"}
