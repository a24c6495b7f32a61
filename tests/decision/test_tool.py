"""Tools and their registry: what is declared, what contradicts itself, what the error says."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import BaseModel

from surestep.contract import Contract, Effect, KeySupport
from surestep.errors import ContractError, SurestepError, UnknownTool
from surestep.evidence import Receipt, not_found
from surestep.identity import NAME_LIMIT, as_uuid, token
from surestep.tool import Call, Tool, Tools

LAG = timedelta(seconds=5)
DAY = timedelta(days=1)


class Refund(BaseModel):
    order: str
    cents: int


async def act(args, call):
    return Receipt()


async def see(args, call):
    return not_found()


def tool(name="refund", *, looks=True, **promises) -> Tool:
    promises = {"effect": Effect.IRREVERSIBLE} | promises
    made = Tool(name, Refund, Contract(**promises))
    made.execute(act)
    if looks:
        made.verify(see)
    return made


def test_a_tool_is_declared_in_ten_lines():
    refund = Tool("refund", Refund, Contract(effect=Effect.IRREVERSIBLE, visibility_lag=LAG))

    @refund.execute
    async def _(args: Refund, call: Call) -> Receipt:
        return Receipt(id=args.order)

    @refund.verify
    async def _(args: Refund, call: Call):
        return not_found()

    assert [one.name for one in Tools(refund)] == ["refund"]


def test_a_decorated_function_stays_the_function_it_was():
    assert tool().execute(act) is act


@pytest.mark.parametrize(
    ("made", "remedy"),
    [
        (lambda: Tool("t", Refund, Contract(effect=Effect.READ)), "add @t.execute"),
        (lambda: tool(looks=False, visibility_lag=LAG, ask=True), "add @refund.verify"),
        (lambda: tool(looks=False, visibility_lag=timedelta(0), ask=True), "add @refund.verify"),
        (lambda: tool(looks=False), "ask=True"),
        (lambda: tool(looks=False), "add verify"),
        (lambda: tool(looks=False, response_proves=False, key=KeySupport(lifetime=DAY)), "ask=Tr"),
    ],
)
def test_a_contradiction_is_refused_with_its_remedy(made, remedy):
    with pytest.raises(ContractError, match=remedy):
        Tools(made())


def test_a_read_that_can_be_undone_is_refused():
    read = tool(effect=Effect.READ)
    read.compensate(act)
    with pytest.raises(ContractError, match="compensate"):
        Tools(read)


def test_a_sight_probe_without_a_lookup_is_refused():
    blind = tool(looks=False, ask=True)
    blind.sight(see)
    with pytest.raises(ContractError, match="verify"):
        Tools(blind)


def test_a_check_of_an_undo_that_does_not_exist_is_refused():
    refund = tool()
    refund.verify_compensation(see)
    with pytest.raises(ContractError, match="compensation"):
        Tools(refund)


@pytest.mark.parametrize(
    "promises",
    [
        {"effect": Effect.READ, "looks": False},
        {"looks": False, "ask": True},
        {"looks": False, "key": KeySupport(lifetime=DAY)},
        {"looks": True},
        {"effect": Effect.REVERSIBLE},
    ],
)
def test_a_contract_without_contradiction_is_registered(promises):
    assert len(Tools(tool(**promises))) == 1


def test_a_key_that_dies_before_one_attempt_is_over_is_refused_with_its_remedy():
    with pytest.raises(ContractError, match="key=None"):
        tool(key=KeySupport(lifetime=timedelta(seconds=60)), in_flight=timedelta(seconds=30))


@pytest.mark.parametrize("name", ["timeout", "queue", "patience", "completes_within"])
def test_a_duration_that_must_be_positive_is_named(name):
    with pytest.raises(ContractError, match=name):
        tool(**{name: timedelta(0)})


@pytest.mark.parametrize("name", ["in_flight", "visibility_lag", "watch"])
def test_a_negative_promise_is_named(name):
    with pytest.raises(ContractError, match=name):
        tool(**{name: timedelta(seconds=-1)})


@pytest.mark.parametrize("name", ["misses", "sends"])
def test_a_count_below_one_is_named(name):
    with pytest.raises(ContractError, match=name):
        tool(**{name: 0})


def test_a_misspelt_promise_is_refused():
    with pytest.raises(ValueError, match="in_fligth"):
        tool(in_fligth=LAG)


@pytest.mark.parametrize("what", ["execute", "verify", "fence", "sight", "compensate"])
def test_a_synchronous_function_is_refused_with_its_remedy(what):
    def work(args, call):
        return Receipt()

    with pytest.raises(ContractError, match=r"work must be `async def`.*to_thread"):
        getattr(tool(), what)(work)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "undo", "é", "x" * (NAME_LIMIT + 1)])
def test_a_tool_name_that_cannot_be_part_of_a_key_is_refused(name):
    with pytest.raises(SurestepError):
        tool(name)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ContractError, match="two tools are named 'refund'"):
        Tools(tool(), tool())


def test_the_same_tool_may_be_registered_twice():
    refund = tool()
    assert len(Tools(refund, refund)) == 1


def test_an_unknown_tool_names_those_that_are_known():
    with pytest.raises(UnknownTool, match="charge, refund"):
        Tools(tool(), tool("charge"))["refnud"]


def test_an_empty_registry_says_how_to_fill_it():
    with pytest.raises(UnknownTool, match="SURESTEP_TOOLS"):
        Tools()["refund"]


def test_a_tool_that_can_be_undone_brings_the_undo_with_it():
    refund = tool()
    refund.compensate(act)
    tools = Tools(refund)
    undo = tools["refund.undo"]
    assert undo.execute_with is act
    assert undo.arguments is Refund
    assert undo.contract.effect is Effect.IRREVERSIBLE


def test_an_ambiguous_undo_without_a_lookup_goes_to_a_human():
    refund = tool()
    refund.compensate(act)
    assert refund.undo.verify_with is None
    assert refund.undo.contract.ask


def test_an_undo_can_be_looked_up():
    refund = tool()
    refund.compensate(act)
    refund.verify_compensation(see)
    assert Tools(refund)["refund.undo"].verify_with is see


def test_an_undo_of_the_name_of_another_tool_is_refused():
    refund = tool()
    refund.compensate(act)
    with pytest.raises(ContractError, match=r"refund\.undo"):
        Tools(refund, tool("refund.undo"))


def test_an_undo_never_replaces_a_tool_that_was_there_before():
    refund = tool()
    refund.compensate(act)
    with pytest.raises(ContractError, match=r"refund\.undo"):
        Tools(tool("refund.undo"), refund)


def test_a_name_too_long_for_its_undo_is_refused_with_the_limit():
    with pytest.raises(ContractError, match="35 characters"):
        tool("x" * NAME_LIMIT).compensate(act)


def test_what_a_person_recognises_must_be_an_argument():
    with pytest.raises(ContractError, match="order, cents"):
        Tool("refund", Refund, Contract(effect=Effect.READ), recognise="oder")


def test_what_a_person_recognises_is_shown_bounded():
    refund = Tool("refund", Refund, Contract(effect=Effect.READ), recognise="order")
    assert refund.recognised({"order": "7781", "cents": 1}) == "7781"
    assert len(refund.recognised({"order": "7" * 5000, "cents": 1})) <= 100
    assert tool().recognised({"order": "7781", "cents": 1}) == ""


def test_a_call_gives_the_key_in_the_form_that_the_service_wants():
    call = Call(action_id="s/refund", attempt=2, deadline=datetime(2026, 3, 1, tzinfo=UTC))
    again = Call(action_id="s/refund", attempt=3, deadline=datetime(2026, 4, 1, tzinfo=UTC))
    assert call.uuid == again.uuid == as_uuid("s/refund")
    assert call.token() == again.token() == token("s/refund")
