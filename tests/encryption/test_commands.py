"""The commands: keys are made and made current, and Temporal's own tools read by a codec server."""

import asyncio
import json
import stat
from base64 import b64decode

import httpx
import pytest

from surestep import State, Surestep, Tools
from surestep.embedded_process import find_binary, free_port
from surestep.encryption.key_file import read_keys
from tests.cli.conftest import Terminal
from tests.encryption.raw import history
from tests.encryption.rings import FIRST, connect
from tests.steps import facts, tools
from tests.waiting import eventually
from worker import build_worker

PLANTED = "planted0"


@pytest.fixture
def terminal(tmp_path) -> Terminal:
    return Terminal(tmp_path)


async def test_rotation_of_a_ring_is_three_commands(terminal, tmp_path):
    ring = tmp_path / "keys" / "ring.toml"
    made = await terminal("encryption-keys", "new", str(ring))
    assert made.code == 0
    first = made.out.strip()
    assert f"export SURESTEP_ENCRYPTION_KEYS={ring}" in made.err
    assert stat.S_IMODE(ring.stat().st_mode) == 0o600
    there = terminal.where(SURESTEP_ENCRYPTION_KEYS=str(ring))
    second = (await there("encryption-keys", "add")).out.strip()
    assert (await there("encryption-keys", "list")).out == f"{first}  current\n{second}\n"
    assert (await there("encryption-keys", "use", second)).code == 0
    current, keys = read_keys(ring)
    assert current == second
    assert list(keys) == [first, second]
    again = await terminal("encryption-keys", "new", str(ring))
    assert (again.code, "is there already" in again.said) == (2, True)
    wrong = await there("encryption-keys", "use", "third")
    assert (wrong.code, "has no key 'third'" in wrong.said) == (2, True)


async def test_the_codec_server_does_not_start_where_everybody_could_decode(terminal, ring_file):
    assert "set SURESTEP_ENCRYPTION_KEYS" in (await terminal("codec")).err
    ring = ring_file("ring").hold(FIRST)
    open_to_all = terminal.where(SURESTEP_CODEC_LISTEN="0.0.0.0:8888", **ring.setting)
    refused = await open_to_all("codec")
    assert refused.code == 2
    assert "everybody who can reach it could decode: set SURESTEP_CODEC_READERS" in refused.said


async def test_temporals_command_line_reads_and_signals_through_the_codec_server(
    temporal_address, terminal, world, ring_file, tmp_path, step_id
):
    ring, port = ring_file("ring").hold(FIRST), free_port()
    reader = await terminal("codec", "--new-reader")
    (tmp_path / "readers.toml").write_text(reader.out.replace("NAME", "ada"))
    auth = reader.err.split('"')[1]
    serving = await terminal.where(
        SURESTEP_CODEC_LISTEN=f"127.0.0.1:{port}",
        SURESTEP_CODEC_READERS=str(tmp_path / "readers.toml"),
        **ring.setting,
    ).begin("codec")
    url = f"http://127.0.0.1:{port}"

    async def temporal(*words: str, **variables: str) -> str:
        process = await asyncio.create_subprocess_exec(
            find_binary(), *words, "--address", temporal_address, "-w", step_id,
            env=terminal.environment | variables,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        out, _ = await process.communicate()
        return out.decode()

    client = await connect(temporal_address, ring)
    async with build_worker(client, Tools(tools.blind), task_queue=step_id):
        surestep = Surestep(client, task_queue=step_id)
        await world.fault(f"{step_id}/*", write=["reply_lost"])
        await surestep.start(step_id, tools.blind(order=PLANTED, cents=1))
        record = await facts.parked(surestep, step_id)
        await eventually(lambda: answers(url))
        show = ("workflow", "show", "-o", "json")
        assert PLANTED not in arguments(await temporal(*show))
        codec = ("--codec-endpoint", url, "--codec-auth", auth)
        assert PLANTED in arguments(await temporal(*show, *codec))
        receipt = "receipt-1"
        said = {"verdict": "confirm", "by": "Ada", "receipt_id": receipt, "version": record.version}
        signal = ("workflow", "signal", "--name", "decide", "--input", json.dumps(said))
        variables = {"TEMPORAL_CODEC_ENDPOINT": url, "TEMPORAL_CODEC_AUTH": auth}
        told = await temporal(*signal, **variables)
        assert "Signal workflow succeeded" in told, told
        assert (await surestep.handle(step_id).outcome()).state is State.CONFIRMED
    assert receipt.encode() not in (await history(client, step_id)).SerializeToString()
    serving.process.terminate()
    ended = await serving.end()
    assert ended.code == 0, ended.err
    assert '"who": "ada", "namespace": "default"' in ended.err
    assert PLANTED not in ended.out + ended.err


def arguments(shown: str) -> str:
    """The step's input, in the JSON that `temporal workflow show` prints."""
    started = json.loads(shown)["events"][0]["workflowExecutionStartedEventAttributes"]
    return str(b64decode(started["input"]["payloads"][0]["data"]))


async def answers(url: str) -> bool:
    async with httpx.AsyncClient() as http:
        try:
            return (await http.get(f"{url}/health")).status_code == 200
        except httpx.TransportError:
            return False
