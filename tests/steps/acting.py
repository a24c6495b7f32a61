"""Workers that only decide, and workers that only act."""

from copy import copy
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from activities.examine import Examiner
from activities.execute import Executor
from activities.look import Observer
from activities.plan import Planner
from surestep.tool import Tool, Tools
from worker import WORKFLOWS, workflow_runner


def deciding_worker(client: Client, tools: Tools, task_queue: str) -> Worker:
    """Runs workflows and plans; whatever else is to be done waits for an acting worker."""
    examiner = Examiner(None, client)
    return Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        activities=[Planner(tools, client).plan, examiner.examine, examiner.examine_notice],
        workflow_runner=workflow_runner(),
        no_remote_activities=True,
    )


def acting_worker(
    client: Client,
    tools: Tools,
    *,
    task_queue: str,
    at_once: int = 100,
    grace: timedelta = timedelta(0),
) -> Worker:
    """Carries out activities, so many at once.

    While it works on so many it polls for nothing, so no task is handed to it while it is frozen.
    """
    observer = Observer(tools)
    return Worker(
        client,
        task_queue=task_queue,
        activities=[Executor(tools).execute, observer.verify, observer.fence],
        max_concurrent_activities=at_once,
        graceful_shutdown_timeout=grace,
    )


def unhurried(timeout: timedelta, *given: Tool) -> Tools:
    """The tools to plan with, where an attempt must not end before something is done to it."""
    known = [copy(tool) for tool in given]
    for tool in known:
        tool.contract = tool.contract.model_copy(update={"timeout": timeout})
    return Tools(*known)
