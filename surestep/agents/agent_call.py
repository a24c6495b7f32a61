"""One call of a model: which step is meant by it, what must be known before, and the reply."""

import time
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from surestep.agents.conversation import Conversation
from surestep.agents.ledger import Kept, RunLedger, content
from surestep.agents.reply import (
    REFUSED,
    STOPPED,
    Reply,
    pending,
    refused,
    settled,
    stopped,
    unfit,
)
from surestep.agents.scope import Scope
from surestep.client import Surestep
from surestep.errors import (
    CannotConnect,
    InvalidArguments,
    InvalidStepId,
    StepConflict,
    StepFailed,
    UnknownTool,
)
from surestep.evidence import State
from surestep.handle import StepPending
from surestep.outcome import Advice, StepOutcome
from surestep.tool import Action

REPEATABLE: Final = (State.CONFIRMED, State.REJECTED, State.NOT_FOUND, State.COMPENSATED)
"""States after which a user may want the same once more: nothing is open about the first."""

TOLD_AT_ONCE: Final = 20  # outcomes in one reply; a conversation that was cut may have lost more


@dataclass(frozen=True)
class AgentCall:
    """A call on its way. `turn`: tool and input hash of the calls made together with it."""

    surestep: Surestep
    scope: Scope
    ledger: RunLedger
    action: Action
    conversation: Conversation | None
    turn: frozenset[tuple[str, str]]
    within: timedelta | None

    async def reply(self) -> Reply:
        """The reply of the step that the run has for this call, or of a new one.

        An equal call is the same intent, unless the user has spoken since its outcome was told.
        Before another call is sent, what the run did earlier is settled, and the model knows it.
        """
        taken = ""
        while True:
            try:
                steps = await self._steps()
            except CannotConnect:
                return refused("What this run has done cannot be looked up now.", Advice.WAIT)
            # Of what was read just now: while this call waits, an equal one may take a number.
            step_id = self.ledger.next_id(self.action.tool)
            equal = [one for one in steps if self._is(one)]
            if equal and not await self._told_before(equal[-1]):
                return await self._attached(equal[-1].step_id)
            first = await self._what_comes_first(steps)
            if first:
                return first
            if step_id == taken:
                raise StepConflict(step_id, [f"it is taken, and is no step of {self.scope.run}"])
            try:
                return await self._performed(step_id)
            except StepConflict:
                taken = step_id  # meanwhile, for another call; then it is in the ledger now

    async def reply_of(self, step_id: str) -> Reply:
        """The reply of this step, whose id names the intent."""
        try:
            return await self._attached(step_id)
        except StepConflict as conflict:
            if not await self.surestep.handle(step_id).exists():
                return refused(str(conflict), Advice.STOP)
            there = await self._found(step_id)
            why = f"{conflict} What became of what was asked before under the same intent:"
            return refused(why, Advice.STOP, told=[there])

    async def _steps(self) -> list[Kept]:
        heard = (
            f"{self.conversation.told_before} {self.conversation.told}" if self.conversation else ""
        )
        until = None if self.within is None else time.monotonic() + self.within.total_seconds()
        return await self.ledger.steps(heard, until)

    async def _attached(self, step_id: str) -> Reply:
        """The reply of the step of an equal call. Raises StepConflict.

        One that was ended from outside is started again, which is safe, unless the model was told
        so and insists: then a person has the word, or the user.
        """
        if self._insists(step_id):
            return await self._found(step_id)
        return await self._performed(step_id)

    def _insists(self, step_id: str) -> bool:
        if self.conversation is None:
            return self.ledger.settled_as(step_id) == STOPPED
        return self.conversation.was_told_now(step_id, STOPPED)

    async def _performed(self, step_id: str) -> Reply:
        """Start the step, or attach to it. Raises StepConflict."""
        with self.ledger.under_way(step_id, self._name):
            reply = await self._reply(
                step_id,
                self.surestep.run(
                    step_id,
                    self.action,
                    run=self.scope.run,
                    requester=self.scope.requester,
                    within=self.within,
                ),
            )
        if reply.outcome:
            self.ledger.tell(step_id, self._name or "")
        return reply

    async def _found(self, step_id: str) -> Reply:
        """The reply of a step that exists."""
        return await self._reply(step_id, self.surestep.handle(step_id).outcome(within=self.within))

    async def _reply(self, step_id: str, outcome: Awaitable[StepOutcome]) -> Reply:
        try:
            reply = settled(await outcome)
        except (StepPending, CannotConnect):
            return pending(step_id, self.action.tool)
        except (InvalidArguments, InvalidStepId, UnknownTool) as error:
            reply = unfit(step_id, str(error))
        except StepFailed:
            reply = stopped(step_id, self.action.tool)
        self.ledger.settle(step_id, reply.state)
        return reply

    def _is(self, kept: Kept) -> bool:
        return (kept.tool, kept.hash) == (self.action.tool, content(self.action))

    async def _told_before(self, kept: Kept) -> bool:
        """Whether the outcome of an equal call was told, and then the user spoke."""
        if self.conversation is None:
            return False
        state = self.ledger.settled_as(kept.step_id) or (await self._found(kept.step_id)).state
        if state not in REPEATABLE or not self.conversation.was_told_before(kept.step_id, state):
            return False
        outcome = (await self._found(kept.step_id)).outcome
        return outcome is not None and not any(one.anomalies for one in outcome.actions)

    async def _what_comes_first(self, steps: list[Kept]) -> Reply | None:
        """What is open from earlier turns, or was never told: nothing is sent before that."""
        untold: list[Reply] = []
        for one in steps:
            if (one.tool, one.hash) in self.turn or self.ledger.is_under_way(
                one.step_id, self._name
            ):
                continue  # it is called beside this one, or by another conversation of the run
            if self._knows(one.step_id):
                continue
            found = await self._found(one.step_id)
            if found.outcome is None and found.state != REFUSED:
                return refused("An earlier action is not settled:", found.advice, told=[found])
            if not self._knows(one.step_id) and len(untold) < TOLD_AT_ONCE:
                untold.append(found)
        if not untold:
            return None
        for reply in untold:
            self.ledger.tell(reply.step_id or "", self._name or "")
        return refused(
            "Earlier calls of this run have outcomes that you do not know. If this call is still "
            "wanted, knowing them, make it again. They are:",
            told=untold,
        )

    def _knows(self, step_id: str) -> bool:
        """Whether the step has ended, and the model, or another conversation of the run, was told.

        What was told to this conversation must stand in it: it may have been lost in a restart.
        """
        state = self.ledger.settled_as(step_id)
        if state is None or state == STOPPED:
            return False
        if self.conversation is None or self.conversation.was_told(step_id, state):
            return True
        return bool(self.ledger.told(step_id) - {self.conversation.name})

    @property
    def _name(self) -> str | None:
        return self.conversation.name if self.conversation else None
