"""The doctor and encryption: the key ring against the namespace, and the codec server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
import uvicorn

from surestep import Surestep, Tools
from surestep.connection import connection
from surestep.doctor.codec import check_codec
from surestep.doctor.finding import Level
from surestep.doctor.keyring import check_key_ring
from surestep.doctor.patient import Patient
from surestep.embedded_process import free_port
from surestep.encryption.codec_server import CodecServer
from surestep.encryption.key_ring import KeyRing
from surestep.encryption.readers import Readers
from surestep.settings import Settings
from tests.steps.namespaces import new_namespace
from tests.waiting import eventually
from worker import build_worker

from .finding import only, seen, wrong
from .tools import charge

pytestmark = pytest.mark.asyncio(loop_scope="session")

A = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
B = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


def ring(folder, name, **keys):
    file = folder / f"{name}.toml"
    lines = [f'{key} = "{value}"' for key, value in keys.items()]
    file.write_text("\n".join([f'current = "{next(iter(keys))}"', "[keys]", *lines]))
    file.chmod(0o600)
    return file


async def test_the_doctor_says_whether_the_ring_opens_what_the_namespace_holds(
    client, server, tmp_path, examined, monkeypatch
):
    await new_namespace(client, "sealed")
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "sealed")
    ours, other = ring(tmp_path, "ours", a=A), ring(tmp_path, "other", b=B)

    async def told(words: str, **settings) -> None:
        async with connection(Settings()) as plain:

            async def is_told() -> bool:
                found = await check_key_ring(Patient(Settings(**settings), client=plain.client))
                return words in only(found).what

            await eventually(is_told)

    await told("off, and nothing here is encrypted")
    queue = "sealed"
    async with connection(Settings(encryption_keys=ours)) as sealed:
        no_grace = timedelta(0)
        async with build_worker(sealed.client, Tools(charge), task_queue=queue, grace=no_grace):
            surestep = Surestep(sealed.client, task_queue=queue)
            assert (await surestep.run("sealed/1", charge(order="1"))).state == "confirmed"
            await told("keys a; they open", encryption_keys=ours)
            await told("encrypted under a, and no ring is set")
            await told("which SURESTEP_ENCRYPTION_KEYS does not have", encryption_keys=other)
            async with connection(Settings()) as plain:
                await Surestep(plain.client, task_queue="nobody").start("clear", charge(order="2"))
                await told("the latest step, clear, was submitted", encryption_keys=ours)
                await plain.client.get_workflow_handle("clear").terminate()
            await seen(sealed.client, queue)
            # With a ring that opens nothing, the doctor still says everything else.
            found = await examined(
                SURESTEP_TOOLS="tests.doctor.tools:sound",
                SURESTEP_TASK_QUEUE=queue,
                SURESTEP_ENCRYPTION_KEYS=str(tmp_path / "none.toml"),
            )
    checks = {one.check for one in found.findings}
    assert ("encryption", "problem") in wrong(found.findings)
    assert found.reached
    assert {"late watch", "workers", "questions"} <= checks


@pytest.mark.parametrize("content", ["current = 1", "not toml"])
async def test_the_doctor_says_that_a_key_ring_cannot_be_read(tmp_path, content):
    file = tmp_path / "ring.toml"
    file.write_text(content)
    found = only(await check_key_ring(Patient(Settings(encryption_keys=file))))
    assert (found.level, str(file) in found.what) == (Level.PROBLEM, True)


@asynccontextmanager
async def codec(file, readers=None) -> AsyncIterator[str]:
    port = free_port()
    app = CodecServer(KeyRing.load(file), readers, ()).app()
    serving = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", lifespan="off"))
    running = asyncio.create_task(serving.serve())

    async def is_up() -> bool:
        return serving.started

    await eventually(is_up)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        serving.should_exit = True
        await running


async def asked(**settings):
    return only(await check_codec(Patient(Settings(**settings))))


async def test_the_doctor_asks_the_codec_server_to_open_what_the_ring_has_sealed(tmp_path):
    ours, other = ring(tmp_path, "ours", a=A), ring(tmp_path, "other", b=B)
    people = tmp_path / "readers.toml"
    people.write_text(f'[readers.ada]\ntokens = ["{"0" * 64}"]')
    async with codec(ours) as url:
        right = await asked(codec=url, encryption_keys=ours)
        without = await asked(codec=url)
        wrong_keys = await asked(codec=url, encryption_keys=other)
    async with codec(ours, Readers.load(people)) as url:
        login = await asked(codec=url, encryption_keys=ours)
    gone = await asked(codec=url, encryption_keys=ours)
    assert (right.level, "opens what" in right.what) == (Level.OK, True)
    assert without.level is Level.OK
    assert (wrong_keys.level, "does not open" in wrong_keys.what) == (Level.PROBLEM, True)
    assert (login.level, "asks who is there" in login.what) == (Level.OK, True)
    assert (gone.level, "ConnectError" in gone.what) == (Level.PROBLEM, True)


async def test_the_doctor_says_that_no_codec_server_is_named_or_needed(tmp_path):
    assert (await asked()).level is Level.OK
    assert (await asked(encryption_keys=ring(tmp_path, "ours", a=A))).level is Level.WARNING


async def test_the_doctor_says_that_the_codec_servers_readers_cannot_be_read(tmp_path):
    found = await check_codec(Patient(Settings(codec_readers=tmp_path / "none.toml")))
    assert wrong(found) == [("codec", "problem")]
