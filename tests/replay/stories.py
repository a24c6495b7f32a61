"""The stories that are recorded: one for each state in which a deploy can find a step."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from temporalio.api.enums.v1 import EventType

from surestep import Accepted, Call, KeySupport, Receipt, State, Tool, Verification, confirmed
from tests.replay import stage
from tests.replay.stage import Order, Stage, accepts, breaks, is_down, is_running, refuses, tool
from tests.saying import say
from tests.waiting import eventually

RENEW_AT = 40
"""Instead of workflows.settling.EVENTS_LIMIT, in the stories of renewal and their replay."""

DAY = KeySupport(lifetime=timedelta(days=1))
PROMPT = {"in_flight": stage.SHORT, "visibility_lag": timedelta(0)}


@dataclass(frozen=True)
class Story:
    """How to bring a step into a state. `works`: an activity worker runs; else nobody sends."""

    name: str
    tools: Sequence[Tool]
    play: Callable[[Stage], Awaitable[str | None]]
    works: bool = True
    renews: bool = False


STORIES: dict[str, Story] = {}

Play = Callable[[Stage], Awaitable[str | None]]


def story(*tools: Tool, works: bool = True, renews: bool = False) -> Callable[[Play], Play]:
    """Register a story. It returns the id of the workflow to record, None for the step itself."""

    def register(play: Play) -> Play:
        name = play.__name__
        STORIES[name] = Story(name, tools, play, works=works, renews=renews)
        return play

    return register


async def hangs(args: Order, call: Call) -> Receipt | Accepted:
    await asyncio.sleep(30)
    return Receipt()


def lands_later() -> Callable[[Order, Call], Awaitable[Verification]]:
    """A lookup that misses twice and then sees."""
    looks = 0

    async def verify(args: Order, call: Call) -> Verification:
        nonlocal looks
        looks += 1
        return confirmed(Receipt(id="e-late")) if looks > 2 else await stage.misses(args, call)

    return verify


@story(tool("charge"), works=False)
async def sent_and_no_worker_takes_it(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.scheduled(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)


@story(tool("charge", hangs))
async def in_flight(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.until(lambda records: records[0].in_flight)


@story(tool("charge", breaks, patience=timedelta(minutes=1)))
async def verifying_after_an_ambiguous_attempt(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.until(lambda records: records[0].looks.count >= 2)


@story(tool("charge", breaks))
async def unknown(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await on.until(lambda records: records[0].looks.count >= 3)


@story(tool("charge", breaks, None))
async def unknown_and_blind(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)


@story(tool("charge", breaks, is_down))
async def decided_while_the_lookup_is_down(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    ruling = await say(on.surestep, on.step_id, "retry", by="ann")
    assert ruling.taken, ruling.why
    await on.until(lambda records: records[0].decision)


@story(tool("charge", breaks, None))
async def plagued_by_junk(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    handle = on.client.get_workflow_handle(on.step_id)
    for args in ([], ["retry"], [{"verdict": "retry", "version": 0}], [1, 2]):
        await handle.signal("decide", args=args)
    await handle.signal("notice", {"key": "nobody"})
    await handle.signal("Decide")
    await on.until(lambda records: records[0].refused_decisions >= 6)


@story(tool("charge", breaks, None))
async def confirmed_by_a_human(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await say(on.surestep, on.step_id, "confirm", by="ann", receipt_id="e-7")
    await on.ends()


@story(tool("charge", breaks))
async def retried_by_a_human(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await say(on.surestep, on.step_id, "retry", by="ann")
    await on.until(lambda records: records[0].attempts == 2 and not records[0].in_flight)


@story(tool("charge", breaks))
async def abandoned(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await say(on.surestep, on.step_id, "abandon", by="ann")
    await on.ends()


@story(tool("charge", accepts, is_running))
async def accepted(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.until(lambda records: records[0].looks.count >= 2)


@story(tool("charge", accepts, is_running))
async def accepted_and_noticed(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.ACCEPTED)
    await on.surestep.notice(on.step_id, f"{on.step_id}/charge", id="e-7")
    await on.ends()


@story(tool("charge", key=DAY))
async def confirmed_by_the_response(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.ends()


@story(tool("charge", breaks, stage.sees))
async def confirmed_by_a_lookup(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.ends()


@story(tool("charge", look_first=True))
async def confirmed_after_a_look_before_the_send(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.ends()


@story(tool("charge", refuses))
async def rejected(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.ends()


@story(tool("charge", breaks, sends=1, **PROMPT))
async def not_found(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.ends()


@story(tool("charge", breaks, None, fences=True, sends=1))
async def not_found_behind_a_fence(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.ends()


@story(tool("charge", breaks, sends=1, **PROMPT))
async def watched(on: Stage) -> str:
    await on.start(tool("charge"))
    await on.ends()
    return await on.watch_id()


@story(tool("charge", breaks, lands_later(), sends=1, watch=timedelta(seconds=1), **PROMPT))
async def landed_late(on: Stage) -> str:
    await on.start(tool("charge"))
    await on.ends()
    watch = await on.watch_id()

    async def seen() -> bool:
        (record,) = await on.surestep.handle(watch).records()
        return bool(record.anomalies)

    await eventually(seen)
    return watch


@story(tool("charge", undo=stage.answers), tool("post", refuses))
async def compensated(on: Stage) -> None:
    await on.start(tool("charge"), tool("post"), undo_on_failure=True)
    await on.ends()


@story(tool("charge"), tool("post", breaks), tool("ship", refuses))
async def parallel(on: Stage) -> None:
    await on.start(tool("charge"), tool("post"), tool("ship"), mode="parallel")
    await on.reaches(State.UNKNOWN)


@story(tool("charge"), tool("post", hangs), tool("ship"))
async def the_second_of_three(on: Stage) -> None:
    await on.start(tool("charge"), tool("post"), tool("ship"))
    await on.until(lambda records: records[1].in_flight)


@story(tool("charge", breaks))
async def cancelled_too_late(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await on.client.get_workflow_handle(on.step_id).cancel()
    await on.until(lambda records: records[0].stop)


@story(tool("charge", breaks))
async def reset_to_its_beginning(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await on.reset(to_event=4)
    await on.reaches(State.UNKNOWN)


@story(tool("charge", breaks))
async def reset_after_the_attempt(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    history = await on.client.get_workflow_handle(on.step_id).fetch_history()
    tasks = [event.event_id for event in history.events if event.event_type == 7]
    await on.reset(to_event=tasks[-1])
    await on.reaches(State.UNKNOWN)


@story(tool("charge", breaks))
async def started_again_after_a_termination(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await on.client.get_workflow_handle(on.step_id).terminate()
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)


@story(tool("charge", breaks), renews=True)
async def renewed(on: Stage) -> None:
    """Both runs are recorded: the one that continued as new, and the one that goes on."""
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    handle = on.client.get_workflow_handle(on.step_id)

    async def again() -> bool:
        described = await handle.describe()
        info = described.raw_description.workflow_execution_info
        return info.first_run_id != described.run_id

    await eventually(again)
    await on.reaches(State.UNKNOWN)
