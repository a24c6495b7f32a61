"""A scripted human: watches what is unresolved and decides by real signals, each with a note."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Final, Self

from temporalio.service import RPCError

from surestep.client import Surestep
from surestep.decision import Verdict
from surestep.evidence import Finding
from surestep.identity import token
from surestep.protocol import DECIDE
from surestep.record import Record
from surestep.testing.control import Control
from surestep.testing.ledger import EffectRow
from surestep.visibility import NEEDS_HUMAN, UNKNOWN_SINCE

LOOKS_EVERY: Final = timedelta(seconds=0.2)

log = logging.getLogger("surestep.testing")


@dataclass(frozen=True)
class Word:
    """What a human says about one action; the fields are those of a Decision."""

    verdict: Verdict
    note: str
    receipt_id: str | None = None
    accept_duplicate: bool = False


Policy = Callable[[Record, Sequence[EffectRow]], Word | None]
"""From the record and the ledger's effects to a word; None: nothing yet, ask again later."""


def truthful(record: Record, effects: Sequence[EffectRow]) -> Word:
    """Says what the ledger says: `confirm`, or `retry`.

    Where the lookup answers nothing, the retry does not wait for it, because this human knows.
    """
    if effects:
        return Word(Verdict.CONFIRM, f"the ledger holds {effects[0].id}", effects[0].id)
    blind = record.looks.finding is Finding.UNKNOWN
    return Word(Verdict.RETRY, "the ledger does not hold it", accept_duplicate=blind)


def mistaken(record: Record, effects: Sequence[EffectRow]) -> Word:
    """Says the contrary of what the ledger says."""
    if effects:
        return Word(Verdict.RETRY, "I could not find it")
    return Word(Verdict.CONFIRM, "I am sure that I saw it")


def silent(record: Record, effects: Sequence[EffectRow]) -> None:
    """Never says anything."""


class Human:
    """Within `async with`, answers what is unresolved on the queue of `surestep`, as `says` says.

    Knows of an action's effects from `world`, not from Surestep. Each question is answered as it
    was seen, and again only where there was news meanwhile; an action that is in doubt again is a
    new question. `asked` holds the actionIds of all questions, `words` what was said, oldest first.
    """

    def __init__(
        self,
        surestep: Surestep,
        world: Control,
        says: Policy = truthful,
        *,
        name: str = "the scripted human",
        every: timedelta = LOOKS_EVERY,
    ) -> None:
        self._surestep, self._world, self._says = surestep, world, says
        self.name, self._every = name, every
        self.asked: list[str] = []
        self.words: list[tuple[str, Word]] = []
        self._questions: set[tuple[str, object]] = set()
        self._answered: set[tuple[str, object, int]] = set()
        self._watch: asyncio.Task[None] | None = None
        # Other queues have workers, or none, and humans of their own. An anomaly is no question.
        self._query = (
            f"{NEEDS_HUMAN} = true AND {UNKNOWN_SINCE} IS NOT NULL AND "
            f"ExecutionStatus = 'Running' AND TaskQueue = '{surestep.task_queue}'"
        )

    async def __aenter__(self) -> Self:
        self._watch = asyncio.create_task(self._watching())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watch:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch

    async def _watching(self) -> None:
        while True:
            # A step whose worker does not answer must not keep the others waiting.
            await asyncio.gather(*[self._read(step_id) for step_id in await self._unresolved()])
            await asyncio.sleep(self._every.total_seconds())

    async def _unresolved(self) -> list[str]:
        try:
            found = self._surestep.client.list_workflows(self._query)
            return [step.id async for step in found]
        except RPCError as error:
            log.info("the scripted human could not look: %s", error)
            return []

    async def _read(self, step_id: str) -> None:
        try:
            await self._answer(step_id)
        except RPCError as error:  # a list runs behind: the step may have ended, or not begun
            log.info("the scripted human could not look at %s: %s", step_id, error)

    async def _answer(self, step_id: str) -> None:
        for record in await self._surestep.handle(step_id).records():
            question = (record.action_id, record.asked)
            # News meanwhile makes an answer a stale one, and then it is said again.
            answer = (*question, record.version)
            if record.asked is None or record.closed or record.decision or answer in self._answered:
                continue
            if question not in self._questions:
                self._questions.add(question)
                self.asked.append(record.action_id)
            word = self._says(record, await self._effects(record))
            if word is not None:
                await self._say(step_id, record, word)
                self._answered.add(answer)

    async def _effects(self, record: Record) -> list[EffectRow]:
        key = record.action_id  # and its later generations
        return [*await self._world.effects(key), *await self._world.effects(f"{key}~*")]

    async def _say(self, step_id: str, record: Record, word: Word) -> None:
        said = {
            "action": record.name,
            "verdict": word.verdict.value,
            "by": self.name,
            "note": word.note,
            # A signal that the server took and did not answer is sent again, and counts once.
            "id": token(f"{record.action_id} {record.asked}"),
            "version": record.version,
            "receipt_id": word.receipt_id,
            "accept_duplicate": word.accept_duplicate,
        }
        self.words.append((record.action_id, word))
        await self._surestep.client.get_workflow_handle(step_id).signal(DECIDE, said)
