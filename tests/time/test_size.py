"""Large steps: what comes in under the limits must go through to the end (TH-01, TH-02)."""

from datetime import timedelta

from pydantic import BaseModel

import workflows.settling
from surestep import Call, Contract, Effect, Receipt, State, Tool, Verification, not_found
from surestep.identity import STEP_INPUT_LIMIT
from tests.saying import say
from tests.waiting import eventually


class Letter(BaseModel):
    text: str


def letter(name: str = "letter", *, breaks: bool = False, answer: str = "") -> Tool:
    tool = Tool(
        name,
        Letter,
        Contract(
            effect=Effect.IRREVERSIBLE, look_first=False, patience=timedelta(milliseconds=100)
        ),
    )

    @tool.execute
    async def _(args: Letter, call: Call) -> Receipt:
        if breaks:
            raise ConnectionResetError
        return Receipt(id="e-1", result=answer)

    @tool.verify
    async def _(args: Letter, call: Call) -> Verification:
        return not_found()

    return tool


def largest(tool: Tool) -> str:
    """A text that fills a step to its limit."""
    return "x" * (STEP_INPUT_LIMIT - 500 - len(tool.name))


async def test_a_step_at_the_limit_runs_to_its_end(working, step_id):
    tool = letter()
    async with working(tool) as surestep:
        within = timedelta(seconds=10)
        outcome = await surestep.run(step_id, tool(text=largest(tool)), within=within)
    assert outcome.state is State.CONFIRMED


async def test_a_step_at_the_limit_can_renew_its_history(working, step_id, monkeypatch):
    monkeypatch.setattr(workflows.settling, "EVENTS_LIMIT", 1)
    tool = letter(breaks=True)
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, tool(text=largest(tool)))
        first = (await handle.describe()).run_id

        async def renewed():
            return (await handle.describe()).run_id != first

        await eventually(renewed)
        ruling = await say(surestep, step_id, "confirm", by="ann")
        assert ruling.taken, ruling.why


async def test_forty_large_answers_do_not_keep_a_step_from_ending(working, step_id):
    """Each answer is under the limit of one; the outcome holds them all."""
    tool = letter(answer="y" * 60_000)
    actions = [tool(text="x").named(f"letter-{number}") for number in range(40)]
    async with working(tool) as surestep:
        within = timedelta(seconds=6)
        outcome = await surestep.run(step_id, *actions, mode="parallel", within=within)
        assert outcome.state is State.CONFIRMED
        assert len(outcome.actions) == 40


async def test_an_answer_of_three_megabytes_is_cut_and_the_success_stays(working, step_id):
    tool = letter(answer="y" * 3_000_000)
    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(text="x"), within=timedelta(seconds=10))
    assert outcome.state is State.CONFIRMED
    assert "cut" in str(outcome.result)
