"""The whole examination: settings and connection first, and no check stops another."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from surestep import Tools
from surestep.doctor.checkup import CHECKS, Check, made
from surestep.doctor.configuration import read_settings
from surestep.doctor.finding import Level
from surestep.doctor.patient import Patient
from surestep.doctor.reaching import reached
from surestep.embedded_process import free_port
from surestep.settings import Settings
from tests.steps.server import Server
from tests.waiting import eventually
from worker import build_worker

from .finding import only, seen, wrong
from .tools import charge

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_doctor_finds_nothing_where_nothing_is_wrong(examined, client):
    async with build_worker(client, Tools(charge), task_queue="sound", grace=timedelta(0)):
        await seen(client, "sound")
        healthy = await examined(
            SURESTEP_TOOLS="tests.doctor.tools:sound", SURESTEP_TASK_QUEUE="sound"
        )
    assert wrong(healthy.findings) == []
    assert healthy.reached
    assert healthy.ok


async def test_without_a_server_the_doctor_checks_what_can_be_checked(examined, monkeypatch):
    monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{free_port()}")
    alone = await examined(SURESTEP_TOOLS="tests.doctor.tools:sound", SURESTEP_GRACE="soon")
    assert not alone.reached
    assert wrong(alone.findings) == [("settings", "problem"), ("connection", "problem")]
    assert {"tools", "contracts", "decisions", "files"} < {one.check for one in alone.findings}


async def test_the_doctor_names_every_setting_that_is_unknown_or_wrong_and_reads_the_others():
    env = {
        "SURESTEP_GRACE": "soon",
        "SURESTEP_QUEUE": "x",
        "SURESTEP_SMTP": "secret",
        "SURESTEP_TASK_QUEUE": "ours",
        "TEMPORAL_ADRESS": "temporal:7233",
        "TEMPORAL_GRPC_META_TEAM": "x",
    }
    settings, found = read_settings(env)
    assert settings.task_queue == "ours"
    assert wrong(found) == [("settings", "problem")] * 3 + [("settings", "warning")]
    assert [one.what.split()[0].partition("=")[0] for one in found] == [
        "SURESTEP_GRACE", "SURESTEP_QUEUE", "SURESTEP_SMTP", "TEMPORAL_ADRESS",
    ]  # fmt: skip
    assert all(only([one]) for one in found)
    assert "secret" not in str(found)


async def test_the_doctor_does_not_start_the_embedded_server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TEMPORAL_ADDRESS", raising=False)
    async with reached(Settings(home=tmp_path / "home")) as (client, finding):
        assert client is None
    assert only([finding]).level is Level.PROBLEM
    assert "no embedded server runs" in finding.what
    assert not (tmp_path / "home").exists()


async def test_the_doctor_knows_a_configuration_of_temporal_that_cannot_be_read(
    examined, monkeypatch
):
    monkeypatch.setenv("TEMPORAL_PROFILE", "nobody")
    (finding,) = [one for one in (await examined()).findings if one.check == "connection"]
    assert "nobody" in only([finding]).what


async def test_each_check_has_its_own_time_and_a_frozen_server_ends_none_of_them(tmp_path):
    frozen = Server(tmp_path)
    await frozen.start()
    try:
        patient = Patient(client=await frozen.client())
        frozen.freeze()
        quick = [replace(one, within=timedelta(seconds=0.1)) for one in CHECKS]
        asking = [one for one in quick if one.needs_server]

        async def all_end_in_time() -> bool:  # an answer that was under way may still come
            found = await asyncio.gather(*(made(one, patient) for one in asking))
            return all("within 0.1 s" in only(one).what for one in found)

        await eventually(all_end_in_time)
    finally:
        await frozen.end()


async def test_the_doctor_says_a_missing_namespace_or_attribute_once_and_goes_on(
    examined, bare, monkeypatch
):
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "nowhere")
    assert [one for one, _ in wrong((await examined()).findings)] == ["tools", "namespace"]
    monkeypatch.setenv("TEMPORAL_NAMESPACE", bare.namespace)
    found = (await examined()).findings
    (questions,) = [one for one in found if one.check == "questions"]
    assert questions.what == "could not be found out without the search attributes"


async def test_a_check_that_fails_by_itself_is_a_finding_and_not_the_end():
    async def broken(patient):
        raise KeyError("hush")

    finding = only(await made(Check("broken", broken), Patient()))
    assert (finding.level, "hush" in finding.what) == (Level.PROBLEM, False)
