"""An agent's process ends; what it did does not."""

import asyncio
import json
import signal
from datetime import timedelta

from surestep.agents import AgentTools
from surestep.agents.chat import ChatAgent, ChatTools
from tests.agents.chat.model import calls, says, scripted
from tests.saying import say
from tests.steps import facts, tools
from tests.waiting import eventually

REFUND = {"order": "o-1", "cents": 2500}
USER = {"role": "user", "content": "give me my money back"}


def chat(surestep, script):
    agent = AgentTools(surestep, tools.keyed, tools.blind, within=timedelta(seconds=60))
    return ChatAgent(ChatTools(agent), script.model(), park=True)


async def there(path):
    return path.exists()


async def test_an_agent_killed_between_effect_and_message_repeats_nothing(
    working, world, step_id, child, tmp_path
):
    holding, lines = tmp_path / "holding", (calls(("keyed", REFUND)), says("done"))
    async with working(tools.keyed) as surestep, scripted(*lines) as script:
        process, kept = await child(surestep, script, step_id, [USER], HOLD=str(holding))
        await eventually(lambda: there(holding), within=60)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        saved = json.loads(kept.read_text())
        assert [one["role"] for one in saved] == ["user", "assistant"]
        # A caller that kept the call, and one that kept nothing, whose model plans the same.
        for messages, line in ((saved, says("done")), ([USER], calls(("keyed", REFUND), first=9))):
            script.lines = [line, says("done")]
            await chat(surestep, script).run(messages, run=step_id)
            assert f"[surestep: {step_id}/keyed/1 confirmed]" in script.told[0]
        # A model that plans something else is told first, and nothing is sent for that.
        script.lines = [calls(("keyed", {**REFUND, "cents": 2400})), says("I see")]
        await chat(surestep, script).run([USER], run=step_id)
    assert script.told[0].startswith("Nothing was sent for this call.")
    assert f"[surestep: {step_id}/keyed/1 confirmed]" in script.told[0]
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parked_run_is_resumed_in_another_process_with_the_recorded_outcome(
    working, world, step_id, child
):
    await world.fault(f"{step_id}/blind/1/blind", write=["reply_lost"])
    async with working(tools.blind) as surestep, scripted(calls(("blind", REFUND))) as script:
        process, kept = await child(surestep, script, step_id, [USER], WITHIN="2")
        _, said = await asyncio.wait_for(process.communicate(), 60)
        assert b"ended as parked" in said, said.decode()
        messages = json.loads(kept.read_text())
        assert [one["role"] for one in messages] == ["user", "assistant"]
        await facts.parked(surestep, f"{step_id}/blind/1")
        await say(surestep, f"{step_id}/blind/1", "confirm", by="ada", note="in the log")
        messages.append({"role": "user", "content": "is anybody there?"})
        script.lines = [says("done")]
        end = await chat(surestep, script).run(messages, run=step_id)
    assert end.text == "done"
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert f"[surestep: {step_id}/blind/1 confirmed]" in messages[2]["content"]
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
