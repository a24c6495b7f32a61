"""One run of the check, step by step."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from surestep.conformance import fences, keys, lookups, proof, undoing
from surestep.conformance.plan import Plan, plan
from surestep.conformance.promise import Promise, sentence, span
from surestep.conformance.recording import recorded
from surestep.conformance.report import Judgement, Report, Row, not_tested
from surestep.conformance.sending import Sent, told
from surestep.conformance.subject import Subject
from surestep.conformance.watch import Watch, watch
from surestep.contract import Effect
from surestep.errors import SurestepError
from surestep.evidence import Finding, Receipt, Sending, Verification

SKIPPED: Final = "left out by request"


class CannotCheck(SurestepError):
    """The check could not be carried out; the message says why."""


class Course:
    """One run of the check."""

    def __init__(
        self,
        subject: Subject,
        *,
        other: Mapping[str, Any] | None,
        refused: Mapping[str, Any] | None,
        variable: str | None,
        patience: timedelta,
        gap: timedelta,
        skip: frozenset[Promise],
        say: Callable[[str], None],
    ) -> None:
        self.subject = subject
        tool = subject.tool
        if subject.contract.effect is Effect.READ:
            raise CannotCheck(f"tool {tool.name!r} only reads: it promises nothing to check")
        self.other = None if other is None else tool.normalise(other)
        self.refused = None if refused is None else tool.normalise(refused)
        if self.other == subject.arguments:
            raise CannotCheck("the other arguments are the same as the arguments")
        self.variable, self.patience, self.gap = variable, patience, gap
        self.skip, self.say = skip, say
        self.rows: list[Row] = []

    @property
    def plan(self) -> Plan:
        return plan(self.subject.tool, self.skip, self.other, self.refused, self.variable)

    async def run(self) -> Report:
        """The page of named steps; whatever ends it, what it has made is named."""
        self.say(f"run {self.subject.run} {self.plan}")
        try:
            before = await self._before()
            sent = await self._first()
            first = await self._watched(sent)
            await self._lookups(before, first)
            await self._keys(sent, first)
            await self._refusal()
            await self._recording()
            await self._ending(sent, first)
        except BaseException:
            for left in self.subject.effects.left:
                self.say(f"left behind: {left.id or 'perhaps an effect'}, key {left.key}")
            raise
        return self._report()

    async def _before(self) -> Verification | None:
        if not self.subject.looks:
            return None
        self.say("looking before anything is sent")
        self.subject.before = (await self.subject.look(self.subject.key("once"))).verification
        return self.subject.before

    async def _first(self) -> Sent:
        self.say("performing the first effect")
        sent = await self.subject.execute(self.subject.key("once"))
        if sent.succeeded or (sent.outcome is Sending.AMBIGUOUS and self.subject.looks):
            return sent
        raise CannotCheck(
            f"the first effect could not be performed: {sent.words}. Give arguments that the "
            "sandbox accepts, and see that it can be reached"
        )

    async def _watched(self, sent: Sent) -> Watch | None:
        if not self.subject.looks:
            return None
        self.say(f"looking for it, for {span(self.patience)} beyond the promised lag")
        seen = await watch(self.subject, sent, self.patience)
        if sent.outcome is Sending.AMBIGUOUS and not seen.confirmed:
            raise CannotCheck(
                f"the first effect is in doubt: execute says {sent.words}; verify says "
                f"{told(seen.last)}"
            )
        return seen

    async def _lookups(self, before: Verification | None, first: Watch | None) -> None:
        subject = self.subject
        self.say("looking for keys that were never used")
        strangers = await lookups.strangers(subject, before, first)
        found = strangers.verdict is Judgement.BROKEN
        subject.effects.trusted = subject.looks and not found
        sight = await lookups.sight(subject, first)
        self._add(strangers, sight, lookups.lag(subject, first, found), lookups.same_effect(first))
        self._add(proof.proves(subject, first, sight))

    async def _keys(self, sent: Sent, first: Watch | None) -> None:
        keyed = self.subject.contract.key is not None
        if self._begins("sending the same key again", Promise.KEY, offered=keyed):
            self._add(await keys.repeated(self.subject, sent, first))
        if self._begins("sending a fresh key twice at once", Promise.AT_ONCE, offered=keyed):
            self._add(await keys.at_once(self.subject, first))
        if self._begins("sending a used key, other arguments", Promise.CONTENT, offered=keyed):
            self._add(await keys.other_content(self.subject, sent, first, self.other))

    async def _refusal(self) -> None:
        given = self.refused is not None
        if self._begins("sending what the sandbox refuses", Promise.REFUSAL, offered=given):
            self._add(await proof.refusal(self.subject, self.refused, self.patience))

    async def _recording(self) -> None:
        both = (Promise.REPEATABLE, Promise.ONE_SEND)
        if self._begins("recording two sends, away from the service", *both):
            self._add(*await recorded(self.subject, self.variable, self.gap))

    async def _ending(self, sent: Sent, first: Watch | None) -> None:
        subject, effect = self.subject, self._certain(sent, first)
        fences_at_all = subject.tool.fence_with is not None
        if self._begins("fencing a fresh key", Promise.FENCE, offered=fences_at_all):
            self._add(await fences.fence(subject, self.patience))
        if self._begins("fencing a used key", Promise.FENCE_EXISTING, offered=fences_at_all):
            self._add(await fences.existing(subject, sent.key, effect))
        both = (Promise.UNDO, Promise.UNDO_LOOKUP)
        if self._begins("compensating", *both, offered=subject.tool.undo is not None):
            self._add(*await undoing.undo(subject, sent.key, effect, self.patience))
        self.say("naming what is left")
        await undoing.clean_up(subject, self.patience, undo=Promise.UNDO not in self.skip)

    def _certain(self, sent: Sent, first: Watch | None) -> Receipt | None:
        """The first effect, where it is beyond doubt; compensating needs its receipt (R15)."""
        if first and first.last.finding is Finding.CONFIRMED and self.subject.effects.trusted:
            return first.last.matches[0]
        lookup_denies = first is not None and not first.failed and first.settled is None
        final = sent.outcome is Sending.ANSWERED and self.subject.contract.response_proves
        return sent.receipt if final and not lookup_denies else None

    def _begins(self, what: str, *promises: Promise, offered: bool = True) -> bool:
        """Whether a probe is to be made at all; the first of its promises decides."""
        if promises[0] in self.skip:
            return False
        if offered:
            self.say(what)
        return True

    def _add(self, *rows: Row) -> None:
        self.rows += rows

    def _report(self) -> Report:
        subject, effects = self.subject, self.subject.effects
        known = {row.promise: row for row in (*_untestable(subject), *self.rows)}
        for one in Promise:
            if one in self.skip or one not in known:
                known[one] = not_tested(one, SKIPPED)
        contract = subject.contract
        return Report(
            tool=subject.tool.name,
            run=subject.run,
            rows=tuple(
                known[one].model_copy(update={"says": sentence(one, contract)}) for one in Promise
            ),
            effects=effects.made,
            undone=effects.undone_count,
            left=effects.left,
        )


def _untestable(subject: Subject) -> tuple[Row, ...]:
    """What no caller can find out from outside, and why."""
    contract = subject.contract
    lifetime = "no key is promised"
    if contract.key:
        lifetime = f"a check does not last for {span(contract.key.lifetime)}"
    in_flight = "no in_flight is promised"
    if contract.in_flight is not None:
        in_flight = "from outside no request can be held up on its way to the service"
    redelivery = "a caller cannot make the network or a queue deliver a request again"
    return (
        not_tested(Promise.LIFETIME, lifetime),
        not_tested(Promise.IN_FLIGHT, in_flight),
        not_tested(Promise.REDELIVERY, redelivery),
    )
