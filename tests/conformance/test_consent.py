"""Nothing is sent without the caller's word, and nothing is guessed where nothing can be said."""

import asyncio

import pytest

from surestep import InvalidArguments, NotSent, Tool
from surestep.conformance import CannotCheck, NoSandbox, Promise, check
from surestep.conformance.promise import sentence

from . import tools
from .conftest import ARGUMENTS, checked


async def test_without_the_word_that_it_is_a_sandbox_nothing_is_sent(sandbox):
    with pytest.raises(NoSandbox, match="makes 2 real effects, up to 5 if") as refused:
        await check(tools.keyed, ARGUMENTS)
    assert "--sandbox-yes" in str(refused.value)
    assert await sandbox.requests() == []


async def test_arguments_that_do_not_fit_are_refused_before_anything_is_sent(sandbox):
    with pytest.raises(InvalidArguments, match="cents"):
        await checked(tools.keyed, {"order": "7781"})
    with pytest.raises(InvalidArguments, match="cents"):
        await checked(tools.keyed, other={"order": "7782"})
    with pytest.raises(CannotCheck, match="the same as the arguments"):
        await checked(tools.keyed, other=ARGUMENTS)
    assert await sandbox.requests() == []


async def test_a_tool_that_only_reads_has_nothing_to_check(sandbox):
    with pytest.raises(CannotCheck, match="only reads"):
        await checked(tools.tool("lookup", effect=tools.Effect.READ))


async def test_a_first_effect_that_is_refused_ends_the_check(sandbox):
    await sandbox.fault("surestep-check/*", write=["refuse:403"])
    with pytest.raises(CannotCheck, match="could not be performed: refused: the service answered"):
        await checked(tools.keyed)
    assert await sandbox.count() == 0


async def test_a_first_effect_in_doubt_ends_the_check_and_is_named(sandbox):
    said = []
    await sandbox.fault("surestep-check/*", write=["never_arrives"])
    with pytest.raises(CannotCheck, match="in doubt"):
        await checked(tools.keyed, say=said.append)
    assert said[-1].startswith("left behind: perhaps an effect, key surestep-check/")


async def test_a_success_that_execute_does_not_recognise_is_a_broken_promise(sandbox):
    await sandbox.fault("surestep-check/*", write=["html"])
    report = await checked(tools.keyed)
    assert report["response_proves"].verdict == "broken"
    assert "recognise" in report["response_proves"].remedy


async def test_what_is_left_out_is_not_sent(sandbox):
    left_out = ["key", "key_at_once", "key_content", "repeatable", "one_send"]
    report = await checked(tools.keyed, skip=left_out)
    assert {report[one].seen for one in left_out} == {"left out by request"}
    writes = [one for one in await sandbox.requests() if one.method == "POST"]
    assert len(writes) == await sandbox.count() == 1


async def test_a_compensation_that_is_left_out_leaves_the_effects(sandbox):
    report = await checked(tools.keyed_undoable, skip=["compensate", "repeatable"])
    assert report["verify_compensation"].seen == report["one_send"].seen == "left out by request"
    assert (report.undone, len(report.left)) == (0, 2)
    assert {effect.status for effect in await sandbox.effects()} == {"succeeded"}


async def test_the_plan_is_kept_by_a_service_that_breaks_every_promise_of_its_key(sandbox):
    said = []
    report = await checked(tools.ignored, say=said.append)
    assert "makes 2 real effects, up to 5 if promises are broken" in said[0]
    assert report.effects == await sandbox.count() == 5


async def test_a_check_that_is_stopped_stops_whatever_the_tool_makes_of_it():
    sending, said = asyncio.Event(), []
    tool = Tool("charge", tools.Charge, tools.contract(key=tools.DAY))

    @tool.execute
    async def _(args, call):
        sending.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise NotSent("stopped while connecting") from None

    run = asyncio.create_task(checked(tool, say=said.append))
    await sending.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert said[-1] == "performing the first effect", "nothing was left behind"


async def test_every_promise_has_one_row_and_a_sentence(sandbox):
    report = await checked(tools.blind)
    assert [row.promise for row in report.rows] == list(Promise)
    for promise in Promise:
        assert sentence(promise, tools.keyed.contract)
        assert sentence(promise, tools.blind.contract)
