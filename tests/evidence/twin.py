"""The same stories through the real workflow, real activities and a server that skips time.

An activity takes no time of the skipped clock, so both are run with calls that take none ("quick"),
and must agree: in state, effects, requests, questions, and in when they happened.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel
from temporalio import activity
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import WorkflowEnvironment

from surestep import Accepted, Call, NotSent, Receipt, Refused, Surestep, Tool, Tools, Verification
from surestep.contract import Contract
from surestep.decision import Verdict
from surestep.policy import Fence, Verify, Wait, next_move
from surestep.protocol import DECIDE
from surestep.record import Record
from worker import build_worker

from .course import Course, Story, simulated
from .executor import HORIZON, Declared, decision, verification
from .service import Reply, Service
from .skipping import skipping_server

BUSY: Final = (
    RPCStatusCode.FAILED_PRECONDITION,  # it has not begun
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,  # what the SDK calls a deadline of its own
    RPCStatusCode.UNAVAILABLE,
)
AT_ONCE: Final = 6
QUEUE: Final = "evidence"
LOOKS_EVERY: Final = 0.02  # real seconds
SHORTEST: Final = timedelta(milliseconds=100)
GIVES_UP: Final = 240.0  # real seconds for one story


class Number(BaseModel):
    number: int


@dataclass
class Played:
    """A story on its way through the workflow."""

    story: Story
    service: Service
    begun: datetime | None = None
    said: dict[str, Verdict] = field(default_factory=dict)
    question: datetime | None = None
    comes: float = 0.0

    def taken(self, record: Record) -> list[Verdict]:
        """What was said and not refused, as of an older version."""
        return [word for id, word in self.said.items() if id in record.decided]

    def second(self, at: datetime) -> float:
        self.begun = self.begun or at
        return (at - self.begun).total_seconds()


async def compare(stories: Sequence[Story]) -> dict[str, Any]:
    """Both courses of each story, and where they differ.

    On a busy machine every move of the real one is late, and a look can come after what it would
    have missed. So those that differ are run once more, one at a time.
    """
    expected, real = [simulated(one) for one in stories], await performed(stories, AT_ONCE)
    differ = [n for n, one in enumerate(real) if not expected[n].agrees(one)]
    again = await performed([stories[n] for n in differ], 1)
    for n, one in zip(differ, again, strict=True):
        real[n] = one
    same = [(one, two) for one, two in zip(expected, real, strict=True) if one.agrees(two)]
    return {
        "stories": len(stories),
        "same_end": len(same),
        "same_end_at_once": len(stories) - len(differ),
        "in_step": sum(one.in_step(two) for one, two in same),
        "differences": [
            {"story": story.name, "simulated": asdict(one), "real": asdict(two)}
            for story, one, two in zip(stories, expected, real, strict=True)
            if not one.agrees(two)
        ],
    }


async def performed(stories: Sequence[Story], at_once: int) -> list[Course]:
    """Each story through the real workflow, so many at a time."""
    if not stories:
        return []
    played = [Played(one, one.service()) for one in stories]
    tools = {one.story.declared.contract: _tool(played, one.story.declared) for one in played}
    places = asyncio.Semaphore(at_once)
    async with skipping_server() as environment:
        client = environment.client
        grace = timedelta(seconds=1)
        async with build_worker(client, Tools(*tools.values()), task_queue=QUEUE, grace=grace):
            surestep = Surestep(client, task_queue=QUEUE)

            async def one(number: int) -> Course:
                tool = tools[played[number].story.declared.contract]
                async with places:
                    try:
                        async with asyncio.timeout(GIVES_UP):
                            return await _perform(
                                environment, surestep, tool, played[number], number
                            )
                    except TimeoutError:
                        return Course("not ended", 0, [], False, False, GIVES_UP)

            return list(await asyncio.gather(*(one(number) for number in range(len(played)))))


async def _perform(
    environment: WorkflowEnvironment, surestep: Surestep, tool: Tool, played: Played, number: int
) -> Course:
    step_id = f"evidence/{number}"
    await surestep.start(step_id, tool(number=number))
    handle = surestep.client.get_workflow_handle(step_id)
    while True:
        try:
            record = await _record(surestep, step_id)
            if record is not None and record.closed:
                return _course(played, record)
            if record is None or record.in_flight:
                await asyncio.sleep(LOOKS_EVERY)
                continue
            now = await environment.get_current_time(handle)
            await _pass(environment, handle, played, record, now)
        except RPCError as error:
            if error.status not in (*BUSY, RPCStatusCode.NOT_FOUND):  # or it has ended meanwhile
                raise


async def _pass(
    environment: WorkflowEnvironment,
    handle: WorkflowHandle[object, object],
    played: Played,
    record: Record,
    now: datetime,
) -> None:
    """To the next moment at which anything happens: the step's own, or a human's word."""
    due = _due(record, now)
    if record.asked is None or record.decision is not None:
        played.question = record.asked
    elif record.asked != played.question:
        played.question = record.asked
        played.comes = played.second(record.asked) + played.story.declared.comes_after
    this = f"{record.asked} {record.version}"
    speaks = record.asked is not None and record.decision is None and this not in played.said
    if speaks and (due is None or played.comes <= played.second(due)):
        left = played.comes - played.second(now)
        if left > 0.05:
            await environment.fast_forward(handle, timedelta(seconds=left))
            return
        retries = played.taken(record).count(Verdict.RETRY)
        word = played.story.declared.human(played.service, played.second(now), retries)
        if isinstance(word, float):
            played.comes = max(word, played.second(now) + 1.0)
            return
        said = decision(word, record, played.service, played.second(now))
        await handle.signal(DECIDE, said.model_dump(mode="json", exclude_none=True))
        played.said[this] = word
        return
    if due is None or due - now < SHORTEST:
        await asyncio.sleep(LOOKS_EVERY)
    else:
        await environment.fast_forward(handle, due - now)


def _due(record: Record, now: datetime) -> datetime | None:
    match next_move(record, now):
        case Verify(at=at) | Fence(at=at) | Wait(until=datetime() as at):
            return at
        case _:
            return None


async def _record(surestep: Surestep, step_id: str) -> Record | None:
    records = await surestep.handle(step_id).records()
    return records[0] if records else None


def _course(played: Played, record: Record) -> Course:
    assert record.closed
    played.service.advance(HORIZON)
    asked = any("a human is asked" in line.text for line in record.log)
    return Course(
        record.closed.state.value,
        len(played.service.rows),
        played.service.requests,
        asked,
        bool(played.taken(record)),
        played.second(record.closed.at),
    )


def _tool(played: Sequence[Played], declared: Declared) -> Tool:
    """The tool of one contract; its arguments say whose turn it is."""
    tool = Tool(_name(declared.contract, declared.looks), Number, declared.contract)

    @tool.execute
    async def _(args: Number, call: Call) -> Receipt | Accepted:
        one = played[args.number]
        answer = one.service.send(call.action_id, one.second(activity.info().started_time))
        pause = None if answer.pause is None else timedelta(seconds=answer.pause)
        match answer.reply:
            case Reply.ANSWER:
                return Receipt(id=answer.id)
            case Reply.ACCEPTED:
                return Accepted(receipt=Receipt(id=answer.id))
            case Reply.AGAIN:
                raise Refused("later", again=True, retry_after=pause)
            case Reply.REFUSED:
                raise Refused("the key is too old")
            case Reply.UNREACHABLE:
                raise NotSent("no connection")
        raise ConnectionResetError

    if declared.looks:

        @tool.verify
        async def _(args: Number, call: Call) -> Verification:
            one = played[args.number]
            return verification(one.service, one.second(activity.info().started_time))

    return tool


def _name(contract: Contract, looks: bool) -> str:
    return f"t{abs(hash((contract, looks)))}"
