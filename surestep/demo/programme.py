"""The whole demo: set the stage, play the acts, count the ledger, show the table."""

import asyncio
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import httpx
from temporalio.service import RPCError

from surestep.demo.deadline import Missed
from surestep.demo.part import Part
from surestep.demo.scenes import ACTS, Scene
from surestep.demo.stage import Stage, log_tail, stage
from surestep.demo.table import Found, Row, judge, machine_readable, rendered, totals
from surestep.demo.transcript import Transcript
from surestep.errors import SurestepError

AT_A_TERMINAL: Final = timedelta(seconds=60)  # for a person to read, look and decide
LONGEST: Final = timedelta(seconds=90)  # of all acts, without the wait for a person
ALONE: Final = timedelta(seconds=3)  # long enough to see that nothing goes on by itself

SCENES: Final = dict(enumerate((scene for act in ACTS for scene in act), start=1))

EXPECTED_FAILURES: Final = (SurestepError, RPCError, httpx.HTTPError, OSError, RuntimeError)


def run(*, keep: bool, as_json: bool) -> int:
    """Play and return the exit code; an interrupted demo takes its processes down first."""
    try:
        return asyncio.run(Programme(keep=keep, as_json=as_json).perform())
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM


class Programme:
    """One performance, in a new folder."""

    def __init__(self, *, keep: bool, as_json: bool) -> None:
        self._keep = keep
        self._as_json = as_json
        somebody_is_there = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
        self._patience = AT_A_TERMINAL if somebody_is_there else ALONE
        self._began = time.monotonic()
        self._transcript = Transcript(to_stderr=as_json)
        self._folder = Path(mkdtemp(prefix="surestep-demo-")).resolve()
        self._found = {number: Found(record=None, effects=0) for number in SCENES}

    async def perform(self) -> int:
        """Return 0 if every row is right; the folder stays where somebody may want to look."""
        _end_on_sigterm()
        told: bool | None = None
        try:
            self._transcript.say(f"setting the stage in {self._folder} …")
            async with stage(self._folder, self._transcript.say) as up:
                await self._play(up)
                told = self._tell(*await self._counted(up), up)
                if self._keep:
                    await _interrupted()
        except EXPECTED_FAILURES as error:
            self._complain(str(error))
            if told is None:
                told = self._tell(self._rows(), 0, None)
        except asyncio.CancelledError:
            self._remove_folder()
            raise
        if told and not self._keep:
            self._remove_folder()
        return 0 if told else 1

    def _remove_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _play(self, up: Stage) -> None:
        """Act by act, as long as the worker lives."""
        acts, guard = asyncio.create_task(self._acts(up)), asyncio.create_task(up.worker_ends())
        limit = (LONGEST + self._patience).total_seconds()
        try:
            done, _ = await asyncio.wait(
                {acts, guard}, timeout=limit, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                raise Missed(f"expected within {limit:g} s: the end of the last scene")
            await done.pop()
        except asyncio.CancelledError:
            self._transcript.say("\ninterrupted: worker, service and server are ended …")
            raise
        finally:
            acts.cancel()
            guard.cancel()
            await asyncio.gather(acts, guard, return_exceptions=True)

    async def _acts(self, up: Stage) -> None:
        numbers = count(1)
        for act in ACTS:
            scenes = [(next(numbers), scene) for scene in act]
            for number, scene in scenes:
                self._transcript.title(number, scene.title, scene.how)
            await asyncio.gather(*(self._scene(up, number, scene) for number, scene in scenes))

    async def _scene(self, up: Stage, number: int, scene: Scene) -> None:
        part = Part(
            up,
            self._transcript,
            number=number,
            step_id=scene.step_id,
            action=scene.action,
            patience=self._patience,
        )
        also, failure = "", ""
        try:
            await up.world.fault(f"{scene.step_id}/*", write=scene.faults)
            async with part.watched():
                also = await scene.play(part)
        except EXPECTED_FAILURES as error:
            failure = str(error)
        found = Found(await part.known(), len(await part.effects()), also, failure)
        self._found[number] = found
        self._transcript.verdict(_row(number, found))

    async def _counted(self, up: Stage) -> tuple[list[Row], int]:
        """Count once more at the very end, and what lies in the ledger beside the steps."""
        for number, found in self._found.items():
            effects = await up.world.count(f"{SCENES[number].step_id}/*")
            self._found[number] = replace(found, effects=effects)
        rows = self._rows()
        return rows, await up.world.count() - sum(row.effects for row in rows)

    def _rows(self) -> list[Row]:
        return [_row(number, found) for number, found in self._found.items()]

    def _tell(self, rows: Sequence[Row], strays: int, up: Stage | None) -> bool:
        """Table and totals. Whether all is right."""
        right = all(row.right for row in rows) and not strays
        self._transcript.say("")
        self._transcript.show(rendered(rows))
        if strays:
            self._complain(f"{strays} effects in the ledger belong to no step")
        elif up and not right:
            wrong = [f"row {row.number}: {why}" for row in rows for why in row.wrong]
            self._complain("not every row is right", *wrong)
        if up and self._keep:
            self._transcript.say(f"Web UI: {up.server.ui_url} stays up until Ctrl-C.", "bold")
            self._transcript.say(f"Its folder is {self._folder}; delete it when you are done.")
        if self._as_json:
            print(machine_readable(rows))
        took = timedelta(seconds=time.monotonic() - self._began)
        print(totals(rows, strays, took), flush=True)
        return right

    def _complain(self, *what: str) -> None:
        self._transcript.say("\n" + "\n".join(what), "bold red")
        self._transcript.say(f"The worker's log, in {self._folder}, ends with:", "bold")
        self._transcript.say(log_tail(self._folder))


def _row(number: int, found: Found) -> Row:
    scene = SCENES[number]
    return judge(number, scene.title, scene.step_id, scene.expected, found)


def _end_on_sigterm() -> None:
    """Like Ctrl-C, so that worker, service and server end as well."""
    task = asyncio.current_task()
    assert task  # noqa: S101 - for the type checker; this runs in one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


async def _interrupted() -> None:
    """Wait for Ctrl-C or SIGTERM: here they are the way out, not an accident."""
    wanted = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, wanted.set)
    await wanted.wait()
