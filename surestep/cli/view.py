"""Everything that can be found out about a step now, with a worker or without."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError

from surestep import visibility
from surestep.cli.failure import no_execution
from surestep.cli.said import said
from surestep.cli.workers import answered, start_one
from surestep.client import Surestep
from surestep.errors import NoSuchStep, SurestepError
from surestep.evidence import State
from surestep.identity import check_step_id, undo_id
from surestep.outcome import StepOutcome, outcome_of
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW, StepInput
from surestep.record import Record
from surestep.shown import shown

WATCHES: Final = 10
"""A reset step has several; the newest are enough."""

Source = Literal["worker", "history", "list"]


@dataclass(frozen=True)
class View:
    """A step as it is known now.

    source     whose word it is: a worker's, the history's (a closed step's outcome), or only the
               server's list, which knows the state and nothing of the actions
    records    only a worker has them
    submitted  None: the input cannot be read
    watched    the ids of the workflows that found a late effect and wait for a person
    said       decisions in an open step's history, where no worker says what became of them
    undone     the ids of the steps that undo actions of this ended one
    note       what an operator should know about this view
    """

    step_id: str
    source: Source
    state: str
    open: bool
    started: datetime
    closed: datetime | None
    url: str | None
    outcome: StepOutcome | None = None
    records: tuple[Record, ...] = ()
    submitted: StepInput | None = None
    watched: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    note: str = ""


async def find(surestep: Surestep, step_id: str) -> WorkflowExecutionDescription | None:
    """Temporal's description of the step; None: there is none of this id."""
    try:
        described = await surestep.handle(step_id).describe()
    except RPCError as error:
        if no_execution(error):
            return None
        raise
    return described if described.workflow_type == STEP_WORKFLOW else None


async def look(
    surestep: Surestep, step_id: str, *, ask_worker: bool = True, reveal: bool = False
) -> View:
    """Look at the step; a missing worker costs seconds, not the answer. Raises NoSuchStep.

    reveal  personal values are not masked
    """
    described = await find(surestep, check_step_id(step_id))
    if described is None:
        raise NoSuchStep(
            f"there is no step {step_id!r}: `python starter.py list` shows those there are"
        )
    handle = surestep.handle(step_id)
    submitted = await submission(surestep, step_id)
    closed = described.status is not WorkflowExecutionStatus.RUNNING
    records = []
    if ask_worker:
        records = await answered(surestep.client, described.task_queue, handle.records) or []
    note, outcome = "", None
    watched: tuple[str, ...] = ()
    heard: list[str] = []
    if closed:
        try:
            outcome = await handle.outcome()
        except SurestepError as error:
            note = str(error)
    elif ask_worker and not records:
        note, heard = start_one(described.task_queue), await said(surestep, step_id)
    if closed and ask_worker:
        later, watched = await _watch(surestep, step_id)
        records = [later.get(record.name, record) for record in records]
        outcome = outcome and _with_later(outcome, later)
    if not reveal:
        records = [shown(record) for record in records]
    if records:
        outcome = _outcome(step_id, submitted, records)
    return View(
        step_id=step_id,
        source="worker" if records else "history" if outcome else "list",
        state=outcome.state.value if outcome else _listed_state(described),
        open=not closed,
        started=described.start_time,
        closed=described.close_time,
        url=handle.url,
        outcome=outcome,
        records=tuple(records),
        submitted=submitted,
        watched=watched,
        said=tuple(heard),
        undone=await _undone(surestep, outcome) if closed and ask_worker and outcome else (),
        note=note,
    )


async def _undone(surestep: Surestep, outcome: StepOutcome) -> tuple[str, ...]:
    confirmed = [one.action_id for one in outcome.actions if one.state is State.CONFIRMED]
    ids = [undo_id(one) for one in confirmed]
    found = await asyncio.gather(*(find(surestep, one) for one in ids))
    return tuple(one for one, step in zip(ids, found, strict=True) if step)


async def submission(surestep: Surestep, step_id: str) -> StepInput | None:
    """The step as it was submitted; None: it was started by other means, with unusable input."""
    try:
        return await surestep.handle(step_id).submitted()
    except (ValueError, TypeError, RuntimeError):  # whatever a payload can do to a converter
        return None


async def _watch(surestep: Surestep, step_id: str) -> tuple[dict[str, Record], tuple[str, ...]]:
    """What LateWatch knows of a closed step by now, and the ids where a person must answer it."""
    query = f"WorkflowType = '{WATCH_WORKFLOW}' AND WorkflowId STARTS_WITH '{step_id}/watch'"
    later: dict[str, Record] = {}
    late: list[str] = []
    async for watch in surestep.client.list_workflows(query, limit=WATCHES):
        records: list[Record] = []
        if watch.status is WorkflowExecutionStatus.COMPLETED:
            handle = surestep.client.get_workflow_handle(watch.id, result_type=list[Record])
            records = await handle.result()
        elif watch.status is WorkflowExecutionStatus.RUNNING:
            ask = surestep.handle(watch.id).records
            records = await answered(surestep.client, watch.task_queue, ask) or []
            if any(record.anomalies for record in records):
                late.append(watch.id)
        for record in records:
            if record.name not in later or record.version > later[record.name].version:
                later[record.name] = record
    return later, tuple(late)


def _listed_state(described: WorkflowExecutionDescription) -> str:
    """What the step wrote for the list; nothing where no worker has taken it up yet."""
    attributes = {pair.key.name: pair.value for pair in described.typed_search_attributes}
    return str(attributes.get(visibility.STATE, "unsettled"))


def _outcome(step_id: str, submitted: StepInput | None, records: Sequence[Record]) -> StepOutcome:
    return StepOutcome(
        step_id=step_id,
        run=submitted.run if submitted else "",
        label=submitted.label if submitted else "",
        actions=tuple(outcome_of(record) for record in records),
    )


def _with_later(outcome: StepOutcome, later: dict[str, Record]) -> StepOutcome:
    actions = tuple(
        outcome_of(later[action.name]) if action.name in later else action
        for action in outcome.actions
    )
    return outcome.model_copy(update={"actions": actions})
