"""Each promise that is not kept is found, in the row that names it, with its remedy."""

from datetime import timedelta

import pytest

from surestep import Effect, Fence
from surestep.evidence import confirmed, not_found

from . import tools
from .conftest import checked, verdicts

MANY = 200


@pytest.mark.parametrize("tool", [tools.ignored, tools.ignored_blind])
async def test_a_service_that_silently_ignores_the_key_is_caught(sandbox, tool):
    report = await checked(tool)
    assert verdicts(report, "broken") >= {"key", "key_at_once", "key_content"}
    assert report["key"].seen.startswith("the receipts name 2 effects: ef_")
    assert "leave key out" in report["key"].remedy
    assert await sandbox.count() == report.effects == len(report.left) == 5


async def test_a_key_that_is_ignored_is_caught_without_ids_by_what_the_lookup_counts(sandbox):
    no_ids = tools.tool(
        "lookup",
        key=tools.DAY,
        visibility_lag=tools.AT_ONCE,
        parts={"shape": tools.Shape(id=None, success={"/status": "succeeded"})},
    )
    report = await checked(no_ids)
    assert report["key"].seen == "verify finds 2 effects"
    assert await sandbox.count() == report.effects == 5


async def test_a_service_that_answers_other_arguments_with_the_first_effect_is_caught(shop):
    async with shop("replays") as service:
        report = await checked(tools.at_shop())
    assert verdicts(report, "broken") == {"key_content"}
    assert "as if it were what was asked" in report["key_content"].seen
    assert len(service.effects) == 2


async def test_such_a_replay_is_harmless_where_the_tool_believes_no_answer_and_compares(shop):
    async with shop("replays"):
        report = await checked(tools.at_shop(response_proves=False))
    assert report.ok, report
    assert "differs: cents" in report["key_content"].seen


async def test_a_service_that_performs_other_arguments_under_a_used_key_is_caught(shop):
    async with shop("performs") as service:
        report = await checked(tools.at_shop())
    assert verdicts(report, "broken") == {"key_content"}
    assert report["key_content"].seen.startswith("performed as well")
    assert len(service.effects) == report.effects == 3


async def test_a_service_that_compares_contents_and_not_keys_is_caught(shop):
    async with shop("contents") as service:
        report = await checked(tools.at_shop())
    assert report["key_at_once"].verdict == "broken"
    assert "a fresh key was answered with the first effect, ef_1" in report["key_at_once"].seen
    assert "an intended repeat would be dropped" in report["key_at_once"].remedy
    assert len(service.effects) == 2, "the first, and the one with other arguments"


@pytest.mark.parametrize("tool", [tools.keyed, tools.keyed_blind])
async def test_a_rate_limit_is_taken_neither_for_a_key_nor_for_a_refusal(sandbox, tool):
    busy = ["honest"] + ["rate_limited:0"] * MANY
    await sandbox.fault("surestep-check/*", write=busy)
    report = await checked(tool, refused={"order": "7781", "cents": -1})
    assert report.ok, report
    for promise in ("key", "key_at_once", "key_content", "refusal"):
        assert report[promise].verdict == "not tested"
        assert "429" in report[promise].seen
    assert await sandbox.count() == 1


async def test_a_rate_limit_is_not_taken_for_a_fence(sandbox):
    await sandbox.fault("surestep-check/*", write=["honest", "rate_limited:0"])
    report = await checked(tools.fenced)
    assert (report["fence"].verdict, "429" in report["fence"].seen) == ("not tested", True)


@pytest.mark.parametrize(
    ("tool", "verdict"), [(tools.keyed_blind, "kept"), (tools.ignored_blind, "broken")]
)
async def test_of_two_at_once_one_that_is_refused_for_now_is_sent_once_more(sandbox, tool, verdict):
    await sandbox.fault("surestep-check/*", write=["honest", "honest", "rate_limited:0"])
    report = await checked(tool)
    assert report["key_at_once"].verdict == verdict, report
    assert report["key_at_once"].done.endswith("and once more")


async def test_a_key_that_is_not_known_while_it_is_in_work_is_caught(shop):
    async with shop("overlaps"):
        report = await checked(tools.at_shop())
    assert verdicts(report, "broken") == {"key_at_once"}


async def test_a_lookup_slower_than_its_promise_is_caught_and_measured(sandbox):
    report = await checked(tools.slower_than_promised)
    assert verdicts(report, "broken") == {"visibility_lag"}
    row = report["visibility_lag"]
    assert 0.05 < float(row.seen.removeprefix("seen after ").partition(" ")[0]) < 5
    assert row.seen.endswith("promised within 0.05 s")


async def test_a_lookup_that_misses_again_what_it_has_shown_is_caught(sandbox):
    await sandbox.fault(
        "surestep-check/*", lookup=["honest", "honest", "miss", "honest", "miss", "miss"]
    )
    report = await checked(tools.keyed)
    assert "missed 2 of 4 times in a row" in report["visibility_lag"].seen


async def test_credentials_that_cannot_see_are_caught(sandbox):
    await sandbox.fault("surestep-check/*", lookup=["miss"] * MANY)
    report = await checked(tools.keyed)
    assert report["sight"].verdict == "broken"
    assert "named by the receipt" in report["sight"].seen
    assert report["visibility_lag"].verdict == "not tested"


async def test_a_sight_probe_tells_blindness_from_an_empty_success(sandbox):
    tool = tools.tool("keyed", key=tools.DAY, visibility_lag=tools.AT_ONCE)
    sees = False

    @tool.sight
    async def _(args, call):
        return sees

    await sandbox.fault("surestep-check/*", lookup=["miss"] * MANY)
    assert verdicts(await checked(tool), "broken") == {"sight"}
    sees = True
    assert verdicts(await checked(tool), "broken") == {"response_proves"}


async def test_a_lookup_that_always_fails_is_caught(sandbox):
    await sandbox.fault("surestep-check/*", lookup=["error:403"] * MANY)
    report = await checked(tools.keyed)
    assert verdicts(report, "broken") == {"sight"}
    assert "every look failed: the service answered 403" in report["sight"].seen


async def test_a_verify_that_finds_look_alikes_is_caught(shop):
    async with shop("keeps") as service:
        report = await checked(tools.naive(key=tools.DAY))
        assert verdicts(report, "broken") == {"strangers"}
        assert "under the unused key …/never/charge" in report["strangers"].seen
        # What an earlier run has left looks like ours even before anything is sent.
        again = await checked(tools.naive(key=tools.DAY))
    assert again["strangers"].done == "looked before anything was sent"
    assert again.effects == 2
    assert len(service.effects) == 4


async def test_effects_that_only_a_lookup_of_look_alikes_names_are_not_compensated(shop):
    tool = tools.naive(key=tools.DAY, effect=Effect.REVERSIBLE)
    undone = []

    @tool.compensate
    async def _(args, call):
        undone.append(call.receipt.id)
        return call.receipt

    async with shop("keeps"):
        await checked(tools.naive(key=tools.DAY))
        report = await checked(tool)
    assert sorted(undone) == ["ef_3", "ef_4"]
    assert report.left == ()


async def test_a_success_that_carries_an_error_is_caught(shop):
    async with shop("hollow"):
        report = await checked(tools.by_key(tools.naive(key=tools.DAY)))
    assert verdicts(report, "broken") == {"response_proves"}
    assert report["response_proves"].seen.startswith("still not_found")


async def test_a_refusal_that_is_called_a_success_is_caught(shop):
    async with shop("rejects"):
        report = await checked(
            tools.by_key(tools.naive(key=tools.DAY)), refused={"order": "1", "cents": -1}
        )
    assert verdicts(report, "broken") == {"refusal"}
    assert "raise Refused" in report["refusal"].remedy


async def test_a_success_that_was_only_an_acceptance_is_caught(sandbox):
    hasty = tools.tool(
        "queued",
        key=tools.DAY,
        visibility_lag=tools.AT_ONCE,
        parts={"shape": tools.Shape(id="/operation")},
    )
    hasty_execute = hasty.execute_with

    @hasty.execute
    async def _(args, call):
        return (await hasty_execute(args, call)).receipt

    report = await checked(hasty)
    assert report["response_proves"].verdict == "broken", report
    assert "response_proves=False" in report["response_proves"].remedy


async def test_a_lookup_that_reads_the_id_elsewhere_than_the_receipt_is_caught(sandbox):
    shape = tools.Shape(id="/at")
    report = await checked(
        tools.tool("keyed", key=tools.DAY, parts={"lookup": tools.lookup("keyed", shape=shape)})
    )
    assert verdicts(report, "broken") == {"same_effect"}


async def test_one_send_that_makes_two_effects_is_caught(sandbox):
    await sandbox.fault("surestep-check/*", write=["twice"])
    report = await checked(tools.keyed)
    assert "one send made 2 effects" in report["same_effect"].seen


async def test_a_fence_that_does_not_hold_is_caught(sandbox):
    tool = tools.tool("unfenced", visibility_lag=tools.AT_ONCE)

    @tool.fence
    async def _(args, call):
        return Fence(held=True)

    report = await checked(tool)
    assert verdicts(report, "broken") == {"fence", "fence_existing"}
    assert report["fence"].seen.startswith("it was performed: a receipt for ef_")
    assert report.effects == len(report.left) == 2


async def test_a_compensation_that_changes_nothing_is_caught(sandbox):
    tool = tools.tool("keyed", key=tools.DAY, visibility_lag=tools.AT_ONCE)

    @tool.compensate
    async def _(args, call):
        return call.receipt

    @tool.verify_compensation
    async def _(args, call):
        return not_found()

    report = await checked(tool, patience=timedelta(0))
    assert report["compensate"].verdict == "broken"


async def test_a_lookup_that_calls_undone_what_is_not_is_caught(sandbox):
    tool = tools.tool("keyed", key=tools.DAY, parts={"undo": tools.undo("keyed")})

    @tool.verify_compensation
    async def _(args, call):
        return confirmed(call.receipt)

    report = await checked(tool)
    assert verdicts(report, "broken") == {"verify_compensation"}
    assert report["verify_compensation"].seen == "undone before, undone after"
