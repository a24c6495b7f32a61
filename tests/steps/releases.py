"""Two releases of one worker's tools: the second promises other things, lost a tool, and wants an
argument more of another."""

from surestep import Call, Receipt, Tool
from tests.steps.tools import IMPATIENT, PROMPT, Charge, careful

# By these promises a miss proves absence; without them it proves nothing.
SURE, UNSURE = ({**PROMPT, "patience": IMPATIENT}, {"patience": IMPATIENT})


class Noted(Charge):
    note: str


less_sure = careful("less_sure", "lookup", **SURE)
more_sure = careful("more_sure", "lookup", **UNSURE)
lost = careful("lost", "lookup", **UNSURE)
changed = careful("changed", "blind", looks=False, ask=True)

first = [less_sure, more_sure, lost, changed]

noted = Tool("changed", Noted, changed.contract)


@noted.execute
async def _(args: Noted, call: Call) -> Receipt:
    raise AssertionError("it cannot be called with what the first release recorded")


second = [
    careful("less_sure", "lookup", **UNSURE),
    careful("more_sure", "lookup", **SURE),
    noted,
]
