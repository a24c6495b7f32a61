"""The examination: every check, each within its own time, none stopped by another."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from temporalio.service import RPCError, RPCStatusCode

from surestep.doctor.attributes import check_attributes
from surestep.doctor.clock import check_clock
from surestep.doctor.codec import check_codec
from surestep.doctor.configuration import read_settings
from surestep.doctor.decisions import check_decisions
from surestep.doctor.files import check_files
from surestep.doctor.finding import Finding, Level, problem, warning
from surestep.doctor.keyring import check_key_ring
from surestep.doctor.loading import read_tools
from surestep.doctor.login import check_login
from surestep.doctor.patient import Patient
from surestep.doctor.promises import check_promises
from surestep.doctor.reaching import reached
from surestep.doctor.retention import check_retention
from surestep.doctor.sensitive import check_arguments
from surestep.doctor.server import check_limits, check_namespace, check_version
from surestep.doctor.stuck import check_questions, check_stuck
from surestep.doctor.telling import check_telling
from surestep.doctor.traces import check_traces
from surestep.doctor.versions import check_versions
from surestep.doctor.watches import check_watches
from surestep.doctor.workers import check_other_queues, check_workers
from surestep.errors import summary
from surestep.registration import no_namespace
from surestep.value import Value
from surestep.visibility import SEARCH_ATTRIBUTES

WITHIN = timedelta(seconds=15)


@dataclass(frozen=True)
class Check:
    """One check, how long it may take, and whether it asks the server."""

    name: str
    make: Callable[[Patient], Awaitable[list[Finding]]]
    needs_server: bool = True
    within: timedelta = WITHIN


CHECKS = (
    Check("login", check_login, needs_server=False),
    Check("server", check_version),
    Check("namespace", check_namespace),
    Check("attributes", check_attributes),
    Check("retention", check_retention),
    Check("clock", check_clock),
    Check("workers", check_workers),
    Check("other queues", check_other_queues),
    Check("versions", check_versions),
    Check("contracts", check_promises, needs_server=False),
    Check("arguments", check_arguments, needs_server=False),
    Check("decisions", check_decisions, needs_server=False),
    Check("notifications", check_telling, needs_server=False),
    Check("files", check_files, needs_server=False),
    Check("encryption", check_key_ring, needs_server=False),
    Check("codec", check_codec, needs_server=False),
    Check("traces", check_traces, needs_server=False),
    Check("late watch", check_watches),
    Check("stuck", check_stuck),
    Check("questions", check_questions),
    Check("limits", check_limits),
)


class Checkup(Value):
    """What the doctor found, in the order of the checks.

    reached  a server answered; what needs one is missing otherwise
    """

    reached: bool
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no problem; there may be warnings."""
        return all(one.level is not Level.PROBLEM for one in self.findings)


async def examine(
    env: Mapping[str, str], *, resubmitted_within: timedelta | None = None
) -> Checkup:
    """Make every check that can be made, and change nothing. Settings are those of `env`.

    Where Temporal is, its own configuration says: that of this process.
    """
    settings, found = read_settings(env)
    tools, of_tools = await read_tools(settings.tools)
    async with reached(settings) as (client, of_connection):
        patient = Patient(settings, tools, client, resubmitted_within)
        possible = [one for one in CHECKS if client or not one.needs_server]
        answers = await asyncio.gather(*(made(one, patient) for one in possible))
        everything = [*found, of_connection, *of_tools, *(one for some in answers for one in some)]
        return Checkup(reached=client is not None, findings=tuple(everything))


async def made(check: Check, patient: Patient) -> list[Finding]:
    """The findings of one check; if it fails, that is the finding."""
    try:
        async with asyncio.timeout(check.within.total_seconds()):
            return await check.make(patient)
    except TimeoutError:
        return [
            warning(
                check.name,
                f"could not be found out within {check.within.total_seconds():g} s",
                "Nothing is known about it.",
                "Try again; if it stays so, look at how busy the server is.",
            )
        ]
    except RPCError as error:
        return _refused(check, error)
    except Exception as error:
        return [
            problem(
                check.name,
                f"the check itself failed: {summary(error)}",
                "Nothing is known about it.",
                "This is a fault of Surestep: please report it.",
            )
        ]


def _refused(check: Check, error: RPCError) -> list[Finding]:
    if no_namespace(error):  # the check of the namespace says so, once
        return []
    what, remedy = f"could not be found out: {error.message}", "Remove the cause, then try again."
    if any(name in error.message for name in SEARCH_ATTRIBUTES):
        what = "could not be found out without the search attributes"
        remedy = "Run `python starter.py setup`."
    elif error.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED):
        remedy = "Use the credentials of a worker."
    return [warning(check.name, what, "Nothing is known about it.", remedy)]
