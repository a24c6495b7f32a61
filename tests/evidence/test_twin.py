"""The simulator and the real workflow come to the same end."""

from .stories import stories
from .twin import compare

CHOSEN = ("'lost reply', arm='Δ promised'", "'never arrives', arm='Δ promised'")


async def test_the_real_workflow_does_what_the_simulator_says():
    few = [
        one
        for one in stories(seeds=1)
        if "E2" in one.name and any(part in one.name for part in CHOSEN) and "lagging l" in one.name
    ]
    assert len(few) == 4
    compared = await compare(few)
    assert compared["differences"] == []
