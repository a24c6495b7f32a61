"""The doctor and people: who may decide, who is told, and whose files lie open."""

import asyncio
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from surestep import ApprovalRule
from surestep.doctor.decisions import check_decisions
from surestep.doctor.files import check_files
from surestep.doctor.finding import Level
from surestep.doctor.patient import Patient
from surestep.doctor.telling import check_telling
from surestep.doctor.traces import check_traces
from surestep.embedded_process import free_port
from surestep.settings import Settings
from surestep.signature import new_key, private_text, public_text
from tests.waiting import eventually

from .finding import explained, only, wrong
from .tools import charge, keyed, tool

approved = tool("transfer", key=keyed(), approval=ApprovalRule())


def people(folder: Path, more: str = "", **keys: Ed25519PrivateKey) -> Path:
    file = folder / "people.toml"
    known = [
        f'[people.{name}]\nkeys = ["{public_text(key.public_key())}"]' for name, key in keys.items()
    ]
    file.write_text("\n".join([*known, more]))
    return file


def signing(folder: Path, key: Ed25519PrivateKey) -> Path:
    file = folder / "key.pem"
    file.write_text(private_text(key))
    file.chmod(0o600)
    return file


async def decisions(tools=(charge,), **settings):
    return await check_decisions(Patient(Settings(**settings), tools))


async def test_the_doctor_finds_nothing_wrong_with_people_who_can_decide(tmp_path):
    ada, grace = new_key(), new_key()
    file = people(tmp_path, '[[two_people]]\ntools = ["charge"]', ada=ada, grace=grace)
    key = signing(tmp_path, ada)
    found = only(await decisions(decision_keys=file, signing_key=key))
    assert (found.level, "ada, grace" in found.what) == (Level.OK, True)
    assert only(await decisions()).level is Level.OK


@pytest.mark.parametrize("content", ["people = 3", "not toml", None])
async def test_the_doctor_says_that_a_file_of_people_cannot_be_used(tmp_path, content):
    file = tmp_path / "people.toml"
    if content:
        file.write_text(content)
    found = only(await decisions(decision_keys=file))
    assert (found.level, str(file) in found.what) == (Level.PROBLEM, True)


async def test_the_doctor_says_that_a_rule_names_a_tool_that_nobody_has(tmp_path):
    file = people(tmp_path, '[[two_people]]\ntools = ["chrage"]', ada=new_key(), grace=new_key())
    found = only(await decisions(decision_keys=file))
    assert (found.level, "chrage" in found.what) == (Level.WARNING, True)


async def test_the_doctor_says_that_two_must_agree_and_only_one_may(tmp_path):
    file = people(
        tmp_path,
        'may = [{ verdicts = ["confirm"] }]\n[[two_people]]\ntools = ["charge"]',
        ada=new_key(),
        grace=new_key(),
    )
    found = only(await decisions(decision_keys=file))
    assert found.level is Level.PROBLEM
    assert "two people must retry or leave_unknown charge alike, and only ada may" in found.what


async def test_the_doctor_says_that_nobody_may_answer(tmp_path):
    file = people(tmp_path, 'may = [{ verdicts = ["refuse"] }]', ada=new_key())
    found = await decisions((approved,), decision_keys=file)
    assert [explained(one).level for one in found] == [Level.PROBLEM] * 2
    assert "nobody may approve transfer" in [one.what for one in found]


async def test_the_doctor_says_that_a_signing_key_is_unreadable_or_nobodys(tmp_path):
    file = people(tmp_path, ada=new_key())
    stranger = signing(tmp_path, new_key())
    unknown = only(await decisions(decision_keys=file, signing_key=stranger))
    assert (unknown.level, "belongs to nobody" in unknown.what) == (Level.PROBLEM, True)
    unreadable = only(await decisions(signing_key=tmp_path / "none.pem"))
    assert (unreadable.level, "none.pem" in unreadable.remedy) == (Level.PROBLEM, True)


async def told(**variables: str):
    settings = Settings.from_environment(
        {f"SURESTEP_{name.upper()}": value for name, value in variables.items()}
    )
    return await check_telling(Patient(settings, (charge,)))


async def test_the_doctor_reaches_a_target_without_sending_anything(tmp_path):
    heard = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read())
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        found = only(
            await told(
                notify=f"http://127.0.0.1:{port}/hook,mailto:ops@example.com,command:/bin/true",
                smtp=f"smtp://127.0.0.1:{port}?tls=off",
            )
        )

        async def both_have_heard() -> bool:
            return len(heard) == 2

        await eventually(both_have_heard)
    assert found.level is Level.OK
    assert heard == [b"", b""]


async def test_the_doctor_does_not_try_to_pass_by_a_proxy(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    assert only(await told(notify="https://hooks.invalid/x")).level is Level.OK


async def test_the_doctor_says_whether_traces_can_be_made_and_are_taken():
    async def traces(url=None, **needs):
        return only(await check_traces(Patient(Settings(traces=url)), **needs)).level

    async def hear(reader, writer):
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        assert await traces() is Level.OK
        assert await traces(url) is Level.OK
        assert await traces(url, needs="no_such.package") is Level.PROBLEM
    assert await traces(f"http://127.0.0.1:{free_port()}") is Level.WARNING


async def test_the_doctor_says_which_targets_cannot_be_told(tmp_path):
    port = free_port()
    found = await told(
        notify=f"http://127.0.0.1:{port}/hook,mailto:ops@example.com,command:/no/such",
        notify_overdue=f"http://127.0.0.2.invalid:{port}/x",
        notify_secret=str(tmp_path / "none"),
    )
    assert [explained(one).level for one in found] == [
        Level.PROBLEM, Level.PROBLEM, Level.PROBLEM, Level.PROBLEM, Level.WARNING, Level.PROBLEM,
    ]  # fmt: skip
    for words, one in zip(
        ("SURESTEP_NOTIFY_SECRET", "cannot be reached", "SURESTEP_SMTP", "/no/such", "plain HTTP",
         "cannot be reached"),
        found,
        strict=True,
    ):  # fmt: skip
        assert words in one.what


async def test_the_doctor_says_that_a_key_lies_open_or_a_file_of_rights_can_be_changed(tmp_path):
    key = signing(tmp_path, new_key())
    file = people(tmp_path, ada=new_key())
    settings = Settings(signing_key=key, decision_keys=file)
    assert only(await check_files(Patient(settings))).level is Level.OK
    key.chmod(0o644)
    file.chmod(0o666)
    found = await check_files(Patient(settings))
    assert wrong(found) == [("files", "warning"), ("files", "problem")]
    assert "SURESTEP_SIGNING_KEY" in explained(found[0]).what
    assert "SURESTEP_DECISION_KEYS" in explained(found[1]).what


async def test_the_doctor_looks_into_the_folder_of_secrets(tmp_path):
    missing = only(await check_files(Patient(Settings(secrets=tmp_path / "none"))))
    assert missing.level is Level.PROBLEM
    (tmp_path / "token").write_text("s3cret")
    (tmp_path / "token").chmod(0o604)
    exposed = only(await check_files(Patient(Settings(secrets=tmp_path))))
    assert (exposed.level, "token" in exposed.what) == (Level.WARNING, True)
    assert "s3cret" not in str(exposed)
    (tmp_path / "token").chmod(0o400)
    assert only(await check_files(Patient(Settings(secrets=tmp_path)))).level is Level.OK
