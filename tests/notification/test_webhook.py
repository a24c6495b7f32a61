"""One POST over a real wire: signed, bounded, and told only where the receiver says so."""

import re
import time
from datetime import timedelta
from pathlib import Path

import pytest

from surestep import Ambiguous, NotSent, Refused
from surestep.notification.message import Message
from surestep.notification.targets import targets
from surestep.notification.webhook import Webhook, signature
from tests.http.servers import closed_port, serving
from tests.notification.orders import order

SECRET = b"a secret of thirty-two characters"
MESSAGE = Message(order())


def webhook(url: str, secret: Path | None = None, within: float = 10) -> Webhook:
    (target,) = targets([url])
    return Webhook(target, secret, timedelta(seconds=within))


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_bytes(SECRET + b"\n")
    return path


@pytest.fixture(scope="module")
def is_genuine():
    """The check that the documentation gives to receivers."""
    page = (Path(__file__).parents[2] / "docs/notifications.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(code, names)
    return lambda body, header, secret: names["is_genuine"](body, header, secret)


async def test_the_receiver_can_verify_who_wrote_it_and_when(receiver, secret, is_genuine):
    await webhook(receiver.url(), secret).tell(MESSAGE)
    (request,) = receiver.requests()
    header = request.headers["surestep-signature"]
    assert is_genuine(request.body, header, SECRET)
    assert not is_genuine(request.body, header, b"another secret")
    assert not is_genuine(request.body.replace(b"unknown", b"settled"), header, SECRET)
    old = signature(SECRET, request.body, int(time.time()) - 3600)
    assert not is_genuine(request.body, old, SECRET)
    assert not is_genuine(request.body, header.replace("t=", "t=1"), SECRET)
    assert SECRET not in request.body


async def test_a_new_secret_is_used_from_the_next_message_on(receiver, secret, is_genuine):
    hook = webhook(receiver.url(), secret)
    await hook.tell(MESSAGE)
    secret.write_bytes(b"another secret of some length")
    await hook.tell(MESSAGE)
    for request, key in zip(receiver.requests(), (SECRET, secret.read_bytes()), strict=True):
        assert is_genuine(request.body, request.headers["surestep-signature"], key)


async def test_what_cannot_be_signed_is_not_sent(receiver, secret):
    hook = webhook(receiver.url(), secret)
    secret.unlink()
    with pytest.raises(NotSent, match="SURESTEP_NOTIFY_SECRET"):
        await hook.tell(MESSAGE)
    assert receiver.requests() == []


async def test_without_a_secret_there_is_no_signature(receiver):
    await webhook(receiver.url()).tell(MESSAGE)
    (request,) = receiver.requests()
    assert "surestep-signature" not in request.headers
    assert request.headers["surestep-message-id"] == MESSAGE.id
    assert request.headers["content-type"] == "application/json"


async def test_a_user_and_a_password_in_the_url_are_sent_as_basic_authentication(receiver):
    await webhook(receiver.url(credentials="user:word@")).tell(MESSAGE)
    (request,) = receiver.requests()
    assert request.headers["authorization"] == "Basic dXNlcjp3b3Jk"


@pytest.mark.parametrize("status", ["200", "201", "202", "204"])
async def test_every_2xx_means_told(receiver, status):
    receiver.fates["/hook"] = [status]
    await webhook(receiver.url()).tell(MESSAGE)


@pytest.mark.parametrize("status", ["400", "401", "404", "410", "429", "500", "503"])
async def test_anything_else_does_not(receiver, status):
    receiver.fates["/T0/SECRET"] = [status]
    with pytest.raises((Refused, Ambiguous), match=f"the service answered {status}") as failure:
        await webhook(receiver.url("/T0/SECRET", "user:PASSWORD@")).tell(MESSAGE)
    assert "SECRET" not in str(failure.value)
    assert "PASSWORD" not in str(failure.value)


async def test_a_redirect_is_not_followed(receiver):
    receiver.fates["/hook"] = ["redirect"]
    with pytest.raises(Ambiguous, match="302"):
        await webhook(receiver.url()).tell(MESSAGE)
    assert receiver.requests("/elsewhere") == []


async def test_a_receiver_that_hangs_is_given_up_at_the_deadline(receiver):
    receiver.fates["/hook"] = ["hold"]
    with pytest.raises(Ambiguous, match="TimeoutError"):
        await webhook(receiver.url(), within=0.5).tell(MESSAGE)


async def test_an_answer_without_end_is_not_read(receiver):
    async def endless(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await peer.say(b"x" * 65536)

    async with serving(endless) as raw:
        with pytest.raises(Ambiguous, match="ReadError"):
            await webhook(raw.url()).tell(MESSAGE)


async def test_where_nobody_listens_nothing_is_sent():
    with pytest.raises(NotSent, match="not connected"):
        await webhook(f"http://127.0.0.1:{closed_port()}/hook").tell(MESSAGE)
