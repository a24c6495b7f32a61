"""What a service answers can be too large for the history: it is cut in the activity, and kept."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from surestep import (
    Accepted,
    Ambiguous,
    Contract,
    Effect,
    Fence,
    NotSent,
    Receipt,
    Refused,
    State,
    Tool,
    confirmed,
    not_found,
    pending,
    rejected,
    unknown,
)
from tests.saying import say
from tests.steps import facts
from tests.steps.operators import LIMIT

MEGABYTES = "y" * 3_000_000
HUGE = Receipt(id="e-1", result=MEGABYTES)
MANY = [Receipt(id="e-1", result="y" * 100_000)] * 40
LOST = Ambiguous("the answer was lost")
SECOND = timedelta(seconds=1)


class Nothing(BaseModel):
    pass


@dataclass
class Case:
    """What the calls of a tool return or raise, one after the other, and how the action ends."""

    sends: list[Any]
    looks: list[Any]
    fence: Fence | None = None
    ends: State = State.CONFIRMED


CASES = {
    "an acceptance, and what it became": Case([Accepted(receipt=HUGE)], [confirmed(HUGE)]),
    "an acceptance that is still worked on": Case(
        [Accepted(receipt=HUGE)], [pending(MEGABYTES, HUGE), confirmed(HUGE)]
    ),
    "a look that finds it": Case([LOST], [confirmed(HUGE)]),
    "a look that finds the same forty times": Case([LOST], [confirmed(matches=MANY)]),
    "a look that fails with a long story": Case([LOST], [unknown(MEGABYTES), confirmed(HUGE)]),
    "a look that finds it refused": Case([LOST], [rejected(MEGABYTES, HUGE)], ends=State.REJECTED),
    "a fence that comes too late": Case(
        [LOST], [not_found()] * 99, fence=Fence(held=False, exists=HUGE)
    ),
    "a refusal with a long story": Case([Refused(MEGABYTES)], [], ends=State.REJECTED),
    "a doubt with a long story": Case([Ambiguous(MEGABYTES)], [confirmed(HUGE)]),
    "a failure before the send with a long story": Case([NotSent(MEGABYTES), HUGE], []),
}


def tool_for(number: int, case: Case) -> Tool:
    contract = Contract(effect=Effect.IRREVERSIBLE, look_first=False, patience=60 * SECOND)
    tool, sends, looks = Tool(f"t{number}", Nothing, contract), iter(case.sends), iter(case.looks)

    @tool.execute
    async def _(args, call):
        answer = next(sends)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @tool.verify
    async def _(args, call):
        return next(looks)

    if case.fence:

        @tool.fence
        async def _(args, call):
            return case.fence

    return tool


async def test_whatever_is_too_large_is_cut_and_nothing_is_lost_by_it(working, client, step_id):
    known = {name: tool_for(number, case) for number, (name, case) in enumerate(CASES.items())}
    async with working(*known.values()) as surestep:
        runs = [
            surestep.run(f"{step_id}/{tool.name}", tool(), within=LIMIT) for tool in known.values()
        ]
        outcomes = dict(zip(known, await asyncio.gather(*runs), strict=True))
    for name, case in CASES.items():
        outcome = outcomes[name]
        assert outcome.state is case.ends, f"{name}: {facts.told(outcome)}"
        if case.ends is State.CONFIRMED:
            assert outcome.actions[0].receipt.id == "e-1", name
        assert len(outcome.model_dump_json()) < 100_000, name
        described = await surestep.handle(f"{step_id}/{known[name].name}").describe()
        assert described.raw_description.workflow_execution_info.history_size_bytes < 1_000_000


async def test_a_trace_with_endless_parts_is_cut_and_put_to_a_human(working, step_id):
    names = [f"part {number} {'z' * 1000}" for number in range(1000)]
    case = Case([LOST], [unknown("half of it", holds=names, missing=names)] * 99)
    tool = tool_for(0, case)
    async with working(tool) as surestep:
        await surestep.start(step_id, tool())
        record = await facts.parked(surestep, step_id)
        assert record.trace
        assert len(record.model_dump_json()) < 100_000
        assert (await say(surestep, step_id, "confirm", by="Ada")).taken
