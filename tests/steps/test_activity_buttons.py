"""What an operator can do to one pending activity: nothing is sent twice, nothing is lost by it."""

from datetime import timedelta

from pydantic import BaseModel
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from surestep import Contract, Effect, Receipt, State, Surestep, Tool
from surestep.tool import Tools
from tests.steps import facts, switches, tools
from tests.steps.acting import acting_worker, deciding_worker
from tests.steps.operators import LIMIT, charge, one_effect_under_one_key, told_apart
from tests.waiting import eventually


class Nothing(BaseModel):
    pass


class Service:
    """A blind service in this process. It answers when it is told to, or when its caller is."""

    def __init__(self, *, timeout: timedelta) -> None:
        self.requests: list[str] = []
        self.answering: set[str] = set()
        contract = Contract(effect=Effect.IRREVERSIBLE, ask=True, timeout=timeout)
        self.tool = Tool("call", Nothing, contract)
        self.tool.execute(self._execute)

    async def _execute(self, args: Nothing, call) -> Receipt:
        self.requests.append(call.action_id)
        await eventually(lambda: self._answers(call.action_id), within=60)
        return Receipt(id="e-1")

    async def _answers(self, key: str) -> bool:
        return key in self.answering or activity.cancellation_details() is not None

    async def has_all(self, keys) -> bool:
        return set(self.requests) >= set(keys)


# The worker hears of these when it next says that it lives, and the service answers then.
HEARD = {
    "pause": (switches.pause, "an operator paused the activity meanwhile"),
    "reset": (switches.reset, "an operator reset the activity meanwhile"),
    "reset-heartbeats": (switches.reset_heartbeats_too, "an operator reset the activity meanwhile"),
}
UNHEARD = {
    "pause-and-unpause": (switches.pause_and_unpause, ""),
    "update-options": (switches.allow_more, ""),
    "pause-and-begin-anew": (switches.pause_and_begin_anew, ""),
    "restore-options": (switches.restore_options, ""),
}


async def test_a_button_pressed_on_a_request_under_way_does_not_cut_it_off(
    working, client, step_id
):
    service, buttons = Service(timeout=LIMIT), HEARD | UNHEARD
    keys = {name: f"{step_id}/{name}/call" for name in buttons}
    async with working(service.tool) as surestep:
        for name in buttons:
            await surestep.start(f"{step_id}/{name}", service.tool())
        await eventually(lambda: service.has_all(keys.values()))
        for name, (press, _) in buttons.items():
            await press(client, f"{step_id}/{name}")
        service.answering = {keys[name] for name in UNHEARD}
        for name, (_, word) in buttons.items():
            outcome = await surestep.handle(f"{step_id}/{name}").outcome(within=LIMIT)
            assert outcome.state is State.CONFIRMED, facts.told(outcome)
            assert word in facts.told(outcome)
    assert sorted(service.requests) == sorted(keys.values())


BEFORE = {
    "pause-and-unpause": switches.pause_and_unpause,
    "pause-and-begin-anew": switches.pause_and_begin_anew,
    "reset": switches.reset_heartbeats_too,
    "update-options": switches.allow_more,
}


async def test_a_button_pressed_before_a_worker_has_it_loses_no_work(client, world, step_id):
    """The server does not say that no worker had it, so what is blind goes to a human."""
    sending = [tools.keyed, tools.lookup, tools.blind]
    ids = {(name, tool): f"{step_id}/{name}/{tool.name}" for name in BEFORE for tool in sending}
    registry, surestep = Tools(*sending), Surestep(client, task_queue=step_id)
    async with deciding_worker(client, registry, step_id):
        for (name, tool), one in ids.items():
            await surestep.start(one, charge(tool))
            await eventually(lambda one=one: switches.pending(client, one))
            await BEFORE[name](client, one)
        async with acting_worker(client, registry, task_queue=step_id):
            for (name, tool), one in ids.items():
                if tool is not tools.blind or name == "update-options":
                    outcome = await surestep.handle(one).outcome(within=LIMIT)
                    assert outcome.state is State.CONFIRMED, facts.told(outcome)
                    await one_effect_under_one_key(world, f"{one}/{tool.name}", requests=1)
                else:
                    record = await facts.parked(surestep, one)
                    assert "reset, unpaused or retried" in facts.told(record)
                    assert await world.requests(f"{one}/*") == []


AGAIN = {
    "reset": switches.reset,
    "reset-heartbeats": switches.reset_heartbeats_too,
    "pause-and-begin-anew": switches.pause_and_begin_anew,
}


async def test_an_attempt_that_an_operator_sets_back_to_the_first_is_not_repeated(
    working, client, step_id
):
    """It has timed out and may have sent; then its attempts are counted from one again."""
    service = Service(timeout=timedelta(seconds=6))
    ids = [f"{step_id}/{name}" for name in AGAIN]
    async with working(service.tool) as surestep:
        for one in ids:
            await surestep.start(one, service.tool())
        await eventually(lambda: service.has_all(f"{one}/call" for one in ids))
        for one in ids:
            await switches.end_soon(client, one)
        for name, press in AGAIN.items():
            await eventually(lambda name=name: waits_to_be_retried(client, f"{step_id}/{name}"))
            await press(client, f"{step_id}/{name}")
        for one in ids:
            await eventually(lambda one=one: told(surestep, one, "the attempt was not repeated"))
    assert sorted(service.requests) == sorted(f"{one}/call" for one in ids)


async def waits_to_be_retried(client, step_id) -> bool:
    one = await switches.pending(client, step_id)
    scheduled = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
    return bool(one and one.attempt > 1 and one.state == scheduled)


async def told(surestep, step_id, words) -> bool:
    known = await facts.record(surestep, step_id)
    return bool(known and words in facts.told(known))


async def test_a_worker_that_lacks_the_tool_does_not_say_of_a_repeat_that_nothing_was_sent(
    working, client, step_id
):
    service = Service(timeout=timedelta(seconds=6))
    async with working(service.tool) as surestep:
        await surestep.start(step_id, service.tool())
        await eventually(lambda: service.has_all([f"{step_id}/call"]))
        await switches.end_soon(client, step_id)
        await eventually(lambda: waits_to_be_retried(client, step_id))
    async with working(tools.blind) as surestep:
        await switches.reset(client, step_id)
        await eventually(lambda: told(surestep, step_id, "the attempt was not repeated"))
    assert service.requests == [f"{step_id}/call"]


UNDECODABLE = RawValue(Payload(metadata={"encoding": b"json/unheard-of"}, data=b"?"))
RESULTS = {
    "null": [None],
    "text": ["done"],
    "another-object": [{"done": True}],
    "nothing": [],
    "undecodable": [UNDECODABLE],
}


async def test_an_attempt_that_is_ended_by_hand_is_in_doubt_and_wedges_nothing(
    working, world, client, step_id
):
    ids = {
        (name, tool): f"{step_id}/{name}/{tool.name}"
        for name in (*RESULTS, "failed")
        for tool in (tools.lookup, tools.blind)
    }
    async with working(tools.lookup, tools.blind) as surestep:
        for (name, tool), one in ids.items():
            await world.fault(f"{one}/*", write=["expect_kill"])
            await surestep.start(one, charge(tool))
            await facts.applied(world, f"{one}/*")
            hand = await switches.by_hand(client, one)
            if name == "failed":
                await hand.fail(ApplicationError("I give up", type="ByHand"))
            else:
                await hand.complete(*RESULTS[name])
        for (name, tool), one in ids.items():
            word = "failed with ByHand" if name == "failed" else "completed by hand"
            await told_apart(surestep, world, tool, one, requests=1, word=word)


async def test_a_report_of_a_later_version_is_read_without_what_is_new_in_it(
    working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["expect_kill"])
    receipt = {"id": "e-1", "colour": "green"}
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.applied(world, f"{step_id}/*")
        hand = await switches.by_hand(client, step_id)
        await hand.complete({"outcome": "answered", "receipt": receipt, "mood": "good"})
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id == "e-1"


async def test_a_look_that_is_ended_by_hand_says_nothing(working, world, client, step_id):
    ids = {name: f"{step_id}/{name}" for name in RESULTS}
    async with working(tools.lookup) as surestep:
        for name, one in ids.items():
            await world.fault(f"{one}/*", write=["reply_lost"], lookup=["honest", "hang"])
            await surestep.start(one, charge(tools.lookup))
            await eventually(lambda one=one: told(surestep, one, "attempt 1 is ambiguous"))
            await eventually(lambda one=one: switches.pending(client, one))
            await (await switches.by_hand(client, one)).complete(*RESULTS[name])
        for one in ids.values():
            word = "the lookup was completed by hand"
            await told_apart(surestep, world, tools.lookup, one, requests=1, word=word)
