"""The human branch without a terminal: list, details and form of Temporal's own Web UI."""

import asyncio
from pathlib import Path

import pytest

from surestep import State
from surestep.record import Record
from surestep.ruling import verdicts
from tests.steps import facts
from tests.web_ui.browser import Browser
from tests.web_ui.pages import StepList, StepPage
from tests.web_ui.parking import printed_link, waiting_agents

pytestmark = [pytest.mark.xdist_group("web_ui"), pytest.mark.timeout(300)]

IN_THIS_ORDER = [
    "What happened:",
    "Proven:",
    "Forbidden now:",
    "Candidates found:",
    "Next, by itself:",
    "Decide:",
]


# What is sent, and a part of the answer. The Web UI makes quotation marks in prose curly.
WRONG = {
    '["confirm"]': "a JSON list instead of an object",
    '{"verdict": "confirmed"}': "verdict: Input should be",
}


@pytest.fixture
async def late_bank(world):
    """Answers get lost, and a lookup shows a transfer that is not ours."""
    await world.fault("*", write=["reply_lost"] * 10, lookup=["lookalike"] * 1000)
    return world


async def test_web_ui_shows_what_needs_a_human_and_takes_the_decision(
    surestep, late_bank, server, browser, pictures
):
    ours, other = "transfer/invoice-1041", "transfer/invoice-1042"
    async with waiting_agents(surestep, ours, other) as agents:
        link = await printed_link(server, surestep, ours, other)
        record = await facts.parked(surestep, ours)
        (effect,) = await late_bank.effects(f"{ours}/*")
        await asyncio.to_thread(an_operator_confirms, browser, link, record, effect.id, pictures)
        outcome = await agents[ours]
        assert not agents[other].done()
    (action,) = outcome.actions
    assert action.state is State.CONFIRMED
    assert action.receipt.id == effect.id
    assert "Ada decided to confirm (it is on the statement)" in facts.told(outcome)


def an_operator_confirms(
    browser: Browser, link: str, record: Record, receipt_id: str, pictures: Path | None
) -> None:
    """From the list to the decision, with nothing but what the pages show."""
    steps = StepList(browser, link)
    steps.set_columns(
        hide=("Run ID", "Type", "Start", "End"),
        show=("SurestepState", "SurestepTool", "SurestepUnknownSince"),
    )
    rows = {row["Workflow ID"]: row for row in steps.rows()}
    assert len(rows) == 2
    assert all(row["SurestepState"] == "unknown" for row in rows.values())
    assert all(row["SurestepTool"] == "transfer" for row in rows.values())
    if pictures:
        steps.picture(pictures / "list.png")

    step = steps.choose(record.action_id.rpartition("/")[0])
    step.timeline("transfer · attempt 1", "transfer · look 1")
    step.open_details()
    words = step.details()
    places = [words.find(heading) for heading in IN_THIS_ORDER]
    assert -1 not in places, words
    assert places == sorted(places), words
    assert "ef_somebody_elses" in words[places[3] : places[4]]
    blocks = step.blocks()
    assert list(blocks) == [verdict.value for verdict in verdicts(record)]
    assert all(block["version"] == record.version for block in blocks.values())
    if pictures:
        step.picture(pictures / "details.png")

    form = step.signal_form()
    choices = form.choices()
    names = [choice.partition("\n")[0] for choice in choices]
    assert {"decide", "notice"} <= set(names)
    assert "" not in names, "an entry that says nothing"
    assert all("\n" in choice for choice in choices if choice.startswith(("decide", "notice")))
    form.cancel()
    confirms(step, receipt_id, pictures)


def confirms(step: StepPage, receipt_id: str, pictures: Path | None = None) -> None:
    """The block of the details, pasted into the form and filled in."""
    block = step.copy_block("confirm")
    form = step.signal_form()
    form.choose("decide")
    form.paste(block)
    form.overwrite("YOUR NAME", by="Ada")
    form.overwrite("HOW YOU KNOW", by="it is on the statement")
    form.overwrite("SERVICE-ID", by=receipt_id)
    if pictures:
        form.picture(pictures / "form.png")
    form.submit()


async def test_web_ui_answers_what_was_pasted_wrong_and_the_step_goes_on(
    surestep, late_bank, server, browser
):
    ours = "transfer/invoice-1043"
    async with waiting_agents(surestep, ours) as agents:
        link = await printed_link(server, surestep, ours)
        step = await asyncio.to_thread(an_operator_errs, browser, link, ours)
        record = await facts.parked(surestep, ours)
        assert record.decision is None
        assert not agents[ours].done()
        (effect,) = await late_bank.effects(f"{ours}/*")
        await asyncio.to_thread(confirms, step, effect.id)
        outcome = await agents[ours]
    assert outcome.state is State.CONFIRMED
    assert len(await facts.posts(late_bank, f"{ours}/*")) == 1


def an_operator_errs(browser: Browser, link: str, step_id: str) -> StepPage:
    """Each error is answered where it is seen first: above what it is about."""
    step = StepList(browser, link).choose(step_id)
    step.open_details()
    for wrong, answer in WRONG.items():
        form = step.signal_form()
        form.choose("decide")
        form.write(wrong)
        form.submit()
        words = step.details(until=lambda words, answer=answer: answer in words)
        assert words.find(answer) < words.find(IN_THIS_ORDER[0]), words
    block = step.copy_block("confirm")
    form = step.signal_form()
    form.choose("decide")
    form.paste(block)
    form.submit()
    step.details(until=lambda words: "stands for something that you must put in" in words)
    return step
