"""The worker: where workflows and activities meet. `python worker.py` runs one until SIGTERM."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.converter import DataConverter
from temporalio.service import RPCError
from temporalio.worker import Worker, WorkerDeploymentConfig
from temporalio.worker.workflow_sandbox import SandboxRestrictions

from activities.attend import Attendant
from activities.examine import Examiner
from activities.execute import Executor
from activities.look import Observer
from activities.notify import Notifier
from activities.plan import Planner
from activities.turnstile import Turnstile
from surestep.authority import Authority
from surestep.connection import connection
from surestep.errors import SurestepError
from surestep.health import answering, unheard
from surestep.notification.channel import Channels
from surestep.outage import Outage
from surestep.protocol import TASK_QUEUE
from surestep.runner import StepRunner, wants_contexts
from surestep.settings import Settings
from surestep.signature import load_private
from surestep.telemetry.census import Census
from surestep.telemetry.log import set_up
from surestep.telemetry.orders import Orders
from surestep.telemetry.runtime import worker_runtime
from surestep.tool import Tools
from surestep.toolbox import load_tools
from surestep.vault import SecretSource, folder
from workflows.agent_step import AgentStep
from workflows.late_watch import LateWatch

WORKFLOWS: Sequence[type] = (AgentStep, LateWatch)

LOOKS_FOR_AN_OUTAGE_EVERY = timedelta(seconds=10)

logger = logging.getLogger("surestep.worker")


def workflow_runner(converter: DataConverter = DataConverter.default) -> StepRunner:
    """The sandbox with our own modules passed through: they are loaded once, not once per run."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules("surestep", "workflows")
    return StepRunner(restrictions=restrictions, contextual=wants_contexts(converter))


def build_worker(
    client: Client,
    tools: Tools,
    *,
    task_queue: str = TASK_QUEUE,
    grace: timedelta = timedelta(seconds=60),
    notifier: Notifier | None = None,
    authority: Authority | None = None,
    signing_key: Ed25519PrivateKey | None = None,
    secrets: SecretSource | None = None,
    turnstile: Turnstile | None = None,
    version: WorkerDeploymentVersion | None = None,
) -> Worker:
    """A worker that knows `tools`.

    grace      how long a stop waits for an attempt in flight
    notifier   who tells people; None: nobody is told
    authority  who may decide; None: whoever can reach the cluster
    signing_key  with which the worker signs what it tells a step by a notice
    turnstile  bounds the lookups that are under way at once
    secrets    gives the secrets that arguments name: `surestep.vault.folder(…)`, `given(…)`
    version    of a deployment; it gets work once an operator has made it current
    """
    observer = Observer(tools, secrets, turnstile)
    notifier, examiner = notifier or Notifier(), Examiner(authority, client)
    attendant = Attendant(client, tools)
    return Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        activities=[
            Planner(tools, client, notifies=notifier.tells, authority=authority).plan,
            Executor(tools, signing_key, secrets).execute,
            observer.verify,
            observer.fence,
            notifier.notify,
            examiner.examine,
            examiner.examine_notice,
            attendant.enter,
            attendant.attend,
        ],
        workflow_runner=workflow_runner(client.data_converter),
        interceptors=[Orders()],
        graceful_shutdown_timeout=grace,
        deployment_config=_deployment(version) if version else None,
        # The SDK refuses to upload what is too large, and an update of over 2 MiB, which its own
        # refusal quotes, would then block the step. What we record is bounded.
        disable_payload_error_limit=True,
    )


def _deployment(version: WorkerDeploymentVersion) -> WorkerDeploymentConfig:
    """Open steps move to the version that is current.

    A step can wait for months. Pinned, it would keep the workers of its day alive, with their bugs
    in the lookup that it waits for. Its commands replay in every later version: tests/replay.
    """
    return WorkerDeploymentConfig(
        version=version,
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE,
    )


def _version(settings: Settings) -> WorkerDeploymentVersion | None:
    if settings.build_id is None:
        return None
    return WorkerDeploymentVersion(settings.deployment, settings.build_id)


async def serve() -> None:
    """Run until SIGTERM or SIGINT, then let every attempt in flight report."""
    settings = Settings.from_environment()
    set_up(settings.log)
    tools = load_tools(settings.tools)
    channels = Channels.of(settings)
    authority = _authority(settings, tools)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        connected = await stack.enter_async_context(connection(settings, as_worker=True))
        worker = build_worker(
            connected.client,
            tools,
            task_queue=settings.task_queue,
            grace=settings.grace,
            notifier=Notifier(channels, ui_url=connected.ui_url),
            authority=authority,
            signing_key=_signing_key(settings) if authority else None,
            turnstile=Turnstile(settings.looks_at_once, settings.looks_per_second),
            secrets=folder(settings.secrets) if settings.secrets else None,
            version=_version(settings),
        )
        if settings.health:  # entered first: it answers until the last attempt has reported
            why_not = partial(_why_not_ready, connected.client, settings.task_queue, stop)
            await stack.enter_async_context(answering(settings.health, why_not))
        await stack.enter_async_context(worker)
        watching = asyncio.create_task(_tell_of_outages(connected.client))
        stack.callback(watching.cancel)
        if settings.metrics:
            census = Census(connected.client, worker_runtime(settings.metrics).metric_meter, tools)
            counting = asyncio.create_task(census.keep(settings.build_id))
            stack.callback(counting.cancel)
            logger.info("metrics: http://%s/metrics", settings.metrics)
        names = ", ".join(tool.name for tool in tools)
        logger.info("serving %s on queue %s at %s", names, settings.task_queue, connected.address)
        logger.info("of questions are told: %s", ", ".join(channels.names) or "nobody")
        if settings.build_id:
            logger.info(
                "build %s of %s gets work once it is current: `temporal worker deployment "
                "set-current-version --deployment-name %s --build-id %s`",
                settings.build_id,
                settings.deployment,
                settings.deployment,
                settings.build_id,
            )
        if connected.ui_url:
            logger.info("Web UI: %s", connected.ui_url)
        await stop.wait()
        logger.info("stopping; attempts in flight have %s to report", settings.grace)


async def _why_not_ready(client: Client, task_queue: str, stop: asyncio.Event) -> str | None:
    return "it is stopping" if stop.is_set() else await unheard(client, task_queue)


def _authority(settings: Settings, tools: Tools) -> Authority | None:
    """Who may decide; what the file names and no tool is called may be misspelt."""
    if settings.decision_keys is None:
        logger.info("decisions are taken unsigned: SURESTEP_DECISION_KEYS is not set")
        return None
    authority = Authority.load(settings.decision_keys)
    logger.info("decisions must be signed, by %s", ", ".join(authority.people))
    for name in sorted(authority.unknown_tools({tool.name for tool in tools})):
        logger.warning("%s names the tool %s, unknown here", settings.decision_keys, name)
    return authority


def _signing_key(settings: Settings) -> Ed25519PrivateKey | None:
    """For the answers that only a notice can bring to a step, after an outage of the server."""
    if settings.signing_key is None:
        logger.info(
            "a blind service's answer that an outage of the server cut off will not count, and a "
            "person is asked: SURESTEP_SIGNING_KEY is not set"
        )
        return None
    return load_private(settings.signing_key)


async def _tell_of_outages(client: Client) -> None:
    """The SDK connects again by itself, and says nothing that a person would want to read."""
    outage = Outage(client, "Attempts in flight go on; the worker connects again by itself")
    while True:
        await asyncio.sleep(LOOKS_FOR_AN_OUTAGE_EVERY.total_seconds())
        try:
            await outage.sit_out(
                lambda: client.workflow_service.get_system_info(GetSystemInfoRequest(), retry=True),
                until=None,
            )
        except RPCError as error:  # it answers
            logger.debug("the server does not say what it is: %s", error)


def main() -> int:
    try:
        asyncio.run(serve())
    except SurestepError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    # The SDK can crash while the interpreter is being taken down; everything is flushed by now.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
