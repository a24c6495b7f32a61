"""Every alert fires when it should, and only then; by promtool, which evaluates the real rules."""

import json
import re

import pytest

from tests.observability.promtool import FILES, ROOT, promtool
from tests.observability.test_metrics import SAMPLE, rules

UP = 'up{job="surestep",instance="worker-1"}'
COUNTED = "surestep_census_timestamp_seconds"
LIMIT = 'surestep_unknown_limit_seconds{tool="refund"}'
AGE = 'surestep_oldest_unknown_age_seconds{tool="refund",instance="worker-1"}'
SLOTS = 'temporal_worker_task_slots_available{worker_type="ActivityWorker"}'


def attempts(outcome):
    return f'surestep_attempts_total{{tool="refund",outcome="{outcome}"}}'


def looks(finding):
    return f'surestep_looks_total{{tool="refund",finding="{finding}"}}'


def told(result):
    return f'surestep_notifications_total{{occasion="question",result="{result}"}}'


def decisions(result):
    return f'surestep_decisions_total{{tool="refund",verdict="confirm",result="{result}"}}'


# Values for each minute; a series that is missing was never scraped.
FIRING = {
    "SurestepNoWorker": {UP: "1 0x60"},
    "SurestepFiguresOld": {COUNTED: "0x60"},
    "SurestepStepsStuck": {"surestep_stuck_steps": "2x60"},
    "SurestepStepsDelayed": {"surestep_delayed_steps": "1x60"},
    "SurestepStepsOrphaned": {"surestep_orphaned_steps": "1x60"},
    "SurestepUnknownTooLong": {AGE: "14401+60x60", LIMIT: "14400x60"},
    "SurestepQuestionsOverdue": {'surestep_overdue_questions{tool="refund"}': "1x60"},
    "SurestepAnomaly": {'surestep_open_anomalies{kind="late"}': "1x60"},
    "SurestepNobodyTold": {told("nobody"): "_x20 1x40"},
    "SurestepAttemptsAmbiguous": {attempts("ambiguous"): "0+2x60", attempts("answered"): "0+8x60"},
    "SurestepLooksFail": {looks("unknown"): "0+6x60", looks("confirmed"): "0+4x60"},
    "SurestepFencesRefused": {"surestep_fences_refused_total": "_x20 1x40"},
    "SurestepDecisionsRefused": {decisions("refused"): "0+1x60"},
    "SurestepWorkersBusy": {SLOTS: "0x60"},
}
QUIET = {
    "SurestepNoWorker": {UP: "1x60", 'up{job="surestep",instance="worker-2"}': "0x60"},
    "SurestepFiguresOld": {COUNTED: "0+60x60"},
    "SurestepStepsStuck": {"surestep_stuck_steps": "0x60"},
    "SurestepStepsDelayed": {"surestep_delayed_steps": "0x60"},
    "SurestepStepsOrphaned": {"surestep_orphaned_steps": "0x60"},
    "SurestepUnknownTooLong": {AGE: "3000+60x60", LIMIT: "14400x60"},
    "SurestepQuestionsOverdue": {'surestep_overdue_questions{tool="refund"}': "0x60"},
    "SurestepAnomaly": {'surestep_open_anomalies{kind="late"}': "0x60"},
    "SurestepNobodyTold": {told("nobody"): "1x60", told("told"): "0+1x60"},
    "SurestepAttemptsAmbiguous": {attempts("ambiguous"): "0+1x60", attempts("answered"): "0+30x60"},
    "SurestepLooksFail": {looks("unknown"): "0+4x60", looks("not_found"): "0+6x60"},
    "SurestepFencesRefused": {"surestep_fences_refused_total": "1x60"},
    "SurestepDecisionsRefused": {decisions("refused"): "3x60", decisions("taken"): "0+9x60"},
    "SurestepWorkersBusy": {SLOTS: "1x60"},
}
AT = "31m"


def case(name, series, firing, labels=""):
    """One test of promtool. `labels`: those of the alert that fires."""
    wanted = {"labels": f'ALERTS{{alertname="{name}",alertstate="firing"{labels}}}', "value": 1}
    asked = f'ALERTS{{alertname="{name}",alertstate="firing"}}'
    return {
        "interval": "1m",
        "input_series": [{"series": one, "values": values} for one, values in series.items()],
        "promql_expr_test": [
            {"expr": asked, "eval_time": AT, "exp_samples": [wanted] if firing else []}
        ],
    }


def labels_of(rule, series):
    """Of the alert: its severity, and whatever its expression groups by."""
    found = {"severity": rule["labels"]["severity"]}
    for by in re.findall(r"by \((\w+)\)", rule["expr"])[:1]:
        found[by] = re.search(rf'{by}="([^"]+)"', " ".join(series))[1]
    return "".join(f',{name}="{value}"' for name, value in found.items())


def run(tmp_path, cases):
    document = {
        "rule_files": [str(FILES / "alerts.yml")],
        "evaluation_interval": "1m",
        "tests": cases,
    }
    (tmp_path / "cases.json").write_text(json.dumps(document))
    assert "SUCCESS" in promtool("test", "rules", "cases.json", folder=tmp_path)


def test_the_rules_and_the_configuration_are_ones_that_prometheus_takes():
    assert f"{len(rules())} rules found" in promtool("check", "rules", "alerts.yml")
    assert "is valid" in promtool("check", "config", "prometheus.yml")


def test_every_alert_fires_when_it_should(tmp_path):
    cases = [
        case(one["alert"], FIRING[one["alert"]], True, labels_of(one, FIRING[one["alert"]]))
        for one in rules()
    ]
    run(tmp_path, cases)


def test_no_alert_fires_when_all_is_well(tmp_path):
    run(tmp_path, [case(one["alert"], QUIET[one["alert"]], False) for one in rules()])


def test_every_alert_says_what_it_means_and_where_it_says_what_to_do():
    runbook = (ROOT / "docs/runbook.md").read_text()
    for rule in rules():
        told, name = rule["annotations"], rule["alert"]
        assert told["summary"]
        assert told["description"]
        assert told["runbook_url"] == f"docs/runbook.md#{name.lower()}"
        assert re.search(rf"^### {name}$", runbook, re.MULTILINE), f"{name} has no heading"


def test_what_a_real_worker_says_of_an_overdue_unknown_raises_the_alarm(observed, tmp_path):
    series = {}
    for line in observed.parked.splitlines():
        if (match := SAMPLE.match(line)) and match[1].startswith("surestep_"):
            series[f"{match[1]}{{{match[2].rstrip(',')}}}"] = f"{match[3]}x60"
    overdue = ',severity="warning",tool="parcel"'
    names = ("SurestepUnknownTooLong", "SurestepQuestionsOverdue")
    run(tmp_path, [case(name, series, True, overdue) for name in names])


@pytest.mark.parametrize("cases", [FIRING, QUIET], ids=["firing", "quiet"])
def test_there_is_a_case_for_each_alert(cases):
    assert set(cases) == {rule["alert"] for rule in rules()}
