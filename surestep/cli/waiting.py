"""Waiting for a step, and saying on stderr what it waits for."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio.service import RPCError

from surestep.cli import page
from surestep.cli.workers import answered
from surestep.client import Surestep
from surestep.handle import StepHandle
from surestep.narrative import decision_command, sentence
from surestep.outcome import StepOutcome
from surestep.record import Record
from surestep.ruling import verdicts
from surestep.shown import shown

# Most steps are settled sooner, and then there is nothing to tell.
SILENT: Final = timedelta(seconds=1)
LONGEST_PAUSE: Final = timedelta(seconds=15)


async def wait(surestep: Surestep, handle: StepHandle, within: timedelta | None) -> StepOutcome:
    """The outcome. Raises StepPending after `within`, and StepFailed."""
    telling = asyncio.create_task(_tell(surestep, handle))
    try:
        return await handle.outcome(within=within)
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _tell(surestep: Surestep, handle: StepHandle) -> None:
    """Speak when the state changes; who looks less and less often is no load on the server."""
    told, pause = None, SILENT
    while True:
        await asyncio.sleep(pause.total_seconds())
        pause = min(pause * 1.5, LONGEST_PAUSE)
        try:
            state = await handle.state()
            if state == told:
                continue
            records = await answered(surestep.client, surestep.task_queue, handle.records) or []
        except RPCError:  # an outage; whoever waits for the outcome says so
            continue
        told = state
        _say(handle.step_id, records)


def _say(step_id: str, records: list[Record]) -> None:
    now = datetime.now(UTC)
    if not records:
        page.aside(f"waiting: no worker has taken {step_id} up yet")
    for record in map(shown, records):
        if record.closed:
            continue
        page.aside(f"waiting: {sentence(record, now)}")
        if record.asked:
            for verdict in verdicts(record):
                page.command(decision_command(step_id, record, verdict), to_copy_from_stderr=True)
