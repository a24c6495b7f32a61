"""A plain loop over a chat completions API: what repeats is one effect, what is meant is done."""

import json
from datetime import timedelta

import pytest

from surestep import InvalidArguments, Surestep
from surestep.agents import AgentTools
from surestep.agents.chat import ChatAgent, ChatTools, ModelUnavailable
from surestep.testing.wire import Answer
from tests.agents.chat.model import DROP, calls, says, scripted
from tests.steps import facts, tools

REFUND = ("keyed", {"order": "o-1", "cents": 2500})
OTHER = ("keyed", {"order": "o-2", "cents": 100})
USER = {"role": "user", "content": "give me my money back"}


@pytest.fixture
def run(step_id):
    return step_id


def chat(surestep, script, *, name="", save=None, **how):
    """An agent as a restarted process has it: it remembers nothing."""
    agent = ChatTools(AgentTools(surestep, tools.keyed), name=name)
    return ChatAgent(agent, script.model(), save=save, **how)


async def sent(world, run):
    return len(await facts.posts(world, f"{run}/*"))


async def test_a_tool_is_declared_from_its_argument_model(working, world, run):
    kept, messages = [], [USER]

    async def save(changed):
        kept.append(json.dumps(changed))

    async with working(tools.keyed) as surestep, scripted(calls(REFUND), says("done")) as script:
        end = await chat(surestep, script, save=save).run(messages, run=run)
    (declared,) = script.asked[0]["tools"]
    assert declared["function"]["parameters"]["required"] == ["order", "cents"]
    assert (end.finish, end.text) == ("done", "done")
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "assistant"]
    assert [len(json.loads(one)) for one in kept] == [2, 3, 4]
    assert await sent(world, run) == 1


async def test_a_new_call_id_after_a_retry_is_the_same_intent(working, world, run):
    lines = (calls(REFUND), says("done"), calls(REFUND, first=77), says("done"))
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        await chat(surestep, script).run([USER], run=run)
        first = script.told
        await chat(surestep, script).run([USER], run=run)
    assert script.told == first
    assert await sent(world, run) == 1


async def test_a_call_without_a_result_is_performed_before_the_model_is_asked(working, world, run):
    messages = [USER, calls(REFUND)]
    async with working(tools.keyed) as surestep, scripted(says("done")) as script:
        await chat(surestep, script).run(messages, run=run)
    assert len(script.asked) == 1
    assert f"[surestep: {run}/keyed/1 confirmed]" in script.told[0]
    assert await sent(world, run) == 1


async def test_two_calls_of_one_turn_are_two_effects(working, world, run):
    lines = (calls(REFUND, OTHER), says("done"))
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        await chat(surestep, script).run([USER], run=run)
    assert len(set(script.told)) == 2
    assert await sent(world, run) == 2


async def test_the_same_call_twice_in_one_turn_is_one_effect(working, world, run):
    lines = (calls(REFUND, REFUND), says("done"))
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        await chat(surestep, script).run([USER], run=run)
    assert len(script.told) == 2
    assert len(set(script.told)) == 1
    assert await sent(world, run) == 1


async def test_the_same_arguments_in_two_turns_are_two_effects(working, world, run):
    lines = (calls(REFUND), says("done"), calls(REFUND), says("done"))
    messages = [USER]
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        await chat(surestep, script).run(messages, run=run)
        messages.append({"role": "user", "content": "and once more, for the trouble"})
        replayed = json.loads(json.dumps(messages))
        await chat(surestep, script).run(messages, run=run)
        script.lines = [calls(REFUND), says("done")]
        await chat(surestep, script).run(replayed, run=run)
    assert await sent(world, run) == 2


async def test_a_users_words_that_are_appended_again_are_no_new_turn(working, world, run):
    lines = (calls(REFUND), Answer.text(400, "no"), calls(REFUND), says("done"))
    messages = [USER]
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        with pytest.raises(ModelUnavailable):
            await chat(surestep, script).run(messages, run=run)
        await chat(surestep, script).run([*messages, USER], run=run)
    assert await sent(world, run) == 1


async def test_a_sub_agent_with_the_same_intent_is_told_what_the_run_did(working, world, run):
    lines = (calls(REFUND), says("done"))
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        await chat(surestep, script).run([USER], run=run)
        script.lines = [calls(REFUND), says("done")]
        await chat(surestep, script, name="helper").run([USER], run=run)
    assert await sent(world, run) == 1


async def test_a_stubborn_model_that_calls_ten_times_makes_one_effect(working, world, run):
    async with working(tools.keyed) as surestep, scripted(calls(REFUND)) as script:
        end = await chat(surestep, script, turns=10).run([USER], run=run)
        assert end.finish == "turns"
    assert len(script.told) == 9
    assert len(set(script.told)) == 1
    assert await sent(world, run) == 1


async def test_bad_calls_are_answered_and_cost_nothing(working, world, run):
    bad = calls(
        ("keyed", {"order": "o-1"}), ("keyed", '{"order": "o-'), ("keyed", "[]"), ("unheard", {})
    )
    async with working(tools.keyed) as surestep, scripted(bad, says("sorry")) as script:
        await chat(surestep, script).run([USER], run=run)
    assert ["cents" in script.told[0], "unheard" in script.told[3]] == [True, True]
    assert all(text.startswith("Nothing was sent for this call.") for text in script.told)
    assert await sent(world, run) == 0


async def test_a_key_that_the_model_invents_changes_nothing(working, world, run):
    keyed, given = REFUND
    invented = [(keyed, {**given, "idempotency_key": key}) for key in ("m-1", "m-2")]
    lines = (calls(invented[0]), calls(invented[1]), says("done"))
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        await chat(surestep, script).run([USER], run=run)
    assert [one.key for one in await world.effects(f"{run}/*")] == [f"{run}/keyed/1/keyed"]


async def test_an_id_that_a_provider_uses_again_is_not_taken_for_the_first_call(
    working, world, run
):
    lines = (calls(REFUND), calls(OTHER), says("done"))
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        await chat(surestep, script).run([USER], run=run)
    assert [text.split("surestep: ")[1] for text in script.told] == [
        f"{run}/keyed/1 confirmed]",
        f"{run}/keyed/2 confirmed]",
    ]
    assert await sent(world, run) == 2


async def test_calls_without_ids_of_their_own_get_some():
    nameless = calls(REFUND, OTHER)
    for call in nameless["tool_calls"]:
        call["id"] = ""
    async with scripted(nameless) as script:
        message = await script.model().next([USER], [])
    assert [call["id"] for call in message["tool_calls"]] == ["call_1", "call_2"]


async def test_the_model_is_asked_again_where_its_answer_was_lost_or_is_none():
    overloaded = Answer(429, b"busy", (("Retry-After", "0"),))
    async with scripted(
        DROP, overloaded, Answer.json(200, {"choices": []}), says("hello")
    ) as script:
        assert await script.model().next([USER], []) == says("hello")
    assert len(script.asked) == 4


async def test_a_model_that_stays_away_leaves_messages_that_can_be_run_again(run, client):
    messages = [USER]
    async with scripted(Answer.text(503, "down"), says("hello")) as script:
        agent = ChatTools(AgentTools(Surestep(client), tools.keyed))
        impatient = ChatAgent(agent, script.model(patience=timedelta(0), api_key="s3cret"))
        with pytest.raises(ModelUnavailable, match="status 503") as raised:
            await impatient.run(messages, run=run)
        assert "s3cret" not in str(raised.value)
        assert messages == [USER]
        assert (await impatient.run(messages, run=run)).text == "hello"


async def test_a_run_without_a_name_is_refused_with_the_remedy(client):
    async with scripted(says("hello")) as script:
        with pytest.raises(InvalidArguments, match="run="):
            await chat(Surestep(client), script).run([USER], run="")
    assert script.asked == []
