"""How a step stands, for people: what `start` prints."""

from surestep.cli import page
from surestep.cli.view import View
from surestep.evidence import Receipt
from surestep.facts import Anomaly
from surestep.narrative import when
from surestep.outcome import Outcome, StepOutcome


def settled(outcome: StepOutcome, url: str | None) -> None:
    """The outcome of a step."""
    page.labelled("step", outcome.step_id)
    page.labelled("state", outcome.state, style=page.style_of(outcome.state))
    for action in outcome.actions:
        page.labelled("action", f"{action.name}: {in_words(action)}")
        if action.receipt:
            page.labelled("receipt", receipt_in_words(action.receipt))
        for anomaly in action.anomalies:
            page.labelled("anomaly", anomaly_in_words(anomaly), style="bold red")
    page.labelled("advice", outcome.advice)
    page.labelled("for model", outcome.for_model())
    if url:
        page.labelled("Web UI", url)


def unsettled(view: View) -> None:
    """A step that goes on, or that ended without an outcome."""
    page.labelled("step", view.step_id)
    page.labelled("state", view.state, style=page.style_of(view.state))
    for action in view.outcome.actions if view.outcome else ():
        page.labelled("action", f"{action.name}: {in_words(action)}")
    if view.open:
        page.labelled("advice", "wait; do not repeat it")
    if view.note:
        page.labelled("note", view.note)
    if view.url:
        page.labelled("Web UI", view.url)


def in_words(action: Outcome) -> str:
    """The action's state and why."""
    return f"{action.state}, {action.why}" if action.why else action.state.value


def receipt_in_words(receipt: Receipt) -> str:
    """The service's id, its word and its time, where it gave them."""
    parts = [receipt.id, receipt.status, when(receipt.at) if receipt.at else None]
    return ", ".join(part for part in parts if part) or "given, without an id"


def anomaly_in_words(anomaly: Anomaly) -> str:
    """What a person must look at."""
    return f"{anomaly.kind} at {when(anomaly.at)}: {anomaly.why}"
