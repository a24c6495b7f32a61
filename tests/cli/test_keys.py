import stat
import tomllib
from pathlib import Path

import pytest

from surestep import Decision, SurestepError, Tools
from surestep.authority import Authority
from surestep.cli.keys import signed
from surestep.settings import Settings
from surestep.signature import fits, private_text
from tests.authority.people import authority, key_of
from tests.decision.story import APPROVED, Story
from tests.saying import seen
from worker import build_worker

from . import tools
from .conftest import Terminal, forgotten, parked

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_new_key_is_for_its_owner_alone_and_is_never_overwritten(tmp_path):
    terminal = Terminal(tmp_path, SURESTEP_HOME=str(tmp_path / "home"))
    made = await terminal("keys", "new", "Ada Lovelace")
    path = tmp_path / "home" / "Ada-Lovelace.pem"
    assert made.code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"SURESTEP_SIGNING_KEY={path}" in made.err
    secret = path.read_text()
    assert secret.splitlines()[1] not in made.out + made.err
    assert list(Authority.model_validate(tomllib.loads(made.out)).people) == ["Ada Lovelace"]

    again = await terminal("keys", "new", "Ada Lovelace")
    assert again.code == 2
    assert "is there already: name another place with --file" in again.said
    assert path.read_text() == secret
    other = await terminal("keys", "new", "Ada Lovelace", "--file", str(tmp_path / "other.pem"))
    assert other.code == 0
    assert other.out != made.out


def key_file(folder: Path, name: str) -> str:
    path = folder / f"{name}.pem"
    path.write_text(private_text(key_of(name)))
    return str(path)


async def test_a_decision_is_signed_with_the_key_that_is_named(
    elsewhere, server, surestep, tmp_path
):
    queue = "decide-signed"
    terminal = elsewhere.where(SURESTEP_TASK_QUEUE=queue)
    step = type(surestep)(server.client, task_queue=queue)
    async with build_worker(
        server.client, Tools(tools.letter), task_queue=queue, authority=authority("grace")
    ):
        await step.start("decide/signed", tools.letter(to="ada", fate="lost"))
        await parked(step, "decide/signed")
        version = str((await seen(step, "decide/signed")).version)
        say = ("decide", "decide/signed", "confirm", "--version", version, "--note", "it is there")
        unsigned = await terminal(*say)
        assert unsigned.code == 7
        assert "not taken: it is not signed" in unsigned.shown
        foreign = await terminal(*say, "--key", key_file(tmp_path, "eve"))
        assert foreign.code == 7
        assert "nobody here has the key" in foreign.shown
        own = terminal.where(SURESTEP_SIGNING_KEY=key_file(tmp_path, "grace"))
        taken = await own(*say)
        assert taken.code == 0, taken.shown
        outcome = await step.recall("decide/signed")
    assert any("grace decided to confirm" in line.text for line in outcome.evidence)


async def test_without_a_worker_there_is_nothing_to_sign(elsewhere, server, surestep, tmp_path):
    queue = "decide-signed-later"
    terminal = elsewhere.where(SURESTEP_TASK_QUEUE=queue)
    step = type(surestep)(server.client, task_queue=queue)
    await step.start("decide/unseen", tools.letter(to="ada", fate="lost"))
    refused = await terminal(
        *("decide", "decide/unseen", "confirm", "--version", "4", "--note", "seen"),
        *("--key", key_file(tmp_path, "grace")),
    )
    assert refused.code == 2
    assert "start one with `python worker.py`, then sign" in refused.said
    history = await server.client.get_workflow_handle("decide/unseen").fetch_history()
    assert not [
        event
        for event in history.events
        if event.HasField("workflow_execution_signaled_event_attributes")
    ]
    await forgotten(surestep, "decide/unseen")


SEEN = Story().record


async def test_signing_says_which_action_and_version_and_when(tmp_path):
    settings = Settings(signing_key=Path(key_file(tmp_path, "grace")))
    said = Decision(verdict="abandon", action="refund", note="not needed any more")
    told = signed(said, SEEN, settings)
    assert fits(told, key_of("grace").public_key())
    assert (told.action, told.input_hash) == (SEEN.action_id, SEEN.input_hash)
    assert (told.version, told.note) == (SEEN.version, said.note)
    assert told.id
    assert told.made_at
    older = signed(said.model_copy(update={"version": 0, "id": "d-1"}), SEEN, settings)
    assert (older.version, older.id) == (0, "d-1")
    other = signed(said.model_copy(update={"input_hash": "v1:seen"}), SEEN, settings)
    assert other.input_hash == "v1:seen"


async def test_an_approval_is_signed_only_by_who_says_what_they_saw(tmp_path):
    settings = Settings(signing_key=Path(key_file(tmp_path, "grace")))
    unseen = Decision(verdict="approve")
    asked = Story(APPROVED).asked().record
    with pytest.raises(SurestepError, match="nobody signs approve unseen"):
        signed(unseen, asked, settings)
    seen = unseen.model_copy(update={"version": asked.version})
    assert signed(seen, asked, settings).signature


async def test_without_a_key_a_decision_stays_as_it_is():
    said = Decision(verdict="abandon")
    assert signed(said, SEEN, Settings()) == said


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "No such file or directory: name your private key's file"),
        ("no key", "neither PEM nor base64: `starter.py keys new` makes one"),
    ],
)
async def test_a_key_that_cannot_be_used_is_named(text, complaint, tmp_path):
    path = tmp_path / "grace.pem"
    if text:
        path.write_text(text)
    with pytest.raises(SurestepError, match=complaint) as caught:
        signed(Decision(verdict="abandon"), SEEN, Settings(), path)
    assert str(path) in str(caught.value)
