"""The worked contracts of the docs are accepted, and their lookups find what they should."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel

import surestep
import surestep.http
from surestep.evidence import Finding, Sending
from surestep.http import HttpTool, Service, env
from tests.http import tools
from tests.http.servers import answering

DOCS = Path(__file__).parents[2] / "docs" / "tools.md"
BLOCKS = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)


class Payment(BaseModel):
    customer: str
    amount: int


class Comment(BaseModel):
    owner: str
    repo: str
    number: int
    text: str


class Invoice(BaseModel):
    customer: str
    cents: int


def names():
    known = {"re": re, "timedelta": timedelta, "Sending": Sending}
    known |= {name: getattr(surestep.http, name) for name in surestep.http.__all__}
    known |= {name: getattr(surestep, name) for name in ("Contract", "Effect", "KeySupport")}
    return known | {"Payment": Payment, "Comment": Comment, "Invoice": Invoice}


def worked(name):
    block = next(block for block in BLOCKS if f"\n{name} = HttpTool(" in f"\n{block}")
    found = names()
    exec(compile(block, str(DOCS), "exec", dont_inherit=True), found)
    tool = found[name]
    assert isinstance(tool, HttpTool)
    return tool.check()


def here(tool):
    """The same tool, pointed at SERVICE_URL."""
    service = Service(env("SERVICE_URL"), rules=tool.service.rules, codes=tool.service.codes)
    object.__setattr__(tool.sender, "service", service)
    return tool


async def verify(tool, arguments, at_raw, document):
    args = tool.load(tool(**arguments).arguments)
    async with at_raw(answering("200 OK", json.dumps(document).encode())) as raw:
        return await tool.verify_with(args, tools.call()), raw


async def test_a_payment_is_found_by_its_metadata(at_raw):
    page = {
        "data": [
            {"id": "pi_0", "amount": 5, "status": "succeeded", "metadata": {}},
            {"id": "pi_1", "amount": 5, "status": "succeeded",
             "metadata": {"action": "step-1/charge"}},
        ],
        "has_more": False,
    }  # fmt: skip
    given = {"customer": "cus_1", "amount": 5}
    seen, raw = await verify(here(worked("payment")), given, at_raw, page)
    assert [match.id for match in seen.matches] == ["pi_1"]
    assert raw.requests[0].startswith(b"GET /v1/payment_intents?customer=cus_1&limit=100 ")


async def test_a_comment_is_found_by_its_marker(at_raw):
    given = {"owner": "o", "repo": "r", "number": 7, "text": "hello"}
    comments = [
        {"id": 1, "body": "hello"},
        {"id": 2, "body": "hello\n\n<!-- surestep step-1/charge -->"},
    ]
    tool = here(worked("comment"))
    seen, raw = await verify(tool, given, at_raw, comments)
    assert [match.id for match in seen.matches] == ["2"]
    assert raw.requests[0].startswith(b"GET /repos/o/r/issues/7/comments?per_page=100 ")
    seen, _ = await verify(tool, given, at_raw, comments[:1])
    assert seen.finding is Finding.NOT_FOUND


async def test_a_rate_limit_that_comes_as_403_is_no_refusal_for_good(at_raw):
    tool = here(worked("comment"))
    args = tool.load(tool(owner="o", repo="r", number=7, text="hello").arguments)
    body = b'{"message": "You have exceeded a secondary rate limit"}'
    async with at_raw(answering("403 Forbidden", body, "Retry-After: 60")) as raw:
        with pytest.raises(surestep.Refused) as caught:
            await tool.execute_with(args, tools.call())
    assert caught.value.again
    sent = json.loads(raw.requests[0].partition(b"\r\n\r\n")[2])
    assert sent == {"body": "hello\n\n<!-- surestep step-1/charge -->"}


async def test_an_item_of_a_batch_is_read_by_its_own_status(world, monkeypatch):
    monkeypatch.setenv("BILLING_URL", f"{world.url}/lookup")
    tool = worked("invoice")
    given = {"customer": "ada", "cents": 2500}
    await world.fault("month/ada", write=["rate_limited:1", "reply_lost"])
    for error in (surestep.Refused, surestep.Ambiguous):
        with pytest.raises(error):
            await tools.execute(tool, "month/ada", **given)
    seen = await tool.verify_with(tool.load(tool(**given).arguments), tools.call("month/ada"))
    (effect,) = await world.effects("month/ada")
    assert seen.matches[0].id == effect.id
    assert effect.body == given


def test_every_block_of_the_docs_is_python():
    for block in BLOCKS:
        compile(block, str(DOCS), "exec")


def test_the_table_of_the_docs_is_the_table_of_the_code():
    listed = re.search(r"^\| (400[\d, ]+) \| refused \|", DOCS.read_text(), re.MULTILINE)
    assert listed
    assert {int(one) for one in listed[1].split(",")} == surestep.http.REFUSED
