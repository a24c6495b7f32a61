"""Through a proxy's tunnel the request itself decides: the tunnel's own exchange proves nothing."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from surestep import Ambiguous, Refused
from surestep.http import transport
from tests.http import tools
from tests.http.servers import HOST, answering, serving


async def passed_on(source, target):
    with suppress(ConnectionError, asyncio.CancelledError):
        while octets := await source.read(65536):
            target.write(octets)
            await target.drain()
    target.close()


@asynccontextmanager
async def tunnel():
    """A proxy that opens tunnels to wherever it is asked; it gives its URL."""

    async def accepted(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        port = int(head.split(b" ")[1].rpartition(b":")[2])
        behind, to_behind = await asyncio.open_connection(HOST, port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(passed_on(reader, to_behind), passed_on(behind, writer))

    server = await asyncio.start_server(accepted, HOST, 0)
    try:
        yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@pytest.fixture
def trusted(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    transport._trusted.cache_clear()
    yield certificate.context
    transport._trusted.cache_clear()


async def _reads_and_closes(peer):
    await peer.request()


async def _reads_and_resets(peer):
    await peer.request()
    peer.reset()


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (_reads_and_closes, Ambiguous),
        (_reads_and_resets, Ambiguous),
        (answering("502 Bad Gateway"), Ambiguous),
        (answering("403 Forbidden"), Refused),
        (answering("201 Created", b'{"id": "1"}'), None),
    ],
)
async def test_a_request_in_a_tunnel_is_read_like_any_other(behaviour, error, trusted, monkeypatch):
    async with serving(behaviour, tls=trusted) as raw, tunnel() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        monkeypatch.setenv("SERVICE_URL", raw.url("https"))
        if error is None:
            assert (await tools.execute(tools.raw())).id == "1"
        else:
            with pytest.raises(error):
                await tools.execute(tools.raw())
    assert [one.split()[0] for one in raw.requests] == [b"POST"]
