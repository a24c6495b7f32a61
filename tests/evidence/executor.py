"""Surestep in virtual time: the real `next_move` and the real record, asked as the workflow asks.

It is the loop of `workflows.settling`, with the service of `service` in the place of activities.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from surestep import evidence as ev
from surestep import policy
from surestep.contract import Contract
from surestep.decision import Decision, Verdict
from surestep.evidence import Finding, Receipt, Sending, State, Verification
from surestep.policy import Ask, Escalate, Fence, Finish, Lapse, Send, Verify, Wait
from surestep.record import Record, plan

from .arms import Said, Told
from .human import Human, blind
from .judgement import avoidable
from .service import LOOKS_IN, Answer, Reply, Service, Sight

START: Final = datetime(2030, 1, 1, tzinfo=UTC)
HORIZON: Final = 30 * 86_400.0  # seconds; by then everything has landed and everybody has answered
WHO: Final = "the scripted human"

OUTCOMES: Final = {
    Reply.ANSWER: Sending.ANSWERED,
    Reply.ACCEPTED: Sending.ACCEPTED,
    Reply.LOST: Sending.AMBIGUOUS,
    Reply.ERROR: Sending.AMBIGUOUS,
    Reply.AGAIN: Sending.REFUSED_FOR_NOW,
    Reply.REFUSED: Sending.REFUSED,
    Reply.UNREACHABLE: Sending.NOT_SENT,
}
"""What a tool tells of each answer; `surestep.http` says the same of real ones."""

SAID: Final = {
    State.CONFIRMED: Said.DONE,
    State.NOT_FOUND: Said.FAILED,
    State.REJECTED: Said.FAILED,
}


@dataclass(frozen=True)
class Declared:
    """A tool as its author declares it, and who answers for it after how many seconds."""

    contract: Contract
    looks: bool
    human: Human
    comes_after: float


def verification(service: Service, at: float) -> Verification:
    """One look, as a tool's `verify` reports it."""
    match service.look(at):
        case Sight.WHOLE:
            seen = [Receipt(id=row.id) for row in service.seen(at) if row.whole]
            return ev.confirmed(matches=seen)
        case Sight.PART:
            return ev.unknown("a part is missing", holds=["the first part"], missing=["the rest"])
        case Sight.PENDING:
            return ev.pending("it is being worked on")
        case Sight.NOTHING:
            return ev.not_found()
        case Sight.BLIND:
            return ev.unknown("the lookup failed")


def planned(declared: Declared) -> Record:
    return plan(
        action_id="evidence/1/write",
        name="write",
        tool="write",
        arguments={},
        input_hash="v1:0",
        contract=declared.contract,
        can_verify=declared.looks,
        at=START,
    )


class Execution:
    """One action, from its plan to its end."""

    def __init__(self, service: Service, declared: Declared, now: float = 0.0) -> None:
        self.service, self.declared, self.now = service, declared, now
        self.record = planned(declared)
        self.asked: float | None = None
        self.answered: float | None = None
        self.avoidable = False
        self._comes: float | None = None
        self._retries = 0

    def run(self) -> Told:
        while self.now < HORIZON and not self.record.closed:
            self._one_move()
        closed = self.record.closed
        state = closed.state if closed else State.UNKNOWN
        ended = self.now
        self._watch()
        return Told(
            SAID.get(state, Said.OPEN),
            ended,
            state=state.value,
            asked=self.asked,
            answered=self.answered,
            avoidable=self.avoidable,
            anomalies=len(self.record.anomalies),
        )

    def _one_move(self) -> None:
        now = moment(self.now)
        match policy.next_move(self.record, now):
            case Finish(state=state, why=why):
                self._learn(ev.Closed(at=now, state=state, why=why))
            case Send() as move:
                self._send(move)
            case Verify(at=at):
                if self._wait(second(at)):
                    self._look()
            case Wait(until=until):
                self._wait(second(until) if until else HORIZON)
            case Ask(why=why):
                self.avoidable |= avoidable(self.service, self.declared, self.now)
                self._learn(ev.Asked(at=now, why=why))
                if self.asked is None:
                    self.asked = self.now
                self._comes = self.now + self.declared.comes_after
            case Escalate():
                self._learn(ev.Escalated(at=now))
            case Lapse():
                self._learn(ev.Lapsed(at=now))
            case Fence():
                raise AssertionError("no service here can be fenced")

    def _send(self, move: Send) -> None:
        begun = moment(self.now)
        self._learn(ev.Dispatched(at=begun, generation=move.generation))
        if move.look_first:
            seen = verification(self.service, self.now)
            self._pass(LOOKS_IN)
            # As the activity reports it: a look that fails or misses before the send stops nothing.
            before = ev.Looked(at=moment(self.now), started=begun, verification=seen)
            if seen.trace or seen.finding not in (Finding.NOT_FOUND, Finding.UNKNOWN):
                answer = Answer(Reply.UNREACHABLE, self.now)
                self._attempted(answer, before)
                return
            self._attempted(self.service.send(self.record.key, self.now), before)
            return
        self._attempted(self.service.send(self.record.key, self.now), None)

    def _attempted(self, answer: Answer, before: ev.Looked | None) -> None:
        self.now = answer.at
        at = moment(self.now)
        if before:
            self._learn(before.model_copy(update={"at": at}))
        receipt = Receipt(id=answer.id) if answer.id else None
        outcome = OUTCOMES[answer.reply]
        told = ev.Attempted(at=at, outcome=outcome, receipt=receipt, retry_after=answer.pause)
        self._learn(told)

    def _look(self) -> None:
        started = self.now
        seen = verification(self.service, started)
        self._pass(LOOKS_IN)
        self._learn(ev.Looked(at=moment(self.now), started=moment(started), verification=seen))

    def _wait(self, until: float) -> bool:
        """True once the time has come; False if a human's word came first."""
        if self.record.asked is None:
            self._comes = None  # the question was withdrawn
        if self._comes is None or self._comes > until:
            self.now = max(self.now, until)
            return True
        self.now = max(self.now, self._comes)
        word = self.declared.human(self.service, self.now, self._retries)
        if isinstance(word, float):
            self._comes = max(word, self.now + 1.0)
            return False
        self._comes = None
        self.answered = self.now
        self._retries += word is Verdict.RETRY
        said = decision(word, self.record, self.service, self.now)
        self._learn(ev.Decided(at=moment(self.now), decision=said))
        return False

    def _watch(self) -> None:
        """What follows the end (R17): looks for effects that land late."""
        while self.record.closed and (watch := policy.next_watch(self.record, moment(self.now))):
            self.now = max(self.now, second(watch.at))
            self._look()

    def _learn(self, evidence: ev.Evidence) -> None:
        self.record = self.record.with_evidence(evidence)

    def _pass(self, seconds: float) -> None:
        if not self.service.quick:
            self.now += seconds


def decision(verdict: Verdict, record: Record, service: Service, now: float) -> Decision:
    """What a person sends of what the record says now.

    Where no lookup answers, a retry says that it knows.
    """
    sure = verdict in (Verdict.RETRY, Verdict.ABANDON) and blind(service, now)
    return Decision(
        verdict=verdict,
        by=WHO,
        note="I looked there",
        id=f"{record.asked} {record.version}",
        version=record.version,
        accept_duplicate=sure,
    )


def moment(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def second(at: datetime) -> float:
    return (at - START).total_seconds()
