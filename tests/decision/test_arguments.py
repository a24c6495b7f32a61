"""What a tool is called with: normalised, hashed, and refused where it has no single JSON form."""

import dataclasses
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, Secret, SecretStr

from surestep.contract import Contract, Effect
from surestep.errors import InvalidArguments, InvalidStepId
from surestep.identity import STEP_INPUT_LIMIT
from surestep.tool import Tool


class Currency(StrEnum):
    EUR = "eur"


class Refund(BaseModel):
    order: str
    cents: int


class Anything(BaseModel):
    value: Any = None


def tool(model: type[BaseModel]) -> Tool:
    return Tool("refund", model, Contract(effect=Effect.IRREVERSIBLE, ask=True))


refund, anything = tool(Refund), tool(Anything)


def test_calling_a_tool_makes_an_action():
    action = refund(order="7781", cents=2500)
    assert (action.name, action.tool) == ("refund", "refund")
    assert action.arguments == {"order": "7781", "cents": 2500}
    assert action.input_hash.startswith("v1:")


def test_an_action_can_be_renamed_and_stays_the_same_intent():
    action, second = refund(order="1", cents=1), refund(order="1", cents=1).named("second")
    assert second.name == "second"
    assert second.input_hash == action.input_hash
    with pytest.raises(InvalidStepId):
        action.named("a/b")


def test_arguments_are_normalised_so_that_equal_intents_are_equal():
    wanted = refund(order="7781", cents=2500)
    assert refund(cents=2500.0, order="7781") == wanted
    assert refund(order="7781", cents="2500") == wanted
    assert refund.action({"order": "7781", "cents": 2500}) == wanted
    assert refund.action(Refund(order="7781", cents=2500)) == wanted


def test_other_arguments_are_another_intent():
    assert (
        refund(order="7781", cents=2500).input_hash != refund(order="7781", cents=9900).input_hash
    )


def test_what_the_caller_changes_afterwards_changes_nothing():
    value = {"items": [1, 2]}
    action = anything(value=value)
    value["items"].append(3)
    assert action.arguments == {"value": {"items": [1, 2]}}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"order": "7781"}, "cents"),
        ({"order": "7781", "cents": "many"}, "cents"),
        ({"order": None, "cents": 1}, "order"),
        ({"order": "7781", "cents": 1.5}, "cents"),
        ({}, "order.*cents"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_field(arguments, field):
    with pytest.raises(InvalidArguments, match=rf"'refund'.*{field}"):
        refund(**arguments)


@pytest.mark.parametrize("arguments", [None, "x", 3, [1]])
def test_arguments_that_are_no_object_are_refused(arguments):
    with pytest.raises(InvalidArguments):
        refund.action(arguments)


def test_a_refusal_never_repeats_what_was_passed():
    with pytest.raises(InvalidArguments) as refused:
        refund(order="7781", cents="4242424242424242x")
    assert "4242" not in str(refused.value)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {"a", "b"}, "\ud800", SecretStr("s3cret"), {1: "a", "1": "b"}],
)
def test_what_has_no_single_json_form_is_refused_with_its_path(value):
    with pytest.raises(InvalidArguments, match=r"value\[1\]\.deep") as refused:
        anything(value=[0, {"deep": value}])
    assert "s3cret" not in str(refused.value)


def test_a_secret_in_the_model_is_refused_with_its_path():
    class Charge(BaseModel):
        cents: int
        api_token: SecretStr

    with pytest.raises(InvalidArguments, match=r"api_token.*secret"):
        tool(Charge)(cents=1, api_token="s3cret")


def test_a_secret_of_any_type_is_refused():
    class Charge(BaseModel):
        pin: Secret[int]

    with pytest.raises(InvalidArguments, match="secret"):
        tool(Charge)(pin=1234)


UNFIT = pytest.mark.parametrize("value", [SecretStr("s3cret"), {"a", "b"}, float("nan")])


@UNFIT
def test_what_has_no_json_form_is_refused_in_an_extra_field_too(value):
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    with pytest.raises(InvalidArguments, match="tags"):
        tool(Open)(tags=value)


@UNFIT
def test_what_has_no_json_form_is_refused_in_a_dataclass_too(value):
    @dataclasses.dataclass
    class Inner:
        tags: Any

    class Outer(BaseModel):
        inner: Inner

    with pytest.raises(InvalidArguments, match=r"inner\.tags"):
        tool(Outer)(inner=Inner(tags=value))


@pytest.mark.parametrize("value", [object(), b"\xff"])
def test_what_cannot_be_written_as_json_is_refused_before_anything_starts(value):
    with pytest.raises(InvalidArguments):
        anything(value=value)


@pytest.mark.parametrize("value", [object(), b"\xff"])
def test_what_cannot_be_written_as_json_is_refused_with_its_path(value):
    with pytest.raises(InvalidArguments, match=r"value\[0\]"):
        anything(value=[value])


def test_arguments_nested_beyond_reason_are_refused():
    value: list = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidArguments):
        anything(value=value)


def test_dates_decimals_and_enums_have_a_documented_form_and_come_back():
    class Rich(BaseModel):
        due: datetime
        amount: Decimal
        currency: Currency

    made = tool(Rich)
    due = datetime(2026, 3, 29, 2, 30, tzinfo=UTC)
    action = made(due=due, amount=Decimal("10.00"), currency=Currency.EUR)
    assert action.arguments == {
        "due": "2026-03-29T02:30:00Z", "amount": "10.00", "currency": "eur",
    }  # fmt: skip
    assert made.load(action.arguments) == Rich(due=due, amount="10.00", currency="eur")
    assert made.action(action.arguments) == action


def test_a_big_integer_reaches_the_tool_unchanged():
    assert anything.load(anything(value=9007199254740993).arguments).value == 9007199254740993


def test_arguments_with_an_alias_come_back():
    class Camel(BaseModel):
        order_id: str = Field(alias="orderId")

    made = tool(Camel)
    assert made.load(made(orderId="7781").arguments).order_id == "7781"


def test_an_argument_that_the_model_would_not_record_is_refused():
    class Hidden(BaseModel):
        order: str
        reason: str = Field(default="", exclude=True)

    with pytest.raises(InvalidArguments, match="reason"):
        tool(Hidden)(order="7781", reason="fraud")


def test_arguments_over_the_limit_are_refused_with_the_limit_and_the_remedy():
    with pytest.raises(InvalidArguments, match=rf"{STEP_INPUT_LIMIT}.*reference"):
        anything(value="x" * (STEP_INPUT_LIMIT + 1))


def test_arguments_just_under_the_limit_are_taken():
    assert anything(value="x" * (STEP_INPUT_LIMIT - 100)).input_hash
