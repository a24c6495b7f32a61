import shutil
import ssl
import subprocess
from types import SimpleNamespace

import pytest

from tests.http.servers import serving


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def at_world(world, monkeypatch):
    """The world, to which the tools at SERVICE_URL go."""
    monkeypatch.setenv("SERVICE_URL", world.url)
    return world


@pytest.fixture
def at_raw(monkeypatch):
    """`async with at_raw(behaviour) as raw:`, to which the tools at SERVICE_URL go."""

    def start(behaviour, **options):
        return _Directed(serving(behaviour, **options), monkeypatch)

    return start


class _Directed:
    def __init__(self, server, monkeypatch):
        self._server, self._monkeypatch = server, monkeypatch

    async def __aenter__(self):
        raw = await self._server.__aenter__()
        self._monkeypatch.setenv("SERVICE_URL", raw.url())
        return raw

    async def __aexit__(self, *error):
        await self._server.__aexit__(*error)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A server's `context`, with a certificate in `file` that nobody has signed."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    folder = tmp_path_factory.mktemp("tls")
    key, file = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(key), "-out", str(file)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return SimpleNamespace(context=context, file=file)
