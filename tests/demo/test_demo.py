"""`make demo` as CI runs it: once, without a terminal, whatever is configured for production."""

import json
import os
import subprocess
import sys

import pytest

DEMO = "from surestep.demo import main; raise SystemExit(main(keep=False, as_json=True))"

PRODUCTION = {
    "TEMPORAL_ADDRESS": "127.0.0.1:1",
    "TEMPORAL_NAMESPACE": "production",
    "TEMPORAL_API_KEY": "secret",
    "SURESTEP_TOOLS": "acme.tools:tools",
    "SURESTEP_TASK_QUEUE": "production",
    "HTTP_PROXY": "http://127.0.0.1:1",
}

SETTLED = {
    "Nothing goes wrong": "by the service's response",
    "Reply lost after the commit": "by a lookup",
    "Request never arrives": "by the service's response, attempt 2, absence proven first",
    "Lands 3 s after we gave up": "by a lookup",
    "The same, with a key": "by the service's response, attempt 2",
    "Accepted (202), done later": "by a lookup",
    "Same intent, new call id": "by the service's response; the other calls attached",
    "Same step, other arguments": "by the service's response; the second call was refused",
    "Reply lost, blind service": "by the word of the demo",
}


@pytest.mark.timeout(120)
def test_every_row_of_the_demo_is_right(tmp_path):
    demo = subprocess.run(
        [sys.executable, "-c", DEMO],
        cwd=tmp_path,
        env=os.environ | PRODUCTION | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert demo.returncode == 0, demo.stderr

    table, totals = map(json.loads, demo.stdout.splitlines())
    assert {row["scene"]: row["settled"] for row in table["table"]} == SETTLED
    for row in table["table"]:
        assert (row["intended"], row["effects"], row["state"]) == (1, 1, "confirmed")
        assert (row["right"], row["wrong"]) == (True, [])
        assert row["asked"] == (row["scene"] == "Reply lost, blind service")
    seconds = totals.pop("seconds")
    assert totals == {"rows": 9, "right": 9, "duplicates": 0, "asked": 1}
    assert 0 < seconds < 110

    assert "StepConflict: charge.cents: 2500 there, 9900 now" in demo.stderr
    assert "/workflows/letter%2Fcustomer-3" in demo.stderr
    assert "python starter.py decide letter/customer-3/letter confirm" in demo.stderr
    assert list(tmp_path.iterdir()) == []  # nothing is left behind
