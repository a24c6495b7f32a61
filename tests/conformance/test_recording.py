"""What two sends under one key have in common is compared without having an effect."""

import os
import time

import httpx

from surestep import Receipt, Tool

from . import tools
from .conftest import checked, verdicts


def programmed(content, *, sends=1):
    """A tool that reads its base URL when it sends; `content` gives its body."""
    made = Tool("charge", tools.Charge, tools.contract(key=tools.DAY))

    @made.execute
    async def _(args, call) -> Receipt:
        async with tools.client() as http:
            for _ in range(sends):
                answer = await http.post(
                    "/keyed/effects",
                    json=content(args, call),
                    headers={"Idempotency-Key": call.action_id},
                )
                if answer.is_success:
                    break
        answer.raise_for_status()
        return Receipt(id=answer.json()["id"])

    return made


def plain(args, call):
    return args.model_dump()


async def test_a_time_in_the_content_is_caught(sandbox):
    dated = programmed(lambda args, call: plain(args, call) | {"at": time.monotonic_ns()})
    report = await checked(dated, base_url_variable="SERVICE_URL", skip=["key", "key_at_once"])
    assert report["repeatable"].verdict == "broken"
    assert report["repeatable"].seen == "the second differs in its body"


async def test_the_number_of_the_attempt_in_the_content_is_caught(sandbox):
    numbered = programmed(lambda args, call: plain(args, call) | {"try": call.attempt})
    report = await checked(numbered, base_url_variable="SERVICE_URL", skip=["key", "key_at_once"])
    assert report["repeatable"].verdict == "broken"


async def test_a_client_that_tries_again_by_itself_is_caught(sandbox):
    report = await checked(programmed(plain, sends=3), base_url_variable="SERVICE_URL")
    assert verdicts(report, "broken") == {"one_send"}
    assert report["one_send"].seen == "3 requests in one execute"
    assert "retries" in report["one_send"].remedy


async def test_the_recorder_stands_in_for_the_service_only_while_it_records(sandbox):
    report = await checked(programmed(plain), base_url_variable="SERVICE_URL")
    assert report.ok, report
    assert report["repeatable"].verdict == "kept"
    assert os.environ["SERVICE_URL"] == sandbox.url
    assert await sandbox.requests(f"surestep-check/{report.run}/recorded/*") == []
    assert await sandbox.count() == report.effects == 2


async def test_a_declared_tool_is_recorded_without_its_credentials(sandbox):
    asked = []

    def credentials(stale):
        asked.append(stale)
        return {"Authorization": "Bearer of-the-sandbox"}

    tool = tools.tool("keyed_blind", looks=False, key=tools.DAY)
    tool.service = tool.service.__class__(tool.service.base, credentials)
    tool.sender = tool.sender.__class__(tool.service, tool.key, tool.sender.rules)
    before = tool.service
    only_recorded = ["key", "key_at_once", "key_content"]
    report = await checked(tool, skip=only_recorded)
    assert report["repeatable"].verdict == "kept"
    assert asked == [False], "the first effect's, and none for the recorder"
    assert tool.service is before


async def test_without_a_way_to_the_recorder_it_says_so_and_has_no_further_effect(sandbox):
    report = await checked(programmed(plain))
    assert report["repeatable"].verdict == report["one_send"].verdict == "not tested"
    assert "--base-url-env" in report["repeatable"].seen


async def test_a_tool_that_reads_its_base_url_too_early_is_not_judged(sandbox):
    url = sandbox.url
    early = Tool("charge", tools.Charge, tools.contract(key=tools.DAY))

    @early.execute
    async def _(args, call) -> Receipt:
        async with httpx.AsyncClient(base_url=url, verify=False) as http:
            answer = await http.post(
                "/keyed/effects",
                json=plain(args, call),
                headers={"Idempotency-Key": call.action_id},
            )
        return Receipt(id=answer.json()["id"])

    report = await checked(early, base_url_variable="SERVICE_URL")
    assert "nothing reached the recorder" in report["repeatable"].seen
    assert await sandbox.count() == report.effects == len(report.left) == 3
