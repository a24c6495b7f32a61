"""Identity on the wire: one path, one key, one content, whatever the arguments are."""

import json

import pytest
from pydantic import BaseModel, Field

from surestep import ContractError, InvalidArguments, NotSent
from surestep.http import HttpTool, Key, Request
from surestep.tool import Tool
from tests.http import tools
from tests.http.servers import answering

CREATED = answering("201 Created", b'{"id": "1"}')


def of(raw, at=0):
    """Method, target, headers and body of a request as received."""
    head, _, body = raw.requests[at].partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return method, target, headers, body


@pytest.mark.parametrize(
    ("order", "segment"),
    [
        ("o-1", "o-1"),
        ("a/b", "a%2Fb"),
        ("a?admin=1#x", "a%3Fadmin%3D1%23x"),
        ("100%", "100%25"),
        ("%2e%2e", "%252e%252e"),
        ("ä €", "%C3%A4%20%E2%82%AC"),
        ("a;b=c,d", "a%3Bb%3Dc%2Cd"),
        ("...", "..."),
        ("a:b@c", "a%3Ab%40c"),
    ],
)
async def test_an_argument_stays_one_segment(order, segment, at_raw):
    tool = tools.raw(request=Request("POST", "/orders/{order}/refunds"))
    async with at_raw(CREATED) as raw:
        await tools.execute(tool, order=order)
    assert of(raw)[1] == f"/orders/{segment}/refunds"


@pytest.mark.parametrize("order", ["", ".", "..", "../admin", "a/../../b", "..\\x", "a\nb", "\0"])
def test_an_argument_that_would_change_the_path_is_refused_before_anything_starts(order):
    tool = tools.raw(request=Request("POST", "/orders/{order}/refunds"))
    with pytest.raises(InvalidArguments, match="order"):
        tool(order=order, cents=1)


def test_the_lookups_path_is_checked_as_well():
    tool = tools.tool("t", "lookup", lookup=tools.Lookup("/by/{order}/{call.key}"))
    with pytest.raises(InvalidArguments, match="order"):
        tool(order="..", cents=1)


@pytest.mark.parametrize("order", ["naïve", "a\r\nX-Admin: 1"])
def test_an_argument_that_no_header_can_hold_is_refused_before_anything_starts(order):
    tool = tools.raw(request=Request("POST", "/charges", headers={"X-Order": "{order}"}))
    with pytest.raises(InvalidArguments, match="printable ASCII"):
        tool(order=order, cents=1)


async def test_parameters_are_quoted_one_by_one(at_raw):
    tool = tools.raw(
        request=Request("POST", "/charges", {"o": "{order}", "n": "no {cents}"}, body=None)
    )
    async with at_raw(CREATED) as raw:
        await tools.execute(tool, order="a&b=c d+e")
    method, target, _, body = of(raw)
    assert (method, target) == ("POST", "/charges?o=a%26b%3Dc%20d%2Be&n=no%202500")
    assert body == b""


@pytest.mark.parametrize("key", ["refund/order-7781/refund", "a=b@c+d:e.f_g/x~2", "x" * 249])
async def test_the_key_is_sent_byte_for_byte(key, at_raw):
    async with at_raw(CREATED) as raw:
        await tools.execute(tools.raw(key=Key(field="/metadata/action")), key)
    _, _, headers, body = of(raw)
    assert headers["idempotency-key"] == key
    assert json.loads(body) == {"order": "o-1", "cents": 2500, "metadata": {"action": key}}


async def test_a_service_may_want_another_header_and_another_form(at_raw):
    tool = tools.raw(key=Key(header="X-Request-Id", form=lambda call: call.uuid))
    async with at_raw(CREATED) as raw:
        await tools.execute(tool)
        await tools.execute(tool)
    first, second = of(raw)[2], of(raw, 1)[2]
    assert first["x-request-id"] == second["x-request-id"] == tools.call().uuid
    assert "idempotency-key" not in first


class Order(BaseModel):
    order: str
    cents: int
    parts: dict[str, int] = {}
    rate: float = 1.0


class LaterOrder(BaseModel):
    """The same after a deploy: other order of fields, and a new one with a default."""

    channel: str = "web"
    rate: float = 1.0
    parts: dict[str, int] = {}
    cents: int
    order: str


async def test_a_deploy_does_not_change_what_an_action_in_flight_sends(at_raw):
    def tool(model):
        return HttpTool(
            "t",
            model,
            tools.contract(key=tools.DAY),
            service=tools.SERVICE,
            request=Request("POST", "/charges"),
        )

    before, after = tool(Order), tool(LaterOrder)
    recorded = before(order="o-1", cents=1, parts={"z": 1, "a": 2}).arguments
    async with at_raw(CREATED) as raw:
        await before.execute_with(before.load(recorded), tools.call())
        await after.execute_with(after.load(recorded), tools.call(attempt=2))
    assert of(raw, 0) == of(raw, 1)
    assert json.loads(of(raw)[3]) == {
        "order": "o-1", "cents": 1, "parts": {"a": 2, "z": 1}, "rate": 1.0
    }  # fmt: skip


async def test_a_body_may_be_a_template_that_keeps_types(at_raw):
    body = {"amount": "{cents}", "note": "for {order}", "tags": ["{call.key}", 1], "fix": None}
    async with at_raw(CREATED) as raw:
        await tools.execute(tools.raw(request=Request("PUT", "/c", body=body)))
    assert json.loads(of(raw)[3]) == {
        "amount": 2500, "note": "for o-1", "tags": ["step-1/charge", 1], "fix": None
    }  # fmt: skip


async def test_a_body_may_be_a_form(at_raw):
    body = {
        "amount": "{cents}",
        "metadata": {"action": "{call.key}"},
        "items": [{"id": "ä&"}, True],
    }
    tool = tools.raw(request=Request("POST", "/c", body=body, encoding="form"))
    async with at_raw(CREATED) as raw:
        await tools.execute(tool)
    _, _, headers, sent = of(raw)
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert sent == (
        b"amount=2500&items%5B0%5D%5Bid%5D=%C3%A4%26&items%5B1%5D=true"
        b"&metadata%5Baction%5D=step-1%2Fcharge"
    )


@pytest.mark.parametrize(
    "body",
    [
        lambda args, call: {"rate": float("nan")},
        lambda args, call: {"when": object()},
        lambda args, call: 1 / 0,
        lambda args, call: {"x": {1, 2}},
    ],
)
async def test_a_body_that_cannot_be_built_is_definite(body, at_raw):
    async with at_raw(CREATED) as raw:
        with pytest.raises(NotSent, match="cannot be built"):
            await tools.execute(tools.raw(request=Request("POST", "/c", body=body)))
    assert raw.connections == 0


class Aliased(BaseModel):
    order_id: str = Field(alias="order-id")


async def test_placeholders_are_named_as_the_arguments_are_recorded(at_raw):
    tool = HttpTool(
        "t",
        Aliased,
        tools.contract(key=tools.DAY),
        service=tools.SERVICE,
        request=Request("POST", "/o/{order-id}"),
    )
    action = tool.action({"order-id": "7"})
    async with at_raw(CREATED) as raw:
        await tool.execute_with(tool.load(action.arguments), tools.call())
    assert of(raw)[1] == "/o/7"


@pytest.mark.parametrize(
    ("parts", "remedy"),
    [
        ({"request": Request("POST", "/o/{oder}")}, r"nothing fills \{oder\}; there is"),
        ({"request": Request("POST", "/o", {"a": "{call.id}"})}, "call.key"),
        ({"request": Request("POST", "/o", body={"a": ["{}"]})}, "nothing fills"),
        ({"request": Request("POST", "/o/{call.receipt.id}")}, "nothing fills"),
        ({"key": Key(header=None)}, "sends none"),
        ({"shape": tools.Shape(id=None)}, "by what can a success be told"),
        ({"lookup": tools.Lookup("/l", same={"oder": "/x"})}, "names no argument"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused_with_the_remedy(parts, remedy):
    with pytest.raises(ContractError, match=remedy):
        tools.raw(**parts) if "lookup" not in parts else tools.tool("t", "x", **parts)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Request("GET", "no-slash"),
        lambda: Request("GET", "//host/path"),
        lambda: Request("GET", "/a?b={c}"),
        lambda: tools.Shape(id="id"),
        lambda: tools.Lookup("/x", key="metadata.key"),
        lambda: Key(field="key"),
        lambda: Key(field=""),
    ],
)
def test_a_part_that_cannot_work_is_refused_at_once(made):
    with pytest.raises(ContractError):
        made()


def test_a_declared_tool_is_a_tool_like_any_other():
    assert isinstance(tools.keyed, Tool)
    assert tools.keyed.check() is tools.keyed
    assert tools.blind.verify_with is None
    assert tools.undoable.undo.verify_with is not None
