"""Every fault of a write, and of a lookup, against tools for every kind of service."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from surestep import State, Tool
from surestep.http import REFUSED, REFUSED_FOR_NOW
from surestep.testing.faults import LOOKUP_FAULTS, WRITE_FAULTS, Commit, Reply, write_fault
from tests.steps import facts, tools
from tests.steps.operators import charge

# Steps mostly wait, so those of three tools wait together.
TOGETHER = [
    (tools.keyed, tools.blind, tools.hasty),
    (tools.keyed_blind, tools.lookup, tools.asynchronous),
]

# 1 s is shorter than a tool waits for an answer, 2.5 s is longer. Counted from the moment when
# the tool gives up, 2.5 s lie within the 2 s that the services promise; from the send, beyond.
SECONDS, BEYOND = ("1", "2.5"), "late:2.5"
ONCE = {"accepted": "1", "accepted_fails": "1", "rate_limited": "1", "drip": "2.5"}

# error_after says nothing of a refusal after a commit (422 and such): a service that lies so has
# broken what every HTTP client takes for granted, and the contract has no word for it.
CODES = {
    "error_before": ("500", "404"),
    "error_after": ("500",),
    "refuse": ("422", "401", "409"),
    "redirect": ("303", "307"),
    "redirect_uncommitted": ("307",),
}


def _texts() -> Iterator[str]:
    for fault in WRITE_FAULTS.values():
        match fault.takes.letter if fault.takes else None:
            case None:
                yield fault.name
            case "S" if fault.name in ONCE:
                yield f"{fault.name}:{ONCE[fault.name]}"
            case "S":
                yield from (f"{fault.name}:{seconds}" for seconds in SECONDS)
            case "CODE":
                yield from (f"{fault.name}:{code}" for code in CODES[fault.name])
            case "BYTES":
                yield f"{fault.name}:3000000"


FAULTS = tuple(_texts())


def kind(text: str) -> str:
    """What a fault comes to, for a tool that gives up after 1.5 s."""
    chosen = write_fault(text)
    fault, amount = chosen.fault, chosen.amount
    if fault.commit is Commit.QUEUED:
        return "accepted"
    if fault.commit is Commit.QUEUED_IN_VAIN:
        return "in vain"
    if fault.reply in (Reply.ERROR, Reply.PROBLEM) and amount in REFUSED:
        return "refused"
    if fault.reply is Reply.RATE_LIMITED or amount in REFUSED_FOR_NOW:
        return "again"
    if fault.reply is Reply.ANSWER or (fault.reply in (Reply.SLOW, Reply.DRIP)):
        return "told" if amount < tools.QUICK.total_seconds() else "applied"
    return "lost" if fault.commit is Commit.NEVER else "applied"


# These meet every fault. The others send with the code of `keyed`, so they meet one for each thing
# that a fault can come to.
MEET_ALL = (tools.keyed, tools.lookup, tools.hasty)


def faults(tool: Tool) -> list[str]:
    if tool in MEET_ALL:
        return list(FAULTS)
    unlike: dict[tuple[str, Commit], str] = {}
    for text in FAULTS:
        unlike.setdefault((kind(text), write_fault(text).fault.commit), text)
    return list(unlike.values())


C, R, U, A = State.CONFIRMED, State.REJECTED, State.UNKNOWN, State.ACCEPTED

# What can be known is known without a human. hasty says nothing of refusals, so it has doubts
# where a careful tool has none; a blind service leaves every doubt to a human, or to its key.
KINDS = ("told", "refused", "again", "applied", "lost", "accepted", "in vain")
ENDS = {
    "keyed":        (C, R, C, C, C, C, R),
    "keyed_blind":  (C, R, C, C, C, A, A),
    "lookup":       (C, R, C, C, C, C, R),
    "blind":        (C, R, C, U, U, A, A),
    "asynchronous": (C, R, C, C, U, C, R),
    "hasty":        (C, U, U, C, U, C, U),
}  # fmt: skip


def end_of(tool: Tool, text: str) -> State:
    if text == "other_content" and tool in (tools.keyed, tools.lookup, tools.asynchronous):
        return U  # R8: an effect that differs is for a human
    return ENDS[tool.name][KINDS.index(kind(text))]


def landing(tool: Tool, text: str) -> timedelta:
    """How long after it was received a write can still commit."""
    chosen = write_fault(text)
    late = chosen.fault.commit not in (Commit.NEVER, Commit.AT_ONCE, Commit.TWICE)
    work = 2 if tool is tools.asynchronous else 0
    return timedelta(seconds=work + (chosen.amount if late else 0))


@pytest.mark.parametrize(
    "together", TOGETHER, ids=lambda together: "-".join(tool.name for tool in together)
)
async def test_whatever_happens_to_a_write_the_truth_is_told(together, working, world, step_id):
    cases = {
        (tool, text): f"{step_id}/{tool.name}/{text}" for tool in together for text in faults(tool)
    }
    ends = {case: end_of(*case) for case in cases}
    for (tool, text), one in cases.items():
        await world.fault(f"{one}/{tool.name}", write=[text])

    async with working(*together) as surestep:
        starts = [surestep.start(one, charge(tool)) for (tool, _), one in cases.items()]
        handles = dict(zip(cases, await asyncio.gather(*starts), strict=True))
        settling = [
            handle.outcome(within=timedelta(seconds=40))
            for case, handle in handles.items()
            if ends[case] not in (U, A)
        ]
        await asyncio.gather(*settling, return_exceptions=True)
        waiting = [one for case, one in cases.items() if ends[case] in (U, A)]
        await facts.all_parked(surestep, waiting, (U, A))
        longest = max(landing(tool, text) for tool, text in cases)
        await facts.landed(world, f"{step_id}/*", longest=longest)
        records = {case: await facts.record(surestep, one) for case, one in cases.items()}

    wrong = []
    for (tool, text), record in records.items():
        case = f"{tool.name}, {text}"
        effects = await world.count(record.action_id)
        requests = await facts.posts(world, f"{record.action_id}*")
        if not _lawful(tool, text, record.state, effects):
            wrong.append(f"{case}: {record.state} with {effects} effects\n{facts.told(record)}")
        if record.state is not ends[tool, text]:
            expected = ends[tool, text]
            wrong.append(f"{case}: {record.state} for {expected}\n{facts.told(record)}")
        if len({(one.key, one.sha256) for one in requests}) != 1:
            wrong.append(f"{case}: keys or contents differ")
        if text == "twice" and tool is tools.asynchronous and not record.anomalies:
            wrong.append(f"{case}: two effects were seen, and nobody is told")
    assert not wrong, "\n".join(wrong)


def _lawful(tool: Tool, text: str, state: State, effects: int) -> bool:
    """One effect at the most, and none is denied or made up."""
    broken = 2 if text == "twice" or (tool, text) == (tools.lookup, BEYOND) else 1
    if effects > broken:
        return False
    if state is C:
        return effects > 0
    return effects == 0 if state in (R, State.NOT_FOUND) else True


LOOKUPS = {"error:500", "error:404", "hang", "reset", "html", "empty_json", "miss", "lookalike"}


def test_every_fault_of_a_lookup_is_tried():
    assert {text.partition(":")[0] for text in LOOKUPS} | {"honest"} == set(LOOKUP_FAULTS)


async def test_a_lookup_that_fails_decides_nothing(working, world, step_id):
    # A `miss` after two seconds breaks what `lookup` promises; nothing is promised for `hasty`.
    kinds = [(tools.lookup, text) for text in sorted(LOOKUPS - {"miss", "lookalike"})]
    kinds += [(tools.hasty, text) for text in sorted(LOOKUPS - {"lookalike"})]
    cases = [(write, *kind) for write in ("reply_lost", "never_arrives") for kind in kinds]
    ids = {case: f"{step_id}/{number}" for number, case in enumerate(cases)}
    async with working(tools.lookup, tools.hasty) as surestep:
        for (write, tool, text), one in ids.items():
            await world.fault(f"{one}/*", write=[write], lookup=["honest"] + [text] * 100)
            await surestep.start(one, charge(tool))
        for case, one in ids.items():
            record = await facts.looked(surestep, one, times=3)
            decided = record.closed or record.confirmation or record.absent
            assert not decided, f"{case}: {facts.told(record)}"
            assert len(await facts.posts(world, record.action_id)) == 1
            await world.fault(f"{one}/*", lookup=[])
        for (write, tool, _), one in ids.items():
            if tool is tools.lookup or write == "reply_lost":
                outcome = await surestep.handle(one).outcome(within=timedelta(seconds=20))
                assert outcome.state is State.CONFIRMED, facts.told(outcome)
                assert await world.count(f"{one}/*") == 1
            else:
                await facts.parked(surestep, one)
                assert await world.count(f"{one}/*") == 0


@pytest.mark.parametrize(("write", "requests"), [("reply_lost", 1), ("never_arrives", 2)])
async def test_what_only_looks_like_ours_is_not_ours(write, requests, working, world, step_id):
    key = f"{step_id}/lookup"
    await world.fault(key, write=[write], lookup=["honest"] + ["lookalike"] * 100)
    async with working(tools.lookup) as surestep:
        outcome = await surestep.run(step_id, charge(tools.lookup))
    (effect,) = await world.effects(key)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id == effect.id
    assert len(await facts.posts(world, key)) == requests
