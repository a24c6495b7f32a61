"""The JSON that `start --json` and `show --json` print. Fields may be added, never changed."""

from datetime import UTC, datetime
from typing import Any, Final

from surestep.cli.standing import decided
from surestep.cli.view import View
from surestep.identity import action_id
from surestep.narrative import decision_command, forbidden, looks_next, next_by_itself, proven
from surestep.outcome import Advice, Outcome, StepOutcome
from surestep.record import Record
from surestep.ruling import verdicts

SHAPE: Final = """\
With --json, stdout is one object (stdout is empty after an error):
  step_id, run, label, url
  state      planned sent accepted confirmed rejected not_found unknown
             compensated; or unsettled, where there is no news yet
  advice     done, fix_and_resubmit, wait or stop
  for_model  what may be put into a model's context; null: nothing yet
  actions    a list, in the order of the step, of
    action_id, name, tool, state, why, for_model
    receipt    null, or: id, status, at, result
    anomalies  a list of: kind, at, why
    (state, why and for_model are null where no worker has said yet)"""

SHOW_SHAPE: Final = """\
`show` adds
  source     worker, history or list: whose word it is
  open, started, closed, note
  said       where no worker answers: the decisions that were sent, newest
             first
  undone     the steps that undo actions of this one, which has ended
  watched    what `anomalies --acknowledge` takes: anomalies wait there
  actions[]  timeline: a list of at, text, count, until; and, from a worker,
             version, proven, forbidden, next_look, next, arguments,
             input_hash, told: a list
             decided: what a person has said and is not done yet, or null
             overdue: since when nobody has answered, or null
             decisions: a list of verdict, command"""


def of_outcome(outcome: StepOutcome, url: str | None) -> dict[str, Any]:
    """The document of a step whose actions are known."""
    return {
        "step_id": outcome.step_id,
        "run": outcome.run,
        "label": outcome.label,
        "url": url,
        "state": outcome.state.value,
        "advice": outcome.advice.value,
        "for_model": outcome.for_model(),
        "actions": [_action(action) for action in outcome.actions],
    }


def of_view(view: View) -> dict[str, Any]:
    """The same document, whatever is known of the step."""
    if view.outcome:
        document = of_outcome(view.outcome, view.url)
        if not view.open and view.outcome.advice is Advice.WAIT:
            document["advice"] = Advice.STOP.value  # ended from outside: nothing comes any more
        return document
    step = view.submitted
    return {
        "step_id": view.step_id,
        "run": step.run if step else "",
        "label": step.label if step else "",
        "url": view.url,
        "state": view.state,
        "advice": Advice.WAIT.value if view.open else Advice.STOP.value,
        "for_model": None,
        "actions": [
            {
                "action_id": action_id(view.step_id, one.name or one.tool),
                "name": one.name or one.tool,
                "tool": one.tool,
                "state": None,
                "why": None,
                "for_model": None,
                "receipt": None,
                "anomalies": [],
            }
            for one in (step.actions if step else ())
        ],
    }


def of_show(view: View) -> dict[str, Any]:
    """The document of `show`: of_view, and everything else that is known."""
    document = of_view(view)
    document |= {
        "source": view.source,
        "open": view.open,
        "started": view.started.isoformat(),
        "closed": view.closed.isoformat() if view.closed else None,
        "note": view.note,
        "said": list(view.said),
        "undone": list(view.undone),
        "watched": list(view.watched),
    }
    records = {record.action_id: record for record in view.records}
    outcomes = view.outcome.actions if view.outcome else ()
    timelines = {one.action_id: one.model_dump(mode="json")["evidence"] for one in outcomes}
    for action in document["actions"]:
        record = records.get(action["action_id"])
        action["timeline"] = timelines.get(action["action_id"], [])
        if record:
            action |= _standing(view, record)
    return document


def _action(outcome: Outcome) -> dict[str, Any]:
    plain = outcome.model_dump(mode="json")
    return {
        **{field: plain[field] for field in ("action_id", "name", "tool", "state", "why")},
        "for_model": outcome.for_model(),
        "receipt": plain["receipt"],
        "anomalies": plain["anomalies"],
    }


def _standing(view: View, record: Record) -> dict[str, Any]:
    now = datetime.now(UTC)
    goes_on = view.open and record.closed is None
    return {
        "version": record.version,
        "proven": proven(record),
        "forbidden": forbidden(record),
        "next_look": looks_next(record, now) if view.open or record.closed else "no more",
        "next": next_by_itself(record, now) if goes_on else None,
        "decided": decided(record) if view.open else None,
        "overdue": record.overdue.isoformat() if goes_on and record.overdue else None,
        "told": list(record.told),
        "arguments": record.arguments,
        "input_hash": record.input_hash,
        "decisions": [
            {"verdict": verdict.value, "command": decision_command(view.step_id, record, verdict)}
            for verdict in (verdicts(record) if view.open else ())
        ],
    }
