"""The doctor and the workers: there or not, on which queue, of which version."""

from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from temporalio.api.workflowservice.v1 import SetWorkerDeploymentCurrentVersionRequest
from temporalio.common import WorkerDeploymentVersion
from temporalio.service import RPCError
from temporalio.worker import Worker

from surestep import Surestep, Tools
from surestep.doctor.finding import Level
from surestep.doctor.patient import Patient, now
from surestep.doctor.versions import check_versions
from surestep.doctor.workers import SILENT, check_other_queues, check_workers
from surestep.settings import Settings
from tests.waiting import eventually
from worker import WORKFLOWS as OURS
from worker import build_worker, workflow_runner

from .finding import WORKFLOWS, only, seen, wrong
from .tools import charge

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEPLOYMENT = "doctors"


def patient(client, queue, **known):
    return Patient(Settings(task_queue=queue), client=client, **known)


def worker(client, queue, build=None):
    version = WorkerDeploymentVersion(DEPLOYMENT, build) if build else None
    return build_worker(
        client, Tools(charge), task_queue=queue, grace=timedelta(0), version=version
    )


async def test_the_doctor_says_when_no_worker_asks_for_work(client):
    finding = only(await check_workers(patient(client, "nobody")))
    assert finding.level is Level.PROBLEM
    assert "python worker.py" in finding.remedy
    assert only(await check_versions(patient(client, "nobody"))).level is Level.OK


async def test_the_doctor_names_a_worker_and_later_that_it_has_gone(client):
    async with worker(client, "gone"):
        await seen(client, "gone")
        there = only(await check_workers(patient(client, "gone")))
        assert there.level is Level.OK
        assert client.identity in there.what
    # The server remembers it for five minutes; two later it is missed.
    later = patient(client, "gone", clock=lambda: now() + SILENT)
    gone, none = await check_workers(later)
    assert wrong([gone, none]) == [("workers", "warning"), ("workers", "problem")]
    assert "has not asked for work for 2" in gone.what


async def test_the_doctor_says_when_a_worker_takes_no_activities(client):
    runner = workflow_runner()
    async with Worker(client, task_queue="half", workflows=OURS, workflow_runner=runner):
        await seen(client, "half", of=(WORKFLOWS,))
        finding = only(await check_workers(patient(client, "half")))
    assert finding.level is Level.PROBLEM
    assert "takes no activities" in finding.what


async def test_the_doctor_finds_steps_on_a_queue_that_nobody_serves(client):
    step = await Surestep(client, task_queue="abandoned").start("queue/1", charge(order="1"))
    try:

        async def is_found() -> bool:
            found = await check_other_queues(patient(client, "another"))
            return any("'abandoned'" in one.what for one in found)

        await eventually(is_found)
        (one,) = [
            one
            for one in await check_other_queues(patient(client, "another"))
            if "'abandoned'" in one.what
        ]
        assert one.level is Level.PROBLEM
        assert "SURESTEP_TASK_QUEUE=abandoned" in one.remedy
    finally:
        await client.get_workflow_handle(step.step_id).terminate()


async def test_the_doctor_knows_which_version_is_current_and_whether_it_is_there(client):
    queue = "versions"

    async def make_current(build: str) -> None:
        request = SetWorkerDeploymentCurrentVersionRequest(
            namespace=client.namespace, deployment_name=DEPLOYMENT, build_id=build
        )

        async def done() -> bool:
            try:
                await client.workflow_service.set_worker_deployment_current_version(request)
            except RPCError:  # the server has not heard of the worker yet
                return False
            return True

        await eventually(done)

    async def told(level: Level, words: str) -> None:
        async def is_told() -> bool:
            (one,) = await check_versions(patient(client, queue))
            return one.level is level and words in one.what

        await eventually(is_told)
        only(await check_versions(patient(client, queue)))

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(worker(client, queue, "one"))
        await told(Level.PROBLEM, f"no version is current, and workers of {DEPLOYMENT}:one")
        await make_current("one")
        await told(Level.OK, f"{DEPLOYMENT}:one is current, and its workers are there; 0 open")
        await stack.enter_async_context(worker(client, queue))
        await told(Level.WARNING, "no version are there as well")
