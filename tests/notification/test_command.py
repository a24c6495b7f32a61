"""A program is run as it is, without a shell, and never for longer than its time."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from surestep import Ambiguous, NotSent
from surestep.notification.command import Command
from surestep.notification.message import Message
from surestep.notification.targets import targets
from tests.notification.orders import order
from tests.notification.programs import program
from tests.waiting import eventually

MESSAGE = Message(order())


def command(path: Path, within: float = 20) -> Command:
    (target,) = targets([f"command:{path}"])
    return Command(target, timedelta(seconds=within))


async def test_it_reads_the_message_as_json(tmp_path):
    said = tmp_path / "said"
    await command(program(tmp_path / "page", f"cat > {said}")).tell(MESSAGE)
    assert json.loads(said.read_bytes()) == MESSAGE.document


async def test_no_shell_reads_its_path_and_it_gets_no_arguments(tmp_path):
    said = tmp_path / "said"
    path = program(tmp_path / "a; touch b $(touch c)", f'echo "$# arguments" > {said}')
    await command(path).tell(MESSAGE)
    assert said.read_text() == "0 arguments\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([path.name, "said"])


async def test_it_need_not_read(tmp_path):
    message = Message(order(verdicts=("confirm",) * 100_000))  # more than a pipe holds
    await command(program(tmp_path / "page", "exit 0")).tell(message)


async def test_an_exit_code_that_is_not_zero_means_not_told(tmp_path):
    with pytest.raises(Ambiguous, match="exit code 3"):
        await command(program(tmp_path / "page", "exit 3")).tell(MESSAGE)


async def test_what_has_gone_since_the_start_is_not_told(tmp_path):
    with pytest.raises(NotSent, match="FileNotFoundError"):
        await command(tmp_path / "gone").tell(MESSAGE)


async def test_one_that_hangs_is_killed_with_all_that_it_started(tmp_path):
    pids = tmp_path / "pids"
    path = program(tmp_path / "page", f"sleep 300 &\necho $! $$ > {pids}\nwait")
    with pytest.raises(Ambiguous, match="did not end within 3 s"):
        await command(path, within=3).tell(MESSAGE)
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2

    async def gone() -> bool:
        return not any(runs(pid) for pid in started)

    await eventually(gone)


def runs(pid: int) -> bool:
    """An orphan is dead even where nobody collects it."""
    try:
        os.kill(pid, 0)
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
