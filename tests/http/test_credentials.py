"""Address and credentials are read when something is sent, and go to one origin only."""

import asyncio

import pytest

from surestep import Ambiguous, ContractError, NotSent, Refused
from surestep.evidence import Sending
from surestep.http import Rule, Service, bearer, env, header
from tests.http import tools
from tests.http.servers import answering

UNAUTHORIZED = "401 Unauthorized"


def wants(token):
    """Lets in who has the token; anybody else gets a 401."""

    async def behaviour(peer):
        request = await peer.request()
        if f"Bearer {token}".encode() in request:
            await peer.answer("201 Created", b'{"id": "ch_1"}')
        else:
            await peer.answer(UNAUTHORIZED)

    return behaviour


class Tokens:
    """Credentials that are bad until they are asked to be fresh."""

    def __init__(self, stale="old", fresh="new"):
        self.stale, self.fresh, self.asked = stale, fresh, []

    async def __call__(self, refused):
        self.asked.append(refused)
        await asyncio.sleep(0)
        if refused:
            self.stale = self.fresh
        return {"Authorization": f"Bearer {self.stale}"}


def tool(credentials, **options):
    return tools.raw(service=Service(env("SERVICE_URL"), credentials, **options))


async def test_what_the_environment_says_now_is_sent(at_raw, monkeypatch):
    made = tool(bearer(env("TOKEN")))
    async with at_raw(wants("later")) as raw:
        monkeypatch.setenv("TOKEN", "later")
        assert (await tools.execute(made)).id == "ch_1"
    assert raw.connections == 1


@pytest.mark.parametrize("unset", ["SERVICE_URL", "TOKEN"])
async def test_what_is_not_set_keeps_the_action_unsent(unset, at_raw, monkeypatch):
    monkeypatch.setenv("TOKEN", "t")
    async with at_raw(wants("t")) as raw:
        monkeypatch.delenv(unset)
        with pytest.raises(NotSent, match=f"{unset} is not set"):
            await tools.execute(tool(bearer(env("TOKEN"))))
    assert raw.connections == 0


async def test_a_401_refreshes_once_within_the_attempt(at_raw):
    tokens = Tokens()
    async with at_raw(wants("new")) as raw:
        assert (await tools.execute(tool(tokens))).id == "ch_1"
    assert tokens.asked == [False, True]
    first, second = raw.requests
    assert first.replace(b"Bearer old", b"Bearer new") == second  # key and body are identical


async def test_a_second_401_is_refused_for_now(at_raw):
    async with at_raw(wants("other")) as raw:
        with pytest.raises(Refused, match="401") as caught:
            await tools.execute(tool(Tokens()))
    assert caught.value.again
    assert raw.connections == 2


async def test_credentials_that_stay_the_same_are_not_tried_twice(at_raw):
    async with at_raw(wants("other")) as raw:
        with pytest.raises(Refused) as caught:
            await tools.execute(tool(Tokens(fresh="old")))
    assert caught.value.again
    assert raw.connections == 1


async def test_a_401_that_proves_nothing_is_not_followed_by_another_request(at_raw):
    odd = Rule(401, Sending.AMBIGUOUS)
    async with at_raw(wants("new")) as raw:
        with pytest.raises(Ambiguous):
            await tools.execute(tool(Tokens(), rules=(odd,)))
    assert raw.connections == 1


async def test_a_refresh_that_fails_leaves_the_refusal(at_raw):
    async def credentials(refused):
        if refused:
            raise RuntimeError("the token service says secret-9")
        return {"Authorization": "Bearer old"}

    async with at_raw(wants("new")):
        with pytest.raises(Refused) as caught:
            await tools.execute(tool(credentials))
    assert caught.value.again
    assert "secret-9" not in str(caught.value)


async def test_the_second_request_keeps_its_own_doubt(at_raw):
    async def behaviour(peer):
        request = await peer.request()
        if b"Bearer old" in request:
            await peer.answer(UNAUTHORIZED)

    async with at_raw(behaviour) as raw:
        with pytest.raises(Ambiguous):
            await tools.execute(tool(Tokens()))
    assert raw.connections == 2


@pytest.mark.parametrize("error", [RuntimeError("x"), Refused("x"), Ambiguous("x"), KeyError("x")])
async def test_credentials_that_cannot_be_had_are_definite(error, at_raw):
    def credentials(_):
        raise error

    async with at_raw(wants("t")) as raw:
        with pytest.raises(NotSent, match="credentials could not be had"):
            await tools.execute(tool(credentials))
    assert raw.connections == 0


async def test_slow_credentials_are_within_the_deadline(at_raw):
    async def credentials(_):
        await asyncio.sleep(60)
        return {}

    async with at_raw(wants("t")) as raw:
        with pytest.raises(NotSent, match="TimeoutError"):
            await tools.execute(tool(credentials), within=0.3)
    assert raw.connections == 0


async def test_a_credential_that_no_header_can_hold_is_definite(at_raw, monkeypatch):
    monkeypatch.setenv("TOKEN", "schlüssel")
    async with at_raw(wants("t")) as raw:
        with pytest.raises(NotSent) as caught:
            await tools.execute(tool(header("X-Api-Key", env("TOKEN"))))
    assert "schl" not in str(caught.value)
    assert raw.connections == 0


async def test_a_base_url_may_have_a_path_and_come_from_anywhere(at_raw):
    async with at_raw(answering("201 Created", b'{"id": "1"}')) as raw:

        async def base():
            return f"{raw.url()}/api/v1/"

        await tools.execute(tools.raw(service=Service(base, headers={"X-Version": "7"})))
    assert raw.requests[0].startswith(b"POST /api/v1/charges HTTP/1.1\r\n")
    assert b"X-Version: 7\r\n" in raw.requests[0]


@pytest.mark.parametrize("base", ["http://h?x=1", "file:///etc", "", "h:80"])
async def test_a_base_that_is_no_address_is_definite(base):
    with pytest.raises(NotSent, match="base URL"):
        await tools.execute(tools.raw(service=Service(lambda: base)))


def test_a_name_is_not_taken_for_an_address():
    with pytest.raises(ContractError, match=r"env\('BILLING_URL'\)"):
        Service("BILLING_URL")
