"""Secrets in actions on the real server: resolved when it is time to send, and not before."""

from datetime import timedelta
from pathlib import Path

import pytest

from surestep import State, Surestep, Tools
from surestep.vault import folder
from tests.protection.echo import Echo
from tests.protection.tools import answered
from tests.steps.facts import told
from tests.waiting import eventually
from worker import build_worker

ARGUMENTS = {"order": "7", "email": "ada@example.org"}


@pytest.fixture
async def echo(monkeypatch):
    async with Echo.open() as running:
        monkeypatch.setenv("ECHO_URL", running.url)
        monkeypatch.setenv("ECHO_CREDENTIAL", "a-credential")
        yield running


async def test_an_action_whose_secret_is_missing_waits_and_goes_on_when_it_is_there(
    client, step_id, echo, tmp_path: Path
):
    queue, vault = step_id, folder(tmp_path)
    async with build_worker(
        client, Tools(answered), task_queue=queue, grace=timedelta(0), secrets=vault
    ):
        surestep = Surestep(client, task_queue=queue)
        handle = await surestep.start(step_id, answered(**ARGUMENTS))

        async def waits() -> bool:
            (record,) = await handle.records()
            return "names the secret 'billing-token', which is not there" in told(record)

        await eventually(waits)
        assert echo.requests == []
        (tmp_path / "billing-token").write_text("canary-value\n")
        outcome = await handle.outcome()
    assert outcome.state is State.CONFIRMED
    (request,) = echo.requests
    assert request.headers["x-token"] == "canary-value"
    assert b"canary-value" not in request.body
    assert "canary-value" not in str(outcome)
