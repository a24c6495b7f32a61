"""The page docs/deciding.md, followed by somebody who knows nothing else."""

import asyncio
import re
import shlex

import pytest

from tests.prepared import ROOT

from . import tools
from .conftest import late_effect, parked
from .conversation import conversation

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = (ROOT / "docs" / "deciding.md").read_text()
COMMANDS = re.findall(r"^python starter\.py (.+)$", PAGE, re.MULTILINE)


async def test_every_command_of_the_page_on_deciding_does_what_the_page_says(
    terminal, server, surestep
):
    left = {command: shlex.split(command) for command in COMMANDS}

    def the(*start: str) -> list[str]:
        """The command of the page that begins so, the shortest; each is taken once."""
        begin_so = [one for one, words in left.items() if words[: len(start)] == list(start)]
        return left.pop(min(begin_so, key=len))

    lost = tools.letter(to="ada", fate="lost")
    for name in ("letter/1042", "letter/1043", "letter/1044"):
        await surestep.start(name, lost)
    await surestep.start("payment/7781", tools.payment(to="ada"))
    await surestep.run("booking/88", tools.booking(to="ada"))
    watch = await late_effect(server, surestep, "letter/1041")
    for name in ("letter/1042", "letter/1043", "letter/1044", "payment/7781"):
        await parked(surestep, name)

    first, as_json = await asyncio.gather(
        terminal(*the("unresolved")), terminal(*the("unresolved", "--tool"))
    )
    assert "letter/1042 about ada why the request may have left" in first.shown
    assert "letter/1042" in {one["step_id"] for one in as_json.json}

    async with conversation(terminal, *the("decide", "letter/1042")) as talk:
        shown = await talk.reads("What do you say")
        assert re.findall(r"^ +\d  (\w+)", shown, re.MULTILINE)[0] == "confirm"
        talk.types("1")
        await talk.answers("own id", "L-77")
        await talk.answers("How do you know", "in the outbox log")
        await talk.answers("[y/N]", "y")
        assert await talk.ends() == 0
    settled, confirmed, looking, approved, undone = await asyncio.gather(
        terminal(*the("show", "letter/1042")),
        terminal(*the("decide", "letter/1043")),
        terminal(*the("decide", "letter/1044")),
        terminal(*the("decide", "payment/7781")),
        terminal(*the("undo", "booking/88")),
    )
    assert "it happened as L-77, by the word of ada" in settled.shown
    assert (confirmed.code, looking.code, approved.code, undone.code) == (0, 0, 0, 0)
    assert tools.posted.count("payment/7781/payment") == 1
    assert tools.posted.count("booking/88/booking/undo") == 1

    still, odd = await asyncio.gather(
        terminal(*the("list", "--state", "unknown")), terminal(*the("anomalies"))
    )
    assert "letter/1044" in still.out
    *command, _ = the("anomalies", "--acknowledge")
    assert f"python starter.py {' '.join(command)} {watch}" in odd.shown
    assert (await terminal(*command, watch)).code == 0
    assert left == {}, "a command of the page that nobody has tried"
