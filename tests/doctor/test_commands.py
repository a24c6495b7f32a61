"""`starter.py doctor` and `starter.py setup`, as they are typed."""

import asyncio

import pytest

from surestep.doctor.checkup import CHECKS
from surestep.embedded_process import free_port
from surestep.registration import registered
from surestep.visibility import SEARCH_ATTRIBUTES
from tests.cli.conftest import Terminal

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_doctor_prints_a_table_or_a_document_and_ends_with_a_code(server, tmp_path):
    there = Terminal(
        tmp_path,
        TEMPORAL_ADDRESS=server.address,
        SURESTEP_TOOLS="tests.doctor.tools:sound",
        SURESTEP_TASK_QUEUE="nobody",
    )
    gone = there.where(TEMPORAL_ADDRESS=f"127.0.0.1:{free_port()}", SURESTEP_TOLS="x")
    shown, told, unreached = await asyncio.gather(
        there("doctor"), there("doctor", "--json"), gone("doctor")
    )

    assert shown.code == 16
    assert shown.width <= 80
    assert "problem workers none asks for work on the queue 'nobody'." in shown.shown
    assert "→ Start one with `python worker.py`" in shown.shown

    assert told.code == 16
    assert told.json["ok"] is False
    assert told.json["reached"] is True
    fields = {"check", "level", "what", "meaning", "remedy"}
    assert all(set(one) == fields for one in told.json["findings"])
    assert {one.name for one in CHECKS} <= {one["check"] for one in told.json["findings"]}

    assert unreached.code == 3
    assert "Did you mean SURESTEP_TOOLS?" in unreached.shown
    assert "cannot be reached" in unreached.shown


async def test_setup_can_be_run_by_several_at_once_and_again(client, server, tmp_path):
    before = Terminal(tmp_path, TEMPORAL_ADDRESS=server.address, TEMPORAL_NAMESPACE="together")
    days = (7, 7, 9)
    ended = await asyncio.gather(
        *(before("setup", "--create-namespace", "--retention-days", str(one)) for one in days)
    )
    assert [one.code for one in ended] == [0, 0, 0], [one.err for one in ended]
    assert sum("created" in one.out for one in ended) == 1
    assert any("temporal operator namespace update" in one.out for one in ended)
    new = type(client)(**{**client.config(), "namespace": "together"})
    assert await registered(new) == SEARCH_ATTRIBUTES
    again = await before("setup")
    assert again.code == 0
    assert again.out.count("existed") == len(SEARCH_ATTRIBUTES)
    # Whoever starts next can ask at once: queries know what setup has said.
    await new.count_workflows(" OR ".join(f"{name} IS NULL" for name in SEARCH_ATTRIBUTES))
