"""A service that keeps its promises passes, and what it has been put through is told."""

from datetime import timedelta

from . import tools
from .conftest import checked, verdicts

UNTESTABLE = {"key_lifetime", "in_flight", "redelivery"}


async def test_an_honest_keyed_service_passes(sandbox):
    report = await checked(tools.keyed)
    assert report.ok, report
    assert verdicts(report, "kept") == {
        "response_proves", "same_effect", "sight", "visibility_lag", "strangers", "key",
        "key_at_once", "key_content", "repeatable", "one_send",
    }  # fmt: skip
    assert await sandbox.count() == report.effects == 2


async def test_an_honest_lookup_passes_although_it_lags_within_its_promise(sandbox):
    report = await checked(tools.lagging)
    assert report.ok, report
    assert report["visibility_lag"].seen.startswith("seen after 0.")
    assert verdicts(report, "kept") >= {"sight", "visibility_lag", "strangers", "compensate"}
    assert report["key"].verdict == "not tested"


async def test_an_honest_service_that_cannot_be_looked_up_passes_on_its_receipts(sandbox):
    report = await checked(tools.keyed_blind)
    assert report.ok, report
    assert verdicts(report, "kept") == {"key", "key_at_once", "repeatable", "one_send"}
    assert report["visibility_lag"].seen == "the tool has no verify"


async def test_what_is_accepted_is_followed_from_pending_to_confirmed(sandbox):
    report = await checked(tools.queued, patience=timedelta(seconds=10))
    assert report.ok, report
    assert report["response_proves"].seen.startswith("pending, then confirmed ef_")
    assert verdicts(report, "kept") >= {"key", "key_at_once", "key_content", "strangers"}
    assert await sandbox.count() == report.effects == len(report.left) == 2


async def test_a_fence_that_holds_and_names_what_exists_passes(sandbox):
    report = await checked(tools.fenced)
    assert report.ok, report
    assert verdicts(report, "kept") >= {"fence", "fence_existing"}
    assert await sandbox.count() == report.effects == 1


async def test_what_was_made_is_compensated_where_the_tool_can(sandbox):
    report = await checked(tools.keyed_undoable)
    assert report.ok, report
    assert verdicts(report, "kept") >= {"compensate", "verify_compensation"}
    assert (report.effects, report.undone, report.left) == (2, 2, ())
    assert {effect.status for effect in await sandbox.effects()} == {"voided"}


async def test_what_is_left_behind_is_named_by_id_and_by_a_recognisable_key(sandbox):
    report = await checked(tools.keyed)
    effects = await sandbox.effects(f"surestep-check/{report.run}/*")
    assert [(one.key, one.id) for one in report.left] == [(e.key, e.id) for e in effects]


async def test_two_runs_never_share_a_key(sandbox):
    first, second = await checked(tools.blind), await checked(tools.blind)
    assert first.run != second.run
    assert len({effect.key for effect in await sandbox.effects()}) == 2


async def test_what_cannot_be_tested_from_outside_is_said_with_its_reason(sandbox):
    report = await checked(tools.keyed)
    assert verdicts(report, "not tested") >= UNTESTABLE
    assert report["key_lifetime"].seen == "a check does not last for 24 h"
    assert all(row.seen for row in report.rows)


async def test_a_refusal_that_is_refused_passes(sandbox):
    await sandbox.fault("surestep-check/*", write=["honest"] * 5 + ["refuse:422"])
    report = await checked(tools.keyed, refused={"order": "7781", "cents": -1})
    assert report["refusal"].verdict == "kept", report
    assert report["refusal"].seen.startswith("refused: the service answered 422")
