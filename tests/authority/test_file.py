"""The file of who may decide: what is wrong with it is said when the worker starts."""

import asyncio
import os
import re
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from surestep.authority import Authority, AuthorityError, Person, Scope, Source
from surestep.decision import Decision
from surestep.signature import fits, private_text, read_private, sign, statement

from .people import NOW, key_of, order, public, signed

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/security.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def loaded(folder: Path, text: str) -> Authority:
    path = folder / "people.toml"
    path.write_text(text)
    return Authority.load(path)


def test_the_example_in_the_documentation_is_one(tmp_path: Path) -> None:
    (example,) = blocks("toml")
    rules = loaded(tmp_path, example)
    assert list(rules.people) == ["ada", "grace", "night-shift"]
    assert rules.longest_age == timedelta(hours=1)
    assert rules.unknown_tools(set()) == {"transfer"}
    assert rules.unknown_tools({"transfer"}) == set()


def test_the_documented_signature_is_the_one_that_counts() -> None:
    (words,) = blocks("json")
    text = re.search(r"With the private key `(.+?)`", DOCUMENT)
    given = re.search(r"has the signature\n`(.+?)`", DOCUMENT)
    assert text
    assert given
    key = read_private(text[1])
    said = Decision.model_validate_json(words.replace('"statement":"surestep decision 1",', ""))
    told = said.model_copy(update={"signature": given[1]})
    assert statement(told).decode() == words.strip()
    assert fits(told, key.public_key())
    assert sign(said, action_id=said.action, input_hash=said.input_hash, key=key) == told


def test_every_field_of_the_file_is_documented() -> None:
    for model in (Authority, Person, Scope, Source):
        for field in model.model_fields:
            assert re.search(rf"`([\w.]+\.)?{field}[`.]", DOCUMENT), field


ADA = f'[people.ada]\nkeys = ["{public("ada")}"]\n'
BOB = f'[people.bob]\nkeys = ["{public("bob")}"]\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("people = [", "is not TOML"),
        ("", "people: Field required"),
        ("[people]", "people: Dictionary should have at least 1 item"),
        ("[people.ada]", "people.ada.keys: Field required"),
        ("[people.ada]\nkeys = []", "people.ada.keys: Tuple should have at least 1 item"),
        ("[people.ada]\nkeys = [7]", "people.ada.keys[0]: it is no text"),
        ('[people.ada]\nkeys = ["x"]', "people.ada.keys[0]: it is neither PEM nor base64"),
        (
            f'[people.ada]\nkeys = ["{"A" * 43}="]',
            "people.ada.keys[0]: it is a placeholder, not a key",
        ),
        (ADA + "mey = []", "people.ada.mey: there is no such field: did you mean may?"),
        (
            "two_persons = []\n" + ADA,
            "two_persons: there is no such field: did you mean two_",
        ),
        (
            ADA + 'may = [{ verdicts = ["resend"] }]',
            "people.ada.may[0].verdicts[0]: Input should be 'confirm', 'retry'",
        ),
        (
            ADA + 'may = [{ effects = ["cheap"] }]',
            "people.ada.may[0].effects[0]: Input should be 'read', 'reversible'",
        ),
        (ADA + "may = [{ tools = [] }]", "people.ada.may[0].tools: Tuple should have at least 1"),
        (ADA + '[people." "]\nkeys = []', "people. .[key]: String should match pattern"),
        (ADA + BOB.replace("bob", "Ada", 1), "differ in capitals only: change one"),
        (ADA + ADA.replace("ada", "bob", 1), "ada and bob have the same key: give each their own"),
        (ADA + '[[two_people]]\ntools = ["x"]', "`two_people` needs two people at least"),
        ("longest_age = 0\n" + ADA, "longest_age: it is not a number of seconds above zero"),
        ("longest_age = true\n" + ADA, "longest_age: it is not a number of seconds above zero"),
        ('longest_age = "1h"\n' + ADA, "longest_age: it is not a number of seconds above zero"),
        ("longest_age = inf\n" + ADA, "longest_age: it is not a number of seconds above zero"),
        (
            "requester_may_approve = 7\n" + ADA,
            "requester_may_approve: Input should be a valid",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_the_field_and_the_remedy(
    text: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(AuthorityError) as caught:
        loaded(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "people.toml"))
    assert complaint in message


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(AuthorityError) as caught:
        loaded(tmp_path, "longest_age = -1\nx = 1\n[people.ada]\nkeys = []")
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert lines[-1] == "docs/security.md has an example"


def test_a_list_is_not_called_too_short_for_the_wrong_item_in_it(tmp_path: Path) -> None:
    with pytest.raises(AuthorityError) as caught:
        loaded(tmp_path, '[people.ada]\nkeys = ["x"]')
    first, last = str(caught.value).splitlines()
    assert "people.ada.keys[0]: it is neither PEM nor base64" in first
    assert last == "docs/security.md has an example"


def test_a_private_key_in_the_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    secret = private_text(key_of("ada"))
    with pytest.raises(AuthorityError, match="it is a private key") as caught:
        loaded(tmp_path, f"[people.ada]\nkeys = ['''{secret}''']")
    assert secret.splitlines()[1] not in str(caught.value)


def test_keys_may_be_written_in_pem(tmp_path: Path) -> None:
    pem = key_of("ada").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    rules = loaded(tmp_path, f"[people.ada]\nkeys = ['''\n{pem.decode()}''']")
    assert rules.examine(order(signed("ada")), at=NOW, now=NOW).by == "ada"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(AuthorityError, match=r"nowhere\.toml: No such file or directory: let"):
        Authority.load(tmp_path / "nowhere.toml")
    with pytest.raises(AuthorityError, match=f"{tmp_path}: Is a directory: let"):
        Authority.load(tmp_path)
    (tmp_path / "people.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(AuthorityError, match="is not TOML"):
        Authority.load(tmp_path / "people.toml")


async def test_a_worker_does_not_start_with_a_wrong_file(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text(ADA + "mey = []")
    ours = ("TEMPORAL_", "SURESTEP_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "worker.py",
        cwd=ROOT,
        env=environment | {"SURESTEP_DECISION_KEYS": str(path), "SURESTEP_HOME": str(tmp_path)},
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await asyncio.wait_for(worker.communicate(), 60)
    assert worker.returncode == 1
    assert f"{path}: people.ada.mey: there is no such field" in said.decode()
