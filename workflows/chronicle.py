"""What a step tells of itself while it goes on: a line in the log for every piece of evidence, and
the figures. Nothing of it is in the history, and nothing is told again in a replay.

Only our own words: kinds, states, outcomes, names and times. What a service or a person wrote, and
every argument, stays in the record.
"""

import logging
from collections.abc import Mapping
from typing import Any

from temporalio import workflow

from surestep import evidence as ev
from surestep.agenda import next_look
from surestep.evidence import Evidence
from surestep.fold import REFUSALS_LIMIT
from surestep.notification.told import Told
from surestep.questions import NotifyOrder
from surestep.record import Record
from surestep.ruling import rule
from surestep.telemetry import meters

LOUD = (ev.Asked, ev.Escalated)
TOLD_BY_ITSELF = (ev.Notified,)  # `delivered` says more


class Chronicle:
    """The log and the figures of one workflow. `run`: the agent's run, for every line."""

    def __init__(self) -> None:
        self.run = ""
        self._refused = 0

    def planned(self, record: Record) -> None:
        self._write(logging.INFO, record, "planned", {})
        count(meters.TRANSITIONS, tool=record.tool, state=record.state.value)

    def learned(self, before: Record, after: Record, evidence: Evidence) -> None:
        """One piece of evidence has made the one record of the other."""
        found = _figures(before, evidence)
        anomalies = [one.kind.value for one in after.anomalies[len(before.anomalies) :]]
        if after.state is not before.state:
            count(meters.TRANSITIONS, tool=after.tool, state=after.state.value)
        for kind in anomalies:
            count(meters.ANOMALIES, tool=after.tool, kind=kind)
        # A flood of what cannot be taken would fill the log.
        flood = after.refused_decisions > before.refused_decisions > REFUSALS_LIMIT
        if isinstance(evidence, TOLD_BY_ITSELF) or flood:
            return
        known: dict[str, Any] = {**found, "before": before.state.value}
        if anomalies:
            known["anomaly"] = ", ".join(anomalies)
        level = logging.WARNING if anomalies or isinstance(evidence, LOUD) else logging.INFO
        self._write(level, after, evidence.kind, known)

    def refused(self) -> None:
        """Something came in that belongs to no action of this workflow."""
        count(meters.REFUSED_MESSAGES)
        self._refused += 1
        if self._refused <= REFUSALS_LIMIT:  # a flood of junk would fill the log
            workflow.logger.warning("a message was refused", extra=self._of_run())

    def delivered(self, order: NotifyOrder, told: Told) -> None:
        """People have been told, or could not be."""
        result = "told" if told.told else "nobody"
        count(meters.NOTIFICATIONS, occasion=order.occasion.value, result=result)
        workflow.logger.log(
            logging.INFO if told.told else logging.WARNING,
            "%s/%s: people were told of a question or anomaly: %s · %d told · %d not reached",
            order.step_id,
            order.action,
            order.occasion.value,
            len(told.told),
            len(told.missed),
            extra={
                **self._of_run(),
                "action": f"{order.step_id}/{order.action}",
                "tool": order.tool,
                "evidence": "notified",
            },
        )

    def _write(self, level: int, record: Record, kind: str, known: Mapping[str, Any]) -> None:
        if not workflow.logger.isEnabledFor(level):  # also during a replay
            return
        look = next_look(record) if record.doubt and not record.closed else None
        more = {"next_look": f"{look:%Y-%m-%dT%H:%M:%SZ}"} if look else {}
        said = {name: value for name, value in known.items() if name != "before"}
        before, now = known.get("before"), record.state.value
        stands = [] if kind == now else [now]
        words = [
            *(f"{name} {value}" for name, value in said.items()),
            *(stands if before in (None, now) else [f"{before} → {now}"]),
            *(f"next look {at}" for at in more.values()),
        ]
        workflow.logger.log(
            level,
            "%s: %s",
            record.action_id,
            " · ".join([kind, *words, f"attempt {record.attempts}", f"version {record.version}"]),
            extra={
                **self._of_run(),
                "action": record.action_id,
                "tool": record.tool,
                "evidence": kind,
                "state": now,
                "attempt": record.attempts,
                "version": record.version,
                **known,
                **more,
            },
        )

    def _of_run(self) -> dict[str, str]:
        return {"run": self.run} if self.run else {}


def count(name: str, **labels: str) -> None:
    workflow.metric_meter().create_counter(name).add(1, labels)


def _figures(before: Record, evidence: Evidence) -> dict[str, str]:
    """Count the evidence; what there is to say of it, in words of ours."""
    tool = before.tool
    match evidence:
        case ev.Attempted(outcome=outcome):
            count(meters.ATTEMPTS, tool=tool, outcome=outcome.value)
            return {"outcome": outcome.value}
        case ev.Looked(verification=seen):
            count(meters.LOOKS, tool=tool, finding=seen.finding.value)
            return {"finding": seen.finding.value}
        case ev.Fenced():
            result = "held" if evidence.held else "exists" if evidence.exists else "failed"
            count(meters.FENCES, tool=tool, result=result)
            return {"result": result}
        case ev.Noticed(happened=happened):
            result = "happened" if happened else "failed"
            count(meters.NOTICES, tool=tool, result=result)
            return {"result": result}
        case ev.Hinted():
            count(meters.NOTICES, tool=tool, result="unsigned")
            return {"result": "unsigned"}
        case ev.Asked():
            kind = "approval" if before.doubt is None else "doubt"
            count(meters.QUESTIONS, tool=tool, kind=kind)
            return {"question": kind}
        case ev.Decided():
            return _decision(before, evidence)
        case ev.Unreadable():
            count(meters.REFUSED_MESSAGES)
            return {}
        case _:
            return {}


def _decision(before: Record, decided: ev.Decided) -> dict[str, str]:
    verdict = decided.decision.verdict.value
    if not rule(before, decided).taken:
        result = "refused"
    elif decided.needs_another:
        result = "needs_another"
    else:
        result = "taken"
        if before.asked:
            workflow.metric_meter().create_histogram_timedelta(
                meters.DECISION_LATENCY, unit="duration"
            ).record(decided.at - before.asked, {"verdict": verdict})
    count(meters.DECISIONS, tool=before.tool, verdict=verdict, result=result)
    return {"verdict": verdict, "result": result}
