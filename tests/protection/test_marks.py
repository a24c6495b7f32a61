"""What may be marked, what is refused, and where a secret comes from."""

import base64
import json
from pathlib import Path
from typing import Annotated, NamedTuple

import pytest
from pydantic import BaseModel, Field, model_validator

from surestep import (
    Contract,
    ContractError,
    Effect,
    InvalidArguments,
    NotSent,
    Personal,
    Secret,
    Tool,
)
from surestep.mask import MASK, Mask
from surestep.places import as_recorded
from surestep.protocol import ActionInput, StepInput
from surestep.submission import submission
from surestep.vault import folder, given, readied
from tests.examples.test_snippets import run, snippet
from tests.protection.tools import Payment, answered, hostile

BLIND = Contract(effect=Effect.IRREVERSIBLE, ask=True)
ARGUMENTS = {
    "order": "7",
    "email": "ada@example.org",
    "customers": [{"email": "zoe@example.org", "name": "Zoë O'Hara"}],
}


def tool(model: type[BaseModel], **more: str) -> Tool:
    return Tool("paying", model, BLIND, **more)


class Numbered(BaseModel):
    token: Annotated[int, Secret()]


class Point(NamedTuple):
    name: Annotated[str, Personal()]


class Drawn(BaseModel):
    points: list[Point]


class Keyed(BaseModel):
    by_email: dict[Annotated[str, Personal()], int]


class Twice(BaseModel):
    email: Annotated[str, Personal(), Secret()]


class Bare(BaseModel):
    email: Annotated[str, Personal]


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (Numbered, "must be a str"),
        (Drawn, "make Point a BaseModel"),
        (Keyed, "its values can"),
        (Twice, "one mark is enough"),
        (Bare, r"with brackets, Secret\(\)"),
    ],
)
def test_a_mark_that_could_not_be_kept_is_refused_with_the_remedy(model, remedy):
    with pytest.raises(ContractError, match=remedy):
        tool(model)


@pytest.mark.parametrize("name", ["email", "token", "customers"])
def test_a_marked_argument_cannot_be_the_one_that_lists_show(name):
    with pytest.raises(ContractError, match="name another argument"):
        tool(Payment, recognise=name)


@pytest.mark.parametrize(
    "value",
    ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "hunter-two", "../etc/passwd", "x" * 90, "Bearer abc",
     "f47ac10b-58cc-4372-a567-0e02b2c3d479"],
)  # fmt: skip
def test_the_secret_itself_is_refused_as_an_argument_and_not_repeated(value):
    class Open(BaseModel):
        token: Annotated[str | None, Secret()]

    models = [Payment] if value == "hunter-two" else [Payment, Open]
    for model in models:
        with pytest.raises(
            InvalidArguments, match=r"token: must be .*the name of a secret"
        ) as known:
            tool(model).action({**ARGUMENTS, "token": value})
        assert value not in str(known.value)


def test_a_model_is_told_which_names_there_are():
    schema = Payment.model_json_schema()["properties"]["token"]
    assert schema["enum"] == ["billing-token", "no-such-token"]


def test_a_validators_words_about_a_personal_value_are_not_repeated():
    class Careless(Payment):
        plain: int = Field(default=1, ge=0)

        @model_validator(mode="after")
        def _check(self):
            if self.order == "bad":
                raise ValueError(f"{self.email} has no order")
            return self

    with pytest.raises(InvalidArguments, match="email: it is refused by its validator") as known:
        tool(Careless).action({**ARGUMENTS, "email": "Ada Lovelace"})
    assert "Ada" not in str(known.value)
    with pytest.raises(InvalidArguments, match="input: it is refused by its validator"):
        tool(Careless).action({**ARGUMENTS, "order": "bad"})
    with pytest.raises(InvalidArguments, match="plain: Input should be greater"):
        tool(Careless).action({**ARGUMENTS, "plain": -1})


def test_an_id_or_name_with_a_personal_value_is_refused():
    action = answered(**ARGUMENTS)
    submission("pay/order-7", (action,), run="run-7", label="order 7")
    for step_id, how in [
        ("pay/ada@example.org", {}),
        ("pay/Ada@Example.Org/1", {}),
        ("pay/7", {"label": "for zoe@example.org"}),
        ("pay/7", {"run": "Zoë O'Hara"}),
    ]:
        with pytest.raises(InvalidArguments, match="name the intent in another way") as known:
            submission(step_id, (action,), **how)
        assert "example" not in str(known.value).lower()


def test_a_conflict_names_the_personal_field_and_not_its_values():
    def step(email: str, order: str) -> StepInput:
        action = answered(**{**ARGUMENTS, "email": email, "order": order})
        return submission("pay/7", (action,))

    recorded = StepInput.model_validate_json(step("ada@example.org", "7").model_dump_json())
    differences = recorded.differences(step("eve@example.org", "8"))
    assert differences == [
        f'answered.email: "{MASK}" there, "{MASK}" now',
        'answered.order: "7" there, "8" now',
    ]
    assert "personal" not in ActionInput(tool="x", personal=("a",)).model_dump()


async def test_a_secret_is_read_anew_and_what_is_recorded_stays_its_name(tmp_path: Path):
    action = hostile(**ARGUMENTS)
    assert action.arguments["token"] == "billing-token"
    for value in ("first-value\n", "second-value"):
        (tmp_path / "billing-token").write_text(value)
        ready = await readied(hostile, action.arguments, folder(tmp_path))
        assert ready.arguments.token == value.strip()
        assert as_recorded(ready.arguments) == action.arguments
        assert value.strip() not in repr(ready.arguments)
        assert ready.secrets.text(f"no {value.strip()}!") == f"no {MASK}!"


@pytest.mark.parametrize(
    "trouble", ["no folder", "no file", "a folder", "empty", "bytes", "raises"]
)
async def test_a_missing_secret_is_named_with_its_remedy(trouble, tmp_path: Path):
    file = tmp_path / "billing-token"
    match trouble:
        case "a folder":
            file.mkdir()
        case "empty":
            file.write_text("\n")
        case "bytes":
            file.write_bytes(b"\xff\xfe")
    source = None if trouble == "no folder" else folder(tmp_path)
    source = given({}) if trouble == "raises" else source
    with pytest.raises(
        NotSent, match=r"'token' names the secret 'billing-token'.*SURESTEP_SECRETS"
    ):
        await readied(hostile, hostile(**ARGUMENTS).arguments, source)


@pytest.mark.parametrize(
    "value", ["ada.lovelace@example.org", "Zoë O'Hara-Müller", "4111111111111111"]
)
def test_a_mask_hides_a_value_however_it_is_written(value):
    mask = Mask([value])
    basic = base64.b64encode(f"user:{value}".encode()).decode()
    for text in (
        value,
        value.upper(),
        json.dumps(value),
        repr(value),
        basic,
        f"{value[:-2]} (cut)",
    ):
        assert value.lower() not in mask.text(text).lower()
        assert MASK in mask.text(f"told {text} told")
    assert mask.text("the service answered 409") == "the service answered 409"
    assert Mask(["7", True, None]).text("7 true null") == "7 true null"


async def test_the_tool_of_the_documentation_records_the_name_and_marks_the_address():
    action = (await run(snippet("docs/tools.md", "class Invite(")))["action"]
    assert action.arguments["token"] == "billing-token"
    assert action.personal == ("email",)
