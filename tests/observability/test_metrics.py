"""The metrics of a real worker; rules and dashboard ask for nothing else."""

import json
import re

import pytest
from ruamel.yaml import YAML

from surestep.setting_values import _listen
from surestep.telemetry import meters
from surestep.telemetry.runtime import MetricsUnavailable, _resolved
from tests.observability.conftest import AGENT_RUN, CANARY, LOST, OK
from tests.observability.promtool import FILES, ROOT, promtool

OURS = {name: value for name, value in vars(meters).items() if name.isupper()}
SAMPLE = re.compile(r"^([a-z_]+)\{(.*)\} (\S+)$")


def samples(scrape):
    """(name, labels) → value."""
    found = {}
    for line in scrape.splitlines():
        if match := SAMPLE.match(line):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
            known = {key: labels[key] for key in labels if key not in ELSEWHERE}
            found[match[1], tuple(sorted(known.items()))] = float(match[3])
    return found


ELSEWHERE = ("service_name", "namespace", "task_queue", "workflow_type", "activity_type")


def value(scrape, name, **labels):
    return samples(scrape).get((name, tuple(sorted(labels.items()))))


def names_in(scrape):
    return {name for name, _ in samples(scrape)}


def asked_for(expression):
    return set(re.findall(r"\b(?:surestep|temporal)_[a-z_]+", re.sub(r'"[^"]*"', "", expression)))


def rules():
    groups = YAML(typ="safe").load((FILES / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels():
    board = json.loads((FILES / "dashboard.json").read_text())
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries():
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def test_actions_are_counted_by_tool_and_state(observed):
    for tool, state in [("letter", "confirmed"), ("parcel", "unknown"), ("slow", "planned")]:
        assert value(observed.parked, "surestep_transitions_total", tool=tool, state=state) == 1


def test_attempts_looks_and_fences_are_counted_by_how_they_end(observed):
    text = observed.parked
    assert value(text, "surestep_attempts_total", tool="letter", outcome="answered") == 1
    assert value(text, "surestep_attempts_total", tool="parcel", outcome="ambiguous") == 1
    assert value(text, "surestep_looks_total", tool="parcel", finding="unknown") >= 1
    assert value(text, "surestep_fences_refused_total") == 1


def test_what_is_open_is_counted_with_its_age_and_its_limit(observed):
    text = observed.parked
    assert value(text, "surestep_open_steps", state="unknown") >= 1  # of the whole namespace
    assert value(text, "surestep_open_questions", tool="parcel") == 1
    assert value(text, "surestep_overdue_questions", tool="parcel") == 1
    assert value(text, "surestep_overdue_questions", tool="letter") == 0
    assert value(text, "surestep_oldest_unknown_age_seconds", tool="parcel") > 0
    assert value(text, "surestep_unknown_limit_seconds", tool="letter") == 4 * 3600
    assert value(text, "surestep_stuck_steps") == 0


def test_decisions_are_counted_by_verdict_and_timed_from_the_question(observed):
    text, verdict = observed.settled, "leave_unknown"
    given = {"tool": "parcel", "verdict": verdict, "result": "taken"}
    assert value(text, "surestep_decisions_total", **given) == 1
    assert value(text, "surestep_decision_latency_seconds_count", verdict=verdict) == 1
    assert value(text, "surestep_decision_latency_seconds_bucket", verdict=verdict, le="60") == 1


def test_no_label_is_an_id_an_argument_or_a_person(observed):
    text = observed.parked + observed.settled
    assert not [word for word in (CANARY, OK, LOST, AGENT_RUN) if word in text]


def test_every_metric_that_an_alert_or_a_panel_names_is_really_served(observed):
    served = names_in(observed.settled)
    wanted = {name for rule in rules() for name in asked_for(rule["expr"])}
    wanted |= {name for query in queries() for name in asked_for(query)}
    assert len(wanted) > 15
    assert wanted - served == set()


def test_our_metrics_are_named_as_prometheus_likes_it(observed):
    ours = [line for line in observed.settled.splitlines() if "surestep_" in line]
    assert promtool("check", "metrics", given="\n".join([*ours, ""])) == ""


def test_every_metric_of_ours_is_explained():
    page = (ROOT / "docs/observability.md").read_text()
    assert {name for name in OURS.values() if f"| `{name}" not in page} == set()


def test_the_dashboard_is_one_that_grafana_can_show():
    board = json.loads((FILES / "dashboard.json").read_text())
    assert board["templating"]["list"][0]["type"] == "datasource"
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken
        taken |= cells
    for panel in panels():
        assert panel["title"]
        assert panel["description"]
        assert {one["datasource"]["uid"] for one in panel["targets"]} == {"${datasource}"}


def test_every_query_of_the_dashboard_is_promql(tmp_path):
    asked = [query.replace("$__rate_interval", "5m") for query in queries()]
    recorded = [{"record": f"panel:{number}", "expr": expr} for number, expr in enumerate(asked)]
    (tmp_path / "panels.json").write_text(
        json.dumps({"groups": [{"name": "panels", "rules": recorded}]})
    )
    assert f"{len(asked)} rules found" in promtool("check", "rules", "panels.json", folder=tmp_path)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("127.0.0.1:9464", "127.0.0.1:9464"),
        ("[::1]:9464", "[::1]:9464"),
        ("0.0.0.0:1", "0.0.0.0:1"),
    ],
)
def test_metrics_are_served_at_an_address(given, address):
    assert _resolved(_listen(given)) == address


def test_a_name_without_an_address_is_refused():
    with pytest.raises(MetricsUnavailable, match=r"SURESTEP_METRICS='no\.such\.host\.invalid:1'"):
        _resolved("no.such.host.invalid:1")
