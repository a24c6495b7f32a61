"""Numbers reach the service as they were given, and are compared as they were given."""

import json
from decimal import Decimal

import pytest
from pydantic import BaseModel

from surestep import InvalidArguments
from surestep.evidence import Finding
from surestep.http import HttpTool, Lookup, Request
from tests.http import tools

KEY = "step-1/payment"
BEYOND_A_DOUBLE = 9007199254740993


class Payment(BaseModel):
    account: int = 1
    rate: float = 1.0
    amount: Decimal = Decimal(1)
    tags: dict[str, int] = {}


payment = HttpTool(
    "payment",
    Payment,
    tools.contract(**tools.PROMPT),
    service=tools.SERVICE,
    request=Request("POST", "/lookup/effects"),
    lookup=Lookup(
        "/lookup/effects",
        {"key": "{call.key}"},
        items="/effects",
        same={name: f"/body/{name}" for name in Payment.model_fields},
    ),
)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"account": BEYOND_A_DOUBLE}, b"9007199254740993"),
        ({"account": -(2**63)}, b"-9223372036854775808"),
        ({"rate": 8.03}, b"8.03"),
        ({"rate": 0.1 + 0.2}, b"0.30000000000000004"),
        ({"rate": 1e21}, b"1e+21"),
        ({"rate": 1e-7}, b"1e-07"),
        ({"rate": -0.0}, None),
        ({"amount": Decimal("8.030")}, b'"8.030"'),
        ({"tags": {"ﬁ": 1, "😀": 2, "a": 3}}, None),
    ],
)
async def test_a_number_is_what_it_was_on_its_way_there_and_back(given, sent, at_world):
    await tools.execute(payment, KEY, **given)
    (posted,) = [one for one in await at_world.requests() if one.method == "POST"]
    if sent is not None:
        assert sent in posted.body.encode()
    (effect,) = await at_world.effects(KEY)
    assert Payment.model_validate(effect.body) == Payment.model_validate(given)
    seen = await tools.verify(payment, KEY, **given)
    assert (seen.finding, seen.differs) == (Finding.CONFIRMED, ())


@pytest.mark.parametrize(
    ("asked", "differs"),
    [
        ({"account": BEYOND_A_DOUBLE - 1}, "account"),  # what a hop through JavaScript makes of it
        ({"account": BEYOND_A_DOUBLE, "rate": 8.02999999999999}, "rate"),
        ({"account": BEYOND_A_DOUBLE, "amount": Decimal("1.01")}, "amount"),
    ],
)
async def test_a_number_that_is_only_nearly_the_same_differs(asked, differs, at_world):
    await tools.execute(payment, KEY, account=BEYOND_A_DOUBLE, rate=8.03)
    seen = await tools.verify(payment, KEY, **{"rate": 8.03} | asked)
    assert seen.differs == (differs,)


async def test_the_order_in_which_keys_were_given_is_not_sent(at_world):
    for number, tags in enumerate(({"b": 1, "a": 2}, {"a": 2, "b": 1})):
        await tools.execute(payment, f"{KEY}/{number}", tags=tags)
    assert len({one.sha256 for one in await at_world.requests()}) == 1
    assert json.loads((await at_world.requests())[0].body)["tags"] == {"a": 2, "b": 1}


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_in_json_is_refused_before_anything_starts(rate):
    with pytest.raises(InvalidArguments, match="rate"):
        payment(rate=rate)
