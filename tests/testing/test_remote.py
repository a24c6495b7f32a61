"""Outages, restarts, and the same calls on a world in another process."""

import asyncio
import socket
import sys

import httpx
import pytest

from surestep.testing import RemoteWorld, World
from surestep.testing.faults import BadFault


@pytest.fixture(params=["here", "elsewhere"])
async def any_world(request, tmp_path):
    start = World.start if request.param == "here" else RemoteWorld.spawn
    async with start(folder=tmp_path) as world:
        yield world


async def pay(world, key="pay") -> httpx.Response:
    async with httpx.AsyncClient(base_url=world.url, verify=False, trust_env=False) as http:
        headers = {"Idempotency-Key": key}
        return await http.post("/keyed/effects", json={"cents": 2500}, headers=headers)


async def test_every_call_works_here_and_elsewhere(any_world, eventually):
    await any_world.fault("pay", write=["reply_lost", "expect_kill"], lookup=["miss"])
    with pytest.raises(httpx.RemoteProtocolError):
        await pay(any_world)
    [effect] = await any_world.effects("pay")
    assert (effect.service, effect.key, effect.body) == ("keyed", "pay", {"cents": 2500})
    sending = asyncio.create_task(pay(any_world))

    async def received():
        return [request.fault for request in await any_world.requests("pay")]

    await eventually(received, ["reply_lost", "expect_kill"])
    assert not sending.done()

    async def answered():
        await any_world.release("pay")
        return sending.done()

    await eventually(answered, True)
    assert (await sending).headers["Idempotent-Replayed"] == "true"
    await any_world.forget("pay")
    await pay(any_world)
    assert await any_world.count("pay") == await any_world.count("p*") == 2
    assert await any_world.count() == 2
    assert await any_world.count("other") == 0
    with pytest.raises(BadFault):
        await any_world.fault("pay", write=["reply_list"])


async def test_an_outage_refuses_connections_and_ends_on_the_same_port(any_world):
    url = any_world.url
    async with any_world.outage():
        with pytest.raises(httpx.ConnectError):
            await pay(any_world)
        assert await any_world.requests() == []
        await any_world.stop_listening()
    await any_world.listen_again()
    assert any_world.url == url
    assert (await pay(any_world)).status_code == 201
    assert await any_world.count("pay") == 1


async def test_an_outage_drops_idle_connections_and_lets_work_finish(world, caller, eventually):
    assert (await caller.post("lookup", "idle")).status_code == 201
    sending = asyncio.create_task(caller.post("lookup", "pay", fault="slow:0.2"))
    await eventually(lambda: world.count("pay"), 1)
    async with world.outage():
        answer = await sending
        assert (answer.status_code, answer.headers["Connection"]) == (201, "close")
        with pytest.raises(httpx.ConnectError):
            await caller.post("lookup", "other")
    assert await world.count("other") == 0


async def test_nobody_else_gets_the_port_during_an_outage(world):
    port = int(world.url.rpartition(":")[2])
    async with world.outage():
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))


async def test_outages_in_a_row_keep_the_port(world, caller):
    for number in range(5):
        async with world.outage():
            with pytest.raises(httpx.ConnectError):
                await caller.post("lookup", f"pay/{number}")
        assert (await caller.post("lookup", f"pay/{number}")).status_code == 201
    assert await world.count() == 5


async def test_a_new_world_on_an_old_folder_knows_its_effects_and_keys(tmp_path):
    async with World.start(folder=tmp_path / "made" / "here") as world:
        first = await pay(world)
    async with World.start(folder=tmp_path / "made" / "here") as world:
        again = await pay(world)
        assert again.json() == first.json()
        assert await world.count("pay") == 1
        assert len(await world.requests("pay")) == 2


async def test_a_world_that_stops_cuts_what_still_hangs_and_drops_what_is_late(
    tmp_path, eventually
):
    async with World.start(folder=tmp_path) as world:
        await world.fault("*", write=["hang", "late:60"])
        hanging = asyncio.create_task(pay(world, "hang"))
        await eventually(lambda: world.count("hang"), 1)
        with pytest.raises(httpx.RemoteProtocolError):
            await pay(world, "late")
    with pytest.raises(httpx.TransportError):
        await hanging
    async with World.start(folder=tmp_path) as world:
        assert await world.count("late") == 0


async def test_a_world_stops_even_if_somebody_does_not_read(tmp_path, eventually):
    async with World.start(folder=tmp_path) as world:
        await world.fault("pay", write=["huge:20000000"])
        _, writer = await asyncio.open_connection("127.0.0.1", int(world.url.rpartition(":")[2]))
        writer.transport.pause_reading()
        writer.write(
            b"POST /lookup/effects HTTP/1.1\r\nHost: world\r\nIdempotency-Key: pay\r\n"
            b"Content-Length: 2\r\n\r\n{}"
        )
        await eventually(lambda: world.count("pay"), 1)
    writer.transport.abort()


async def test_a_taken_port_is_an_os_error(world, tmp_path):
    port = int(world.url.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        async with World.start(folder=tmp_path / "second", port=port):
            pass


async def test_a_killed_world_loses_nothing_that_it_answered(tmp_path):
    command = ["-m", "surestep.testing", "--folder", str(tmp_path)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE
    )
    line = await process.stdout.readline()
    world = RemoteWorld(httpx.Response(200, content=line).json()["url"])
    first = await pay(world)
    process.kill()
    await process.communicate()
    async with World.start(folder=tmp_path) as world:
        assert (await pay(world)).json() == first.json()
        assert await world.count("pay") == 1


async def test_a_remote_world_is_found_by_its_url_alone(world, caller):
    remote = RemoteWorld(world.url + "/")
    assert await remote.count() == 0
    async with remote.outage():
        with pytest.raises(httpx.ConnectError):
            await caller.post("lookup", "pay")
        assert await remote.count() == 0
    assert (await caller.post("lookup", "pay")).status_code == 201


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/_world/faults", {"key": "pay", "write": ["replylost"]}, 400),
        ("PUT", "/_world/faults", {"write": ["hang"]}, 400),
        ("PUT", "/_world/faults", {"key": "pay", "write": "hang"}, 400),
        ("PUT", "/_world/faults", [1], 400),
        ("POST", "/_world/forget", {}, 400),
        ("GET", "/_world/nothing", None, 404),
    ],
)
async def test_a_control_call_that_makes_no_sense_is_refused(caller, method, path, body, status):
    assert (await caller.http.request(method, path, json=body)).status_code == status


async def test_the_process_prints_its_faults_and_wants_a_folder():
    for arguments, code, expected in (
        (["--faults"], 0, b"| `late:S` |"),
        ([], 2, b"--folder is needed"),
    ):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "surestep.testing", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert process.returncode == code
        assert expected in output
