"""Steps that cannot go on at all, and questions that stand for too long."""

from datetime import timedelta

from temporalio.service import RPCError, RPCStatusCode

from surestep.client import Surestep
from surestep.contract import Contract, Effect
from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.doctor.retention import days
from surestep.operators import ORPHANED
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW

USUAL = Contract(effect=Effect.READ).overdue_after
"""How long a question may stand whose tool is not known here."""


async def check_stuck(patient: Patient) -> list[Finding]:
    query = (
        "TemporalReportedProblems IN ('category=WorkflowTaskFailed', "
        "'category=WorkflowTaskTimedOut') AND ExecutionStatus = 'Running' "
        f"AND WorkflowType IN ('{STEP_WORKFLOW}', '{WATCH_WORKFLOW}')"
    )
    try:
        ids = [run.id async for run in patient.server.list_workflows(query, limit=100)]
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        return [
            warning(
                "stuck",
                "this server does not list workflows whose tasks fail",
                "A step that cannot go on looks like one that waits.",
                "Upgrade the server, or look for failed workflow tasks in the workers' logs.",
            )
        ]
    if not ids:
        return [ok("stuck", "no step's workflow task fails")]
    return [
        problem(
            "stuck",
            f"the workflow task of {some(ids)} fails again and again",
            "The step stands still, and takes no decision. Nothing is sent, nothing is lost.",
            f"Read why: `temporal workflow describe --workflow-id {ids[0]}`. After a deploy it is "
            "mostly a history that the new code does not replay: deploy the version before, or the "
            "repaired one (docs/operations.md).",
        )
    ]


async def check_questions(patient: Patient) -> list[Finding]:
    """What waits for a person for longer than its contract lets a question stand."""
    limits = {tool.name: tool.contract.overdue_after for tool in patient.tools}
    operator = Surestep(patient.server, task_queue=patient.settings.task_queue)
    now, late = patient.clock(), []
    for one in await operator.unresolved():
        known = [limits.get(name, USUAL) for name in one.tools] or [USUAL]
        limit = min((limit for limit in known if limit), default=None)
        since = one.unknown_since
        if limit and since and now - since > limit:
            late.append((now - since, one.step_id))
    left = [one.step_id for one in await operator.anomalies() if ORPHANED in one.anomalies]
    return [*_late(late), *_left(left)] or [ok("questions", "none stands for too long")]


def _late(late: list[tuple[timedelta, str]]) -> list[Finding]:
    if not late:
        return []
    oldest, step = max(late)
    return [
        warning(
            "questions",
            f"{len(late)} stand for longer than their contracts say, the oldest, {step}, for "
            f"{days(oldest)}",
            "An agent waits for each, and what may have happened is still not known.",
            "`python starter.py unresolved` lists them; `python starter.py decide STEP` answers.",
        )
    ]


def _left(left: list[str]) -> list[Finding]:
    if not left:
        return []
    return [
        warning(
            "questions",
            f"{some(left)} ended from outside while an action was in doubt",
            "Nobody looks any more whether it happened.",
            "Submit the same step again: it finds out before it sends.",
        )
    ]
