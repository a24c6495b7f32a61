"""The doctor and the server: able or not, set up or not, of another time."""

from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from surestep.doctor.attributes import check_attributes
from surestep.doctor.clock import check_clock
from surestep.doctor.finding import Level
from surestep.doctor.patient import Patient, now
from surestep.doctor.server import check_limits, check_namespace, check_version
from surestep.embedded_process import find_binary
from surestep.registration import registered, told_by_queries
from surestep.visibility import SEARCH_ATTRIBUTES
from tests.steps.server import Server
from tests.waiting import eventually

from .conftest import CRIPPLED, configured
from .finding import only, wrong

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    ("oldest", "tried", "level", "words"),
    [
        ((1, 25), (1, 32), Level.OK, "Temporal 1.32"),
        ((1, 25), (1, 31), Level.WARNING, "newer than 1.31"),
        ((1, 25), (1, 33), Level.WARNING, "older than 1.33"),
        ((1, 33), (1, 33), Level.PROBLEM, "older than 1.33"),
    ],
)
async def test_the_doctor_compares_the_servers_version(client, oldest, tried, level, words):
    finding = only(await check_version(Patient(client=client), oldest=oldest, tried=tried))
    assert finding.level is level
    assert words in finding.what


async def test_the_doctor_says_when_a_server_does_not_tell_its_version():
    binary = find_binary()
    assert binary
    beside = binary.replace("/temporal", "/temporal-test-server")
    async with await WorkflowEnvironment.start_time_skipping(
        test_server_existing_path=beside
    ) as other:
        finding = only(await check_version(Patient(client=other.client)))
    assert finding.level is Level.WARNING
    assert "does not say its version" in finding.what


async def test_the_doctor_says_what_a_crippled_server_lacks(tmp_path):
    crippled = Server(tmp_path, more=configured(*CRIPPLED))
    await crippled.start()
    try:
        patient = Patient(client=await crippled.client())
        lacking = await check_namespace(patient)
        small = only(await check_limits(patient))
    finally:
        await crippled.end()
    assert wrong(lacking) == [("namespace", "problem"), ("namespace", "warning")]
    assert "updates" in lacking[0].what
    assert "does not report" in lacking[1].what
    assert (small.level, "262144" in small.what) == (Level.PROBLEM, True)


async def test_the_doctor_misses_a_namespace(client):
    nowhere = Client(**{**client.config(), "namespace": "nowhere"})
    finding = only(await check_namespace(Patient(client=nowhere)))
    assert finding.level is Level.PROBLEM
    assert "setup --create-namespace" in finding.remedy


async def test_the_doctor_names_attributes_that_are_missing_or_of_another_type(bare):
    missing, other = await check_attributes(Patient(client=bare))
    assert wrong([missing, other]) == [("attributes", "problem")] * 2
    assert all(name in missing.what for name in SEARCH_ATTRIBUTES if name != "SurestepState")
    assert other.what == "SurestepState is Int and must be Keyword"


async def test_attributes_are_told_by_queries_where_the_list_is_not_allowed(client, bare):
    assert await told_by_queries(client) == SEARCH_ATTRIBUTES
    assert await registered(bare) == {"SurestepState": "Int"}

    async def are_told() -> bool:
        return await told_by_queries(bare) == {"SurestepState": "Int"}

    await eventually(are_told)


@pytest.mark.parametrize(
    ("off", "level"),
    [
        (0, Level.OK),
        (8, Level.WARNING),
        (-8, Level.WARNING),
        (30, Level.PROBLEM),
        (-30, Level.PROBLEM),
    ],
)
async def test_the_doctor_measures_the_difference_of_the_clocks(client, off, level):
    shifted = Patient(client=client, clock=lambda: now() + timedelta(seconds=off))
    finding = only(await check_clock(shifted))
    assert finding.level is level
    assert ("ahead of" if off > 0 else "behind" if off else "within") in finding.what


async def test_the_doctor_says_when_many_steps_are_open(client):
    finding = only(await check_limits(Patient(client=client), crowd=-1))
    assert finding.level is Level.WARNING
    assert "frontend.namespaceCount" in finding.remedy
