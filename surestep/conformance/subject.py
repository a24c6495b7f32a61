"""The tool under check, called as the worker calls it, under keys of this run only."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from surestep.conformance.effects import Effects
from surestep.conformance.sending import Sent, outcome_of
from surestep.contract import Contract
from surestep.errors import NotSent, summary
from surestep.evidence import Receipt, Sending, Verification, unknown
from surestep.identity import action_id, step_id, undo_id
from surestep.tool import Call, Fence, Tool
from surestep.vault import SecretSource, readied

PREFIX: Final = "surestep-check"


@dataclass(frozen=True)
class Seen:
    """One look; times are monotonic seconds."""

    verification: Verification
    began: float
    ended: float


class Subject:
    """A tool with its arguments, and everything that this run did with them."""

    def __init__(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        run: str,
        vault: SecretSource | None = None,
    ) -> None:
        self.tool = tool.check()
        self._vault = vault
        self.arguments = tool.normalise(arguments)
        self.run = run
        self.effects = Effects()
        self.before: Verification | None = None
        self._attempts: dict[str, int] = {}
        self._undos: dict[str, int] = {}

    @property
    def contract(self) -> Contract:
        return self.tool.contract

    @property
    def looks(self) -> bool:
        return self.tool.verify_with is not None

    def key(self, part: str) -> str:
        """An actionId that nobody else ever has."""
        return action_id(step_id(PREFIX, self.run, part), self.tool.name)

    async def execute(self, key: str, arguments: Mapping[str, Any] | None = None) -> Sent:
        """One attempt; it raises nothing."""
        assert self.tool.execute_with  # noqa: S101 - Tool.check has looked
        self._attempts[key] = self._attempts.get(key, 0) + 1
        began = time.monotonic()
        try:
            answer = await self._answer(self.tool.execute_with, key, arguments)
        except asyncio.CancelledError as stopped:
            if not isinstance(stopped.__cause__, NotSent):
                doubt = Sent(key, Sending.AMBIGUOUS, began, time.monotonic(), why="interrupted")
                self.effects.sent(doubt)
            raise
        outcome, receipt, why = outcome_of(answer)
        sent = Sent(key, outcome, began, time.monotonic(), receipt, why)
        self.effects.sent(sent)
        return sent

    async def look(
        self, key: str, receipt: Receipt | None = None, arguments: Mapping[str, Any] | None = None
    ) -> Seen:
        """One look without the sight probe; a failure is `unknown`."""
        assert self.tool.verify_with  # noqa: S101 - callers ask `looks` first
        began = time.monotonic()
        answer = await self._answer(self.tool.verify_with, key, arguments, receipt)
        seen = _verification(answer, "verify")
        if arguments is None:
            self.effects.seen(key, seen)
        return Seen(seen, began, time.monotonic())

    async def sees(self) -> bool | str:
        """What the sight probe says, or why it failed."""
        assert self.tool.sight_with  # noqa: S101 - callers ask first
        answer = await self._answer(self.tool.sight_with, self.key("sight"))
        return summary(answer) if isinstance(answer, BaseException) else bool(answer)

    async def fence(self, key: str) -> Fence | str:
        """The receiver's answer, or why there is none."""
        assert self.tool.fence_with  # noqa: S101 - callers ask first
        answer = await self._answer(self.tool.fence_with, key)
        if isinstance(answer, BaseException):
            return summary(answer)
        if not isinstance(answer, Fence):
            return f"fence returned {type(answer).__name__}, not Fence"
        return answer

    async def compensate(self, key: str, receipt: Receipt) -> Sent:
        """Undoes one effect; each of several under one key gets an undo key of its own."""
        undo = self.tool.undo
        assert undo  # noqa: S101 - callers ask first
        assert undo.execute_with  # noqa: S101 - Tool.check has looked
        number = self._undos[key] = self._undos.get(key, 0) + 1
        name = undo_id(key) if number == 1 else f"{undo_id(key)}-{number}"
        began = time.monotonic()
        answer = await self._answer(undo.execute_with, name, None, receipt)
        outcome, given, why = outcome_of(answer)
        return Sent(name, outcome, began, time.monotonic(), given, why)

    async def look_at_undo(self, key: str, receipt: Receipt) -> Verification:
        undo = self.tool.undo
        assert undo  # noqa: S101 - callers ask first
        assert undo.verify_with  # noqa: S101 - callers ask first
        answer = await self._answer(undo.verify_with, undo_id(key), None, receipt)
        return _verification(answer, "verify_compensation")

    async def _answer(
        self,
        function: Callable[[Any, Call], Awaitable[object]],
        key: str,
        arguments: Mapping[str, Any] | None = None,
        receipt: Receipt | None = None,
    ) -> object:
        """What the tool's function returned or raised, under the attempt's deadline.

        Raises CancelledError, with what the tool made of it as its cause.
        """
        recorded = dict(self.arguments if arguments is None else arguments)
        timeout = self.contract.timeout
        call = Call(
            action_id=key,
            attempt=self._attempts.get(key, 1),
            deadline=datetime.now(UTC) + timeout,
            before=self.before,
            receipt=receipt,
        )
        answer: object
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                ready = await readied(self.tool, recorded, self._vault)
                answer = await function(ready.arguments, call)
        except TimeoutError:
            answer = TimeoutError()
        except Exception as error:
            answer = error
        task = asyncio.current_task()
        if task and task.cancelling():  # a tool says NotSent where it was stopped in time
            raise asyncio.CancelledError from (answer if isinstance(answer, Exception) else None)
        return answer


def _verification(answer: object, what: str) -> Verification:
    if isinstance(answer, BaseException):
        return unknown(summary(answer))
    if not isinstance(answer, Verification):
        return unknown(f"{what} returned {type(answer).__name__}, not a Verification")
    return answer


async def until(moment: float) -> None:
    """Sleeps until a monotonic moment."""
    await asyncio.sleep(max(moment - time.monotonic(), 0))


def seconds(time_: timedelta | None) -> float:
    return time_.total_seconds() if time_ else 0.0
