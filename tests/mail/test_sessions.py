"""A session that breaks, or is stopped, before the final dot: nothing was handed over."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from surestep import NotSent, Refused
from surestep.mail import MailServer
from surestep.mail.server import Tls
from tests.http.servers import HOST, serving
from tests.mail.letters import Letter, call

JUNE = "june@example.com"
LONG = 100_000  # pages; more than the buffers of two sockets hold
HELLO = ("220 hello", "250 box")


class Script:
    """A server that says one line after the other, each after a command; the first unasked.

    None cuts the connection. After the last line it hears one command more, and is silent.
    """

    def __init__(self, *lines):
        self.lines, self.heard, self.silent = lines, [], asyncio.Event()

    async def __call__(self, peer):
        for number, line in enumerate(self.lines):
            if number:
                self.heard.append((await peer._reader.readline()).decode().strip())
            if line is None:
                return
            await peer.say(f"{line}\r\n".encode())
        self.heard.append((await peer._reader.readline()).decode().strip())
        self.silent.set()
        await asyncio.Event().wait()

    @asynccontextmanager
    async def sends(self, tool):
        async with serving(self) as raw:
            tool._server = lambda: MailServer(HOST, raw.port, Tls.OFF)
            yield lambda **letter: tool.execute_with(Letter(to=JUNE, **letter), call(seconds=10))


@pytest.mark.parametrize(
    "lines",
    [
        ["554 go away"],
        ["421 too busy"],
        ["what?"],
        [None],
        ["220 hello", None],
        ["220 hello", "502 what is EHLO?", None],
        ["220 hello", "502 what is EHLO?", "502 what is HELO?"],
        ["220 hello", "421 shutting down"],
    ],
    ids=lambda lines: "; ".join(str(line) for line in lines),
)
async def test_a_session_that_does_not_begin_sends_nothing(lines, tool):
    script = Script(*lines)
    async with script.sends(tool) as sends:
        with pytest.raises(NotSent, match="not connected"):
            await sends()
    assert not any(line.startswith("MAIL") for line in script.heard)


async def test_a_server_that_is_silent_from_the_start_is_left_at_the_deadline(tool):
    async with serving(Script()) as raw:
        tool._server = lambda: MailServer(HOST, raw.port, Tls.OFF)
        with pytest.raises(NotSent, match="TimeoutError"):
            await tool.execute_with(Letter(to=JUNE), call(seconds=0.5))


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["220 hello"], NotSent),
        (HELLO, Refused),
        ([*HELLO, "250 sender"], Refused),
        ([*HELLO, "250 sender", "250 recipient"], Refused),
        ([*HELLO, "250 sender", "250 recipient", "354 go on"], Refused),
    ],
    ids=["EHLO", "MAIL", "RCPT", "DATA", "content"],
)
async def test_who_is_stopped_before_the_final_dot_knows_that_nothing_was_sent(lines, error, tool):
    script = Script(*lines)
    async with script.sends(tool) as sends:
        task = asyncio.create_task(sends(pages=LONG))
        await script.silent.wait()
        task.cancel()
        with pytest.raises(error) as caught:
            await task
    if error is Refused:
        assert caught.value.again
        assert str(caught.value) == "stopped before the final dot"


@pytest.mark.parametrize("phase", ["mail", "rcpt", "data", "dot"])
async def test_a_server_that_shuts_down_in_any_phase_has_taken_nothing(phase, box, tool):
    box.fates["us@example.org" if phase == "mail" else JUNE] = [f"{phase} 421"]
    with pytest.raises(Refused, match="421") as caught:
        await tool.execute_with(Letter(to=JUNE), call())
    assert caught.value.again
    assert box.mails == []


async def test_who_is_stopped_after_the_final_dot_knows_nothing(box, tool):
    box.fates[JUNE] = ["silent after dot, taken"]
    task = asyncio.create_task(tool.execute_with(Letter(to=JUNE), call()))
    async with asyncio.timeout(20):
        while not box.mails:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_worker_that_stops_within_the_content_leaves_no_question(
    working, box, tool, step_id
):
    box.fates[JUNE] = ["stall in content"]
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, tool(to=JUNE, pages=LONG))
        await box.stalled.wait()
    assert box.mails == []
    async with working(tool) as surestep:
        outcome = await handle.outcome()
    assert outcome.state == "confirmed"
    assert (len(box.to(JUNE)), box.connections) == (1, 2)
    assert not any("asked" in line.text for line in outcome.evidence)
