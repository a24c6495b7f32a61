"""What people and services send in: read, examined, and applied in the order of arrival."""

import asyncio

from temporalio import workflow

from surestep import evidence as ev
from surestep.decision import Decision, Ruling
from surestep.questions import ExamineOrder
from surestep.record import Record
from surestep.ruling import refused_anyway, rule
from workflows import dispatch
from workflows.clock import Clock
from workflows.inbox import Unread, read_decision, read_notice
from workflows.notices import Said, heard, keys_of, meant_by
from workflows.records import Records


class Reception:
    """Decisions and notices. None of them can stop the step, whatever it holds."""

    def __init__(self, clock: Clock, records: Records) -> None:
        self._clock = clock
        self._records = records
        self._turn = asyncio.Lock()
        self._said = Said()
        self.requester = ""

    async def decision(self, given: object, *, by_signal: bool) -> Ruling:
        """Apply a decision, or record why not; once there is a plan, one after the other."""
        self._records.in_hand += 1
        try:
            return await self._receive(given, by_signal=by_signal)
        finally:
            self._records.in_hand -= 1

    async def _receive(self, given: object, *, by_signal: bool) -> Ruling:
        await workflow.wait_condition(lambda: self._records.planned)
        read = read_decision(given)
        if isinstance(read, Unread):
            return self._refuse(read.why)
        name = self._addressed(read.action)
        if name is None:
            names = [record.name for record in self._records.all()]
            return self._refuse(
                f"no action {read.action!r} in this step; there are {names}"
                if read.action
                else f"it must name its action, one of {names}"
            )
        async with self._turn:
            return await self._decide(name, read, by_signal=by_signal)

    async def _decide(self, name: str, decision: Decision, *, by_signal: bool) -> Ruling:
        # A flood of what cannot be taken costs the history nothing but its signals.
        if refused_anyway(self._records[name], decision):
            decided = ev.Decided(at=self._clock.now(), decision=decision)
        else:
            decided = await self._examined(self._records[name], decision, by_signal=by_signal)
        ruling = rule(self._records[name], decided)
        self._records.learn(name, decided)
        after = self._records[name]
        return ruling.model_copy(update={"version": after.version, "state": after.state.value})

    async def _examined(self, record: Record, decision: Decision, *, by_signal: bool) -> ev.Decided:
        examined = await dispatch.examine(
            ExamineOrder(
                decision=decision,
                action_id=record.action_id,
                tool=record.tool,
                effect=record.contract.effect,
                input_hash=record.input_hash,
                requester=self.requester,
                needs_approval=record.needs_approval,
                now=self._clock.now(),
                by_signal=by_signal,
                agreed=tuple(
                    one.by for one in record.agreed if one.is_of(decision, record.version)
                ),
            )
        )
        self._clock.hold(examined.now)
        if examined.by:
            decision = decision.model_copy(update={"by": examined.by})
        return ev.Decided(
            at=examined.at,
            decision=decision,
            objection=examined.objection,
            needs_another=examined.needs_another,
        )

    async def notice(self, given: object) -> None:
        """Apply what a service says by itself, or record why not."""
        self._records.in_hand += 1
        try:
            await self._listen(given)
        finally:
            self._records.in_hand -= 1

    async def _listen(self, given: object) -> None:
        await workflow.wait_condition(lambda: self._records.planned)
        notice = read_notice(given)
        if isinstance(notice, Unread):
            self._refuse(notice.why)
            return
        async with self._turn:
            record = meant_by(notice, self._records.all())
            if record is None:
                key = notice.key[:80]
                self._refuse(f"a notice with the key {key!r}, which is none of this step's")
                return
            if self._said.holds(record, notice):
                return
            evidence = await heard(notice, record, self._clock)
            before = self._records[record.name]
            self._records.learn(record.name, evidence)
            self._said.add(before, notice, self._records[record.name])

    def other_signal(self, signal: str) -> None:
        self._refuse(f"there is no signal {signal[:80]!r}; there are decide and notice")

    def _addressed(self, action: str | None) -> str | None:
        """The action that a name, an actionId or a key of any generation means."""
        records = self._records.all()
        if action is None:
            names = [one.name for one in records if one.closed is None]
            names = names if len(names) == 1 else [one.name for one in records]
            return names[0] if len(names) == 1 else None
        for record in records:
            if action in (record.name, *keys_of(record)):
                return record.name
        return None

    def _refuse(self, why: str) -> Ruling:
        state = self._records.refuse(why)
        return Ruling(taken=False, why=why, version=0, state=state)
