"""An argument model from a JSON schema takes what the schema takes, and changes nothing."""

import pytest

from surestep import Contract, ContractError, Effect, InvalidArguments, Receipt, Tool
from surestep.agents.declaration import schema
from surestep.agents.mcp_arguments import argument_model


def tool(described, **how):
    made = Tool("pay", argument_model(described, **how), Contract(effect=Effect.READ))

    @made.execute
    async def _(args, call):
        return Receipt()

    return made


ITEM = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
ORDER = {
    "type": "object",
    "$defs": {"Item": ITEM},
    "properties": {
        "id": {"type": "integer"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        "note": {"type": "string", "default": "none"},
    },
    "required": ["id"],
}


def test_what_fits_is_kept_as_it_is_and_what_is_absent_stays_absent():
    given = {"id": 2**60 + 1, "items": [{"sku": "a", "more": [1, None]}]}
    made = tool(ORDER)(**given)
    assert made.arguments == given
    assert tool(ORDER).load(made.arguments).model_dump(mode="json") == given


def test_equal_numbers_are_equal():
    assert tool(ORDER)(id=2500).input_hash == tool(ORDER)(id=2500.0).input_hash


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "'id' is a required property"),
        ({"id": "s3cret"}, "id: does not fit type integer"),
        ({"id": 1, "items": [{}]}, r"items\.0: 'sku' is a required property"),
        ({"id": 1, "nots": "x"}, "'nots' was unexpected"),
        ({"id": 1, "note": float("nan")}, "note"),
        ([], "type object"),
    ],
)
def test_what_does_not_fit_is_named_without_its_value(given, why):
    with pytest.raises(InvalidArguments, match=why) as raised:
        tool(ORDER).action(given)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    "name", ["schema", "copy", "model_dump", "model_config", "self", "_a", "a b"]
)
def test_an_argument_may_have_any_name(name):
    described = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    assert tool(described).action({name: "x"}).arguments == {name: "x"}


def test_a_model_is_shown_the_schema_itself():
    assert schema(tool(ORDER)) == {**ORDER, "additionalProperties": False}


def test_properties_that_stand_elsewhere_are_taken():
    described = {"allOf": [{"$ref": "#/$defs/Order"}], "$defs": {"Order": ITEM}, "properties": {}}
    assert tool(described)(sku="a").arguments == {"sku": "a"}


def test_a_schema_that_points_outside_itself_is_not_followed():
    described = {"type": "object", "properties": {"id": {"$ref": "https://example.com/id.json"}}}
    with pytest.raises(InvalidArguments, match="refers to what is not in it"):
        tool(described)(id=1)


def test_the_argument_of_the_key_is_not_shown_and_not_taken():
    described = {**ORDER, "required": ["id", "note"]}
    keyed = tool(described, without="note")
    assert schema(keyed)["required"] == ["id"]
    with pytest.raises(InvalidArguments, match="'note' was unexpected"):
        keyed(id=1, note="m-1")
    with pytest.raises(ContractError, match="no argument 'key'"):
        argument_model(ORDER, without="key")
