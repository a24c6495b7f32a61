"""Steps started by name, from any language, with anything as their input.

Each ends at once with a typed failure that says that nothing was sent. None makes a workflow task
fail again and again, which nobody would see and only a deploy could end.
"""

import asyncio
from datetime import timedelta

import pytest
from pydantic import BaseModel, ConfigDict
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowFailureError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from surestep import Call, Contract, Effect, KeySupport, Receipt, Tool
from surestep.protocol import NOTHING_SENT
from tests.time.service import ANSWERED, Service, tool_for
from tests.waiting import eventually

MEGABYTE = 1_000_000


def text(data: bytes, encoding: bytes = b"json/plain") -> RawValue:
    """A payload as other SDKs, or nobody, would write it."""
    return RawValue(Payload(metadata={"encoding": encoding}, data=data))


def action(**fields):
    return {"tool": "charge", "arguments": {"order": "o-1"}} | fields


def step(*actions, **fields):
    return {"actions": list(actions or [action()])} | fields


def nested(depth: int) -> RawValue:
    deep = b"[" * depth + b"]" * depth
    return text(b'{"actions": [{"tool": "charge", "arguments": {"order": ' + deep + b"}}]}")


JUNK = {
    "text instead of an object": ["pay now"],
    "a number": [42],
    "a list": [[1, 2]],
    "null": [None],
    "an empty object": [{}],
    "broken JSON": [text(b'{"actions": [')],
    "bytes": [text(b"\xff\xfe\x00", b"binary/plain")],
    "an encoding that nobody knows": [text(b"?", b"json/unheard-of")],
    "a payload without an encoding": [RawValue(Payload(data=b"{}"))],
    "no actions": [{"actions": []}],
    "actions that are text": [{"actions": "charge"}],
    "an action without a tool": [{"actions": [{"arguments": {"order": "o-1"}}]}],
    "arguments that are a list": [step(action(arguments=["o-1"]))],
    "a misspelt field": [step(action(argumets={}))],
    "an unknown mode": [step(mode="at once")],
    "half of a surrogate pair": [
        text(b'{"actions": [{"tool": "charge", "arguments": {"\\ud800": 1}}]}')
    ],
    "half of a surrogate pair as an argument": [
        text(b'{"actions": [{"tool": "charge", "arguments": {"order": "\\ud800"}}]}')
    ],
    "half of a surrogate pair as the run": [
        text(b'{"actions": [{"tool": "charge"}], "run": "\\ud800"}')
    ],
    "nested a hundred deep": [nested(100)],
    "nested ten thousand deep": [nested(10_000)],
    "a number of ten thousand digits": [text(b'{"actions": ' + b"9" * 10_000 + b"}")],
}

UNFIT = {
    "a missing argument": step(action(arguments={})),
    "an argument of the wrong type": step(action(arguments={"order": {"id": 1}})),
    "an unknown tool": step(action(tool="launch")),
    "a name with a slash": step(action(name="a/b")),
    "a name that is reserved": step(action(name="undo")),
    "a name that is too long": step(action(name="n" * 41)),
    "a name that is not ASCII": step(action(name="café")),
    "two actions of one name": step(action(), action()),
    "two actions of one given name": step(action(name="a"), action(name="a")),
    "arguments of 1.9 MB": step(action(arguments={"order": "x" * (MEGABYTE * 19 // 10)})),
}

TOO_MUCH = {
    "the name of a tool that is a megabyte": step(action(tool="x" * MEGABYTE)),
    "1.8 MB in four actions": step(
        *(action(name=f"a{n}", arguments={"order": "x" * 450_000}) for n in range(4))
    ),
    "a label of 1.5 MB": step(label="x" * (MEGABYTE * 3 // 2)),
    "a run of 1.5 MB": step(run="x" * (MEGABYTE * 3 // 2)),
}


class Load(BaseModel):
    tons: float


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def weigh() -> Tool:
    tool = Tool("weigh", Load, Contract(effect=Effect.READ))

    @tool.execute
    async def _(args: Load, call: Call) -> Receipt:
        return Receipt(result=args.tons)

    return tool


def strict() -> Tool:
    tool = Tool("strict", Strict, Contract(effect=Effect.READ))

    @tool.execute
    async def _(args: Strict, call: Call) -> Receipt:
        return Receipt()

    return tool


@pytest.fixture
def refused(client, working, step_id):
    """Start a step with these arguments; the failure it ended with, which must be a clear one."""

    async def start(*args, id=step_id):
        service = Service([ANSWERED])
        async with working(tool_for(service), weigh(), strict()) as surestep:
            handle = await client.start_workflow(
                "AgentStep", args=args, id=id, task_queue=surestep.task_queue
            )
            try:
                async with asyncio.timeout(4):
                    with pytest.raises(WorkflowFailureError) as caught:
                        await handle.result()
            finally:
                described = await handle.describe()
                if described.status and described.status.name == "RUNNING":
                    await handle.terminate()
        assert service.requests == []
        cause = caught.value.cause
        assert isinstance(cause, ApplicationError)
        assert cause.type in NOTHING_SENT
        assert "nothing was sent" in cause.message
        assert len(cause.message) < 2000
        return cause

    return start


async def test_a_step_without_input_says_what_to_give(refused):
    assert "actions" in (await refused()).message


async def test_a_step_with_two_inputs_ends(refused):
    await refused(step(), step())


@pytest.mark.parametrize("args", JUNK.values(), ids=JUNK)
async def test_what_is_no_step_ends_the_workflow_at_once(refused, args):
    await refused(*args)


@pytest.mark.parametrize("given", UNFIT.values(), ids=UNFIT)
async def test_a_step_that_fits_no_tool_ends_at_once(refused, given):
    await refused(given)


async def test_a_watch_started_by_hand_with_anything_ends_at_once(client, working, step_id):
    shapes = [[], *JUNK.values(), [step()], [step(), step()]]
    async with working(weigh()) as surestep:
        for number, args in enumerate(shapes):
            watch = await client.start_workflow(
                "LateWatch", args=args, id=f"{step_id}/{number}", task_queue=surestep.task_queue
            )
            with pytest.raises(WorkflowFailureError) as caught:
                await asyncio.wait_for(watch.result(), 10)
            assert "cannot be used" in str(caught.value.cause)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
async def test_a_number_that_json_does_not_have_is_refused(refused, number):
    data = b'{"actions": [{"tool": "weigh", "arguments": {"tons": ' + number + b"}}]}"
    await refused(text(data))


async def test_thousands_of_mistakes_are_told_in_a_few_lines(refused):
    many = {f"{number:x}": 1 for number in range(20_000)}
    failure = await refused(step(action(tool="strict", arguments=many)))
    assert "not permitted" in failure.message
    assert "and 19990 more" in failure.message


async def test_a_story_of_any_length_about_an_earlier_run_is_kept_short(client, working, step_id):
    """Whoever starts a step may say that it ran before; every action's record would repeat it."""
    actions = [action(name=f"a{number}") for number in range(100)]
    given = step(*actions, mode="parallel", earlier={"since": None, "why": "w" * 200_000})
    charge = tool_for(Service([ANSWERED]), key=KeySupport(lifetime=timedelta(days=1)))
    async with working(charge) as surestep:
        await client.start_workflow("AgentStep", given, id=step_id, task_queue=surestep.task_queue)

        async def all_planned():
            return len(await surestep.handle(step_id).records()) == 100

        await eventually(all_planned)
        records = await surestep.handle(step_id).records()
        await client.get_workflow_handle(step_id).terminate()
    assert all(len(record.model_dump_json()) < 10_000 for record in records)


@pytest.mark.parametrize("given", TOO_MUCH.values(), ids=TOO_MUCH)
async def test_a_step_that_is_too_large_as_a_whole_ends_at_once(refused, given):
    """Under the server's limit when it comes in, over it when the workflow hands it on."""
    await refused(given)


@pytest.mark.parametrize(
    "bad", ["a step", "/step", "schritt-ü", "step\n", "s" * 201, "step?a=1", "~step"]
)
async def test_a_workflow_id_that_cannot_be_a_key_is_refused(refused, bad):
    failure = await refused(step(), id=bad)
    assert failure.type == "InvalidStepId"
    assert "step id" in failure.message
