"""The doctor and the tools: whether they load, and what in their contracts is doubtful."""

import textwrap
from datetime import timedelta
from typing import Annotated

import pytest
from pydantic import BaseModel

from surestep import ApprovalRule, Effect, Personal, Secret
from surestep.doctor.finding import Level
from surestep.doctor.loading import read_tools
from surestep.doctor.patient import Patient
from surestep.doctor.promises import check_promises
from surestep.doctor.sensitive import check_arguments
from surestep.doctor.telling import check_telling
from surestep.settings import Settings

from .finding import explained, only, wrong
from .tools import DAY, PROMISED, charge, keyed, tool

HOUR = timedelta(hours=1)
HERE = "tests.doctor.tools"


async def test_the_doctor_names_every_tool_that_cannot_be_loaded_and_loads_the_others():
    tools, found = await read_tools(
        [f"{HERE}:sound", f"{HERE}:absent", "tests.nowhere:tools", f"{HERE}:nothing",
         f"{HERE}:unchecked", f"{HERE}:namesake"]
    )  # fmt: skip
    assert [one.name for one in tools] == ["charge"]
    assert wrong(found) == [("tools", "problem")] * 5
    said = [explained(one).what for one in found]
    for words, one in zip(
        ("has no 'absent'", "no module 'tests.nowhere'", "neither a Tool nor", "has no execute",
         "two tools are named 'charge'"),
        [f"{one.what} {one.remedy}" for one in found],
        strict=True,
    ):  # fmt: skip
        assert words in one, said


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("raises", "raise ValueError('hush')", "ValueError"),
        ("leaves", "raise SystemExit(3)", "ImportError"),
        ("hangs", "import time; time.sleep(5)", "TimeoutError"),
    ],
)
async def test_the_doctor_survives_a_module_that(tmp_path, monkeypatch, capfd, name, code, words):
    (tmp_path / f"{name}_on_import.py").write_text(f"print('loud')\n{textwrap.dedent(code)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    _, found = await read_tools([f"{name}_on_import:tools"], within=timedelta(seconds=0.3))
    finding = only(found)
    assert finding.level is Level.PROBLEM
    assert words in finding.what
    assert "hush" not in finding.what
    out, err = capfd.readouterr()
    assert (out, "loud" in err) == ("", True)


async def test_the_doctor_says_that_it_knows_no_tools():
    assert only((await read_tools([]))[1]).level is Level.WARNING


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (tool("a", key=keyed(DAY)), "promises no in_flight"),
        (tool("b", in_flight=HOUR / 60, visibility_lag=HOUR * 0, patience=HOUR), "at once"),
        (tool("c", key=keyed(), in_flight=HOUR, visibility_lag=HOUR), "asks a person after"),
        (tool("d", key=keyed(), watch=HOUR * 0, **PROMISED), "watches an ended action"),
        (tool("e", key=keyed(), overdue_after=None, **PROMISED), "overdue_after=None"),
    ],
)
async def test_the_doctor_doubts_a_contract_that(made, words):
    finding = only(await check_promises(Patient(tools=(made,))))
    assert finding.level is Level.WARNING
    assert words in finding.what


async def test_the_doctor_doubts_no_sound_contract_and_no_read():
    read = tool("look", looks=False)
    read.contract = read.contract.model_copy(update={"effect": Effect.READ})
    assert only(await check_promises(Patient(tools=(charge, read)))).level is Level.OK


@pytest.mark.parametrize("promised", [{"ask": True}, {"approval": ApprovalRule(), "key": keyed()}])
async def test_the_doctor_says_when_questions_that_are_sure_to_come_reach_nobody(promised):
    made = tool("letter", looks=False, **promised)
    finding = only(await check_telling(Patient(tools=(made,))))
    assert finding.level is Level.WARNING
    assert "letter asks people as a matter of course" in finding.what
    assert only(await check_telling(Patient(tools=(charge,)))).level is Level.OK


class Unmarked(BaseModel):
    api_key: str
    email: str


class Marked(BaseModel):
    api_key: Annotated[str, Secret("billing")]
    email: Annotated[str, Personal()]


async def test_the_doctor_points_at_arguments_that_look_secret_or_personal():
    made = tool("mail", key=keyed(), arguments=Unmarked, **PROMISED)
    finding = only(await check_arguments(Patient(tools=(made, charge))))
    assert (finding.level, finding.what) == (Level.WARNING, "mail takes api_key, email unmarked")


async def test_the_doctor_misses_secrets_that_arguments_may_name(tmp_path):
    made = tool("mail", key=keyed(), arguments=Marked, **PROMISED)
    no_folder = only(await check_arguments(Patient(tools=(made,))))
    assert (no_folder.level, "SURESTEP_SECRETS is not set" in no_folder.what) == (
        Level.PROBLEM,
        True,
    )
    there = Patient(Settings(secrets=tmp_path), (made,))
    missing = only(await check_arguments(there))
    assert (missing.level, "billing" in missing.what) == (Level.PROBLEM, True)
    (tmp_path / "billing").write_text("s3cret")
    assert only(await check_arguments(there)).level is Level.OK
