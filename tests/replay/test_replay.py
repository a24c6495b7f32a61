"""Every state in which a deploy can find a step, replayed against the workflows as they are now."""

import base64
import dataclasses
import json

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

import workflows.settling
from surestep.policy import Wait
from tests.replay.record import HISTORIES, RECORDER, machine_traces
from tests.replay.stories import RENEW_AT, STORIES
from worker import WORKFLOWS, workflow_runner

LARGEST = 60_000  # bytes of one file
FILES = sorted(HISTORIES.glob("*.json"))
NAMES = [path.stem for path in FILES]


async def replay(path):
    """Raises what breaks the replay."""
    replayer = Replayer(
        workflows=WORKFLOWS,
        workflow_runner=workflow_runner(),
        data_converter=pydantic_data_converter,
    )
    history = WorkflowHistory.from_json("", path.read_text())
    started = history.events[0].workflow_execution_started_event_attributes
    history = dataclasses.replace(history, workflow_id=started.workflow_id)
    await replayer.replay_workflow(history)


@pytest.fixture
def limit(request, monkeypatch):
    """Stories of renewal were recorded with a limit of their own."""
    if request.getfixturevalue("path").stem.startswith("renewed"):
        monkeypatch.setattr(workflows.settling, "EVENTS_LIMIT", RENEW_AT)


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("path", FILES, ids=NAMES)
async def test_a_step_goes_on_after_a_deploy_that_finds_it(path):
    try:
        await replay(path)
    except Exception as error:
        state = path.stem.replace("_", " ")
        pytest.fail(
            f"a deploy of this version would break every open step that is: {state}.\n"
            f"{str(error)[:800]}\n"
            "Version the change: `if workflow.patched('what-changed'):` beside the old way, which "
            "stays until no older step is open. Only if none can be open anywhere, record anew: "
            f"python -m tests.replay.record {path.stem.removesuffix('_before')}",
            pytrace=False,
        )


def test_every_story_is_recorded_and_every_recording_has_its_story():
    renewing = {f"{one.name}_before" for one in STORIES.values() if one.renews}
    assert set(NAMES) == set(STORIES) | renewing, "run python -m tests.replay.record"


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_recording_is_small_and_says_nothing_of_the_machine(path):
    text = path.read_text()
    assert machine_traces(text) == []
    assert len(text) < LARGEST
    history = WorkflowHistory.from_json(path.stem, text)
    identities = {
        attributes.identity
        for event in history.events
        for _, attributes in event.ListFields()
        if hasattr(attributes, "identity")
    }
    assert identities <= {RECORDER, "history-service", ""}


def test_the_limit_of_a_history_is_not_lowered_under_open_steps():
    """An open run between the new limit and the old one would be replayed as if it had ended."""
    assert workflows.settling.EVENTS_LIMIT >= 1000, "version the change, or drain open steps"


@pytest.mark.parametrize("name", ["unknown", "parallel", "confirmed_by_a_lookup", "renewed"])
async def test_the_gate_notices_a_changed_decision(name, monkeypatch):
    monkeypatch.setattr(workflows.settling, "next_move", lambda record, now: Wait(None))
    with pytest.raises(Exception, match="TMPRL1100"):
        await replay(HISTORIES / f"{name}.json")


async def test_the_gate_notices_an_attribute_that_is_no_longer_shown(monkeypatch):
    monkeypatch.setattr(workflows.settling.Records, "show", lambda records: None)
    with pytest.raises(Exception, match="TMPRL1100"):
        await replay(HISTORIES / "unknown.json")


@pytest.mark.parametrize("told", ["/opt/ann/worker", "4711@build-host", "worker.py, line 3"])
@pytest.mark.parametrize("coded", [False, True], ids=["in the open", "in a payload"])
def test_the_check_sees_traces_of_a_machine(told, coded):
    data = base64.b64encode(told.encode()).decode()
    assert machine_traces(json.dumps({"events": [{"data": data} if coded else {"who": told}]}))
