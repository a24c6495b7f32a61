"""The doctor and the steps of a namespace: how long they are kept, watched, asked about, stuck."""

from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import ResetReapplyType
from temporalio.api.workflowservice.v1 import (
    DeleteWorkflowExecutionRequest,
    ResetWorkflowExecutionRequest,
)
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from surestep import Surestep, Tools
from surestep.doctor.finding import Level
from surestep.doctor.patient import Patient
from surestep.doctor.retention import check_retention
from surestep.doctor.stuck import check_questions, check_stuck
from surestep.doctor.watches import check_watches
from surestep.effect import watches
from surestep.protocol import STEP_WORKFLOW
from tests.waiting import eventually
from worker import build_worker

from .finding import only, wrong
from .tools import DAY, asking, charge, keyed, lost, tool

pytestmark = pytest.mark.asyncio(loop_scope="session")


@workflow.defn(name=STEP_WORKFLOW)
class Broken:
    """A release whose code no history replays with."""

    @workflow.run
    async def run(self, step: dict[str, Any]) -> None:
        raise RuntimeError("a bug of ours")


@pytest.mark.parametrize(
    ("tools", "within", "level", "words"),
    [
        ((charge,), None, Level.OK, "for 1 day"),
        ((charge,), DAY, Level.OK, "for 1 day"),
        ((tool("a", key=keyed(3 * DAY)),), None, Level.WARNING, "for up to 3 days"),
        ((tool("b", watch=2 * DAY),), None, Level.WARNING, "watches an ended action"),
        ((tool("c", key=keyed(9999 * DAY * 9)),), 7 * DAY, Level.WARNING, "within 7 days"),
        ((charge,), 7 * DAY, Level.PROBLEM, "within 7 days"),
        ((tool("d"),), 7 * DAY, Level.PROBLEM, "within 7 days"),
    ],
)
async def test_the_doctor_compares_retention_with_keys_and_agents(
    client, tools, within, level, words
):
    finding = only(
        await check_retention(Patient(client=client, tools=tools, resubmitted_within=within))
    )
    assert finding.level is level
    assert words in finding.what


async def test_the_doctor_misses_a_late_watch_that_was_ended_or_deleted(client):
    patient = Patient(client=client, tools=(lost,))
    queue = "watched"
    async with build_worker(client, Tools(lost), task_queue=queue, grace=timedelta(0)):
        surestep = Surestep(client, task_queue=queue)
        outcome = await surestep.run("watched/1", lost(order="1"))
        assert outcome.state == "not_found"

        async def found() -> list:
            return await watches(client, "watched/1")

        (watch,) = await eventually(found)
        handle = client.get_workflow_handle(watch.id)

        async def told(level: Level, words: str) -> None:
            async def is_told() -> bool:
                found = await check_watches(patient)
                return [one.level for one in found] == [level] and words in found[0].what

            await eventually(is_told)
            only(await check_watches(patient))

        await told(Level.OK, "1 followed from steps")
        await handle.terminate()
        await told(Level.PROBLEM, f"{watch.id} ended from outside")

        # What the remedy does, `temporal workflow reset --type FirstWorkflowTask`.
        await client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=watch.id, run_id=watch.run_id),
                reason="again",
                request_id="again",
                workflow_task_finish_event_id=3,
                reset_reapply_type=ResetReapplyType.RESET_REAPPLY_TYPE_NONE,
            )
        )
        await told(Level.OK, "1 followed from steps")
        await client.workflow_service.delete_workflow_execution(
            DeleteWorkflowExecutionRequest(
                namespace=client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=watch.id),
            )
        )
        await told(Level.PROBLEM, f"{watch.id} was deleted")


async def test_the_doctor_names_steps_whose_workflow_tasks_fail(client):
    assert only(await check_stuck(Patient(client=client))).level is Level.OK
    runner = UnsandboxedWorkflowRunner()
    async with Worker(client, task_queue="stuck", workflows=[Broken], workflow_runner=runner):
        await Surestep(client, task_queue="stuck").start("stuck/1", charge(order="1"))

        async def is_named() -> bool:
            return "stuck/1" in only(await check_stuck(Patient(client=client))).what

        await eventually(is_named)
    assert only(await check_stuck(Patient(client=client))).level is Level.PROBLEM
    await client.get_workflow_handle("stuck/1").terminate()


async def test_the_doctor_counts_questions_that_stand_for_too_long_and_steps_left_in_doubt(client):
    patient = Patient(client=client, tools=(asking,))
    queue = "questions"
    async with build_worker(client, Tools(asking), task_queue=queue, grace=timedelta(0)):
        surestep = Surestep(client, task_queue=queue)
        await surestep.start("asking/1", asking(order="1"))

        async def told(words: str) -> None:
            async def is_told() -> bool:
                found = await check_questions(patient)
                return any(words in one.what for one in found)

            await eventually(is_told)
            assert wrong([only(await check_questions(patient))]) == [("questions", "warning")]

        await told("the oldest, asking/1")
        await client.get_workflow_handle("asking/1").terminate()
        await told("asking/1 ended from outside")
