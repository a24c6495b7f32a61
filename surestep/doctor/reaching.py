"""The way to the server. The embedded one is visited if it runs, never started."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from temporalio.client import Client

from surestep.connection import configured, connection
from surestep.doctor.finding import Finding, ok, problem
from surestep.embedded_folder import ServerFolder
from surestep.errors import CannotConnect, SurestepError
from surestep.settings import Settings

CHECK = "connection"

UNREACHED = (
    "Nothing can be started, decided or looked up, and steps stand still. What follows was checked "
    "without the server."
)


@asynccontextmanager
async def reached(settings: Settings) -> AsyncIterator[tuple[Client | None, Finding]]:
    """A client, if the server can be reached; a key ring that cannot be read does not keep us out.

    Without the metrics' port, which the worker beside us may have taken.
    """
    async with AsyncExitStack() as stack:
        client, finding = await _reached(settings, stack)
        yield client, finding


async def _reached(settings: Settings, stack: AsyncExitStack) -> tuple[Client | None, Finding]:
    quiet = settings.model_copy(update={"metrics": None, "traces": None})
    try:
        if configured() is None and ServerFolder(settings.home).current() is None:
            return None, _nothing_runs(settings)
        try:
            there = await stack.enter_async_context(connection(quiet))
        except CannotConnect:
            raise
        except SurestepError:  # the key ring; a check of its own says what is wrong with it
            plain = quiet.model_copy(update={"encryption_keys": None})
            there = await stack.enter_async_context(connection(plain))
    except CannotConnect as error:
        what, _, remedy = str(error).partition(". ")
        return None, problem(CHECK, what, UNREACHED, remedy)
    kind = ", the embedded server" if there.embedded else ""
    return there.client, ok(CHECK, f"{there.address}{kind}, namespace {there.namespace}")


def _nothing_runs(settings: Settings) -> Finding:
    return problem(
        CHECK,
        f"no cluster is configured, and no embedded server runs in {settings.home}",
        UNREACHED,
        "Start a worker with `python worker.py`, which starts the embedded server, or set "
        "TEMPORAL_ADDRESS.",
    )
