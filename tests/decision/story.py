"""A story about one action, told piece by piece; the clock moves only when the story says so."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from surestep import evidence as ev
from surestep.contract import ApprovalRule, Contract, Effect, KeySupport
from surestep.decision import Decision, Ruling, Verdict
from surestep.evidence import Receipt, Sending, State, Verification
from surestep.facts import Anomaly, UndoPlan
from surestep.policy import Ask, Escalate, Fence, Finish, Lapse, Move, Send, Verify, Wait, next_move
from surestep.record import Record, plan
from surestep.ruling import rule, verdicts

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LOST = Sending.AMBIGUOUS  # the reply did not come


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def hours(number: float) -> timedelta:
    return timedelta(hours=number)


IN_FLIGHT = seconds(90)
LAG = seconds(5)
SETTLED = IN_FLIGHT + LAG
LIFETIME = hours(24)

PLAIN = Contract(effect=Effect.IRREVERSIBLE, in_flight=IN_FLIGHT, visibility_lag=LAG)
KEYED = PLAIN.model_copy(update={"key": KeySupport(lifetime=LIFETIME)})
REMEMBERS_FAILURES = PLAIN.model_copy(
    update={"key": KeySupport(lifetime=LIFETIME, stores_failures=True)}
)
NO_PROMISES = Contract(effect=Effect.IRREVERSIBLE)
BLIND = Contract(effect=Effect.IRREVERSIBLE, ask=True)
QUEUED = PLAIN.model_copy(update={"response_proves": False})
APPROVAL = ApprovalRule(expires=hours(24), valid=hours(1))
APPROVED = PLAIN.model_copy(update={"approval": APPROVAL})
APPROVED_KEYED = KEYED.model_copy(update={"approval": APPROVAL})
READ = Contract(effect=Effect.READ)


def but(contract: Contract, **changes: Any) -> Contract:
    """The same contract with some promises changed, validated."""
    return Contract.model_validate(dict(contract) | changes)


class Story:
    """Each method adds what happens next and returns the story."""

    def __init__(
        self,
        contract: Contract = PLAIN,
        *,
        sees: bool = True,
        fences: bool = False,
        undo: bool = False,
    ) -> None:
        self.now = START
        self.sent_at: datetime | None = None
        self.record: Record = plan(
            action_id="refund/order-7781/refund",
            name="refund",
            tool="refund",
            arguments={"order": "7781", "cents": 2500},
            input_hash="v1:0",
            contract=contract,
            can_verify=sees,
            can_fence=fences,
            needs_approval=contract.approval is not None,
            undo=UndoPlan(tool="refund.undo", contract=contract, can_verify=sees) if undo else None,
            recognised="7781",
            at=START,
        )

    def knows(self, evidence: ev.Evidence) -> "Story":
        self.record = self.record.with_evidence(evidence)
        return self

    def after(self, wait: timedelta) -> "Story":
        self.now += wait
        return self

    def at(self, moment: datetime) -> "Story":
        self.now = moment
        return self

    def dispatched(self) -> "Story":
        move = self.move
        generation = move.generation if isinstance(move, Send) else self.record.generation
        return self.knows(ev.Dispatched(at=self.now, generation=generation))

    def ended(self, outcome: Sending, **details: Any) -> "Story":
        return self.knows(ev.Attempted(at=self.now, outcome=outcome, **details))

    def attempt(self, outcome: Sending, took: timedelta = seconds(1), **details: Any) -> "Story":
        """One whole attempt, whether or not the policy would send now."""
        return self.dispatched().after(took).ended(outcome, **details)

    def lost(self) -> "Story":
        return self.attempt(LOST)

    def earlier_run(self, since: datetime | None = None) -> "Story":
        return self.knows(ev.EarlierRun(at=self.now, since=since, why="the step was reset"))

    def looks(self, seen: Verification, took: timedelta = seconds(0)) -> "Story":
        started = self.now
        self.now += took
        return self.knows(ev.Looked(at=self.now, started=started, verification=seen))

    def notice(self, receipt: str = "re_1", *, happened: bool = True) -> "Story":
        return self.knows(ev.Noticed(at=self.now, happened=happened, receipt=Receipt(id=receipt)))

    def fence(self, *, held: bool, exists: str | None = None) -> "Story":
        there = Receipt(id=exists) if exists else None
        return self.knows(ev.Fenced(at=self.now, held=held, exists=there, why="said the service"))

    def cancel(self) -> "Story":
        return self.knows(ev.CancelRequested(at=self.now))

    def asked(self) -> "Story":
        return self.knows(ev.Asked(at=self.now, why=self.move.why))  # type: ignore[union-attr]

    def says(self, verdict: Verdict, **details: Any) -> "Story":
        decision = self._decision(verdict, {"by": "ann"} | details)
        return self.knows(ev.Decided(at=self.now, decision=decision))

    def _decision(self, verdict: Verdict, details: dict[str, Any]) -> Decision:
        if verdict is Verdict.KEEP_LOOKING:
            details = {"until": self.now + hours(6)} | details
        details = {"version": self.record.version} | details
        return Decision(verdict=verdict, **details)

    def asked_and_told(self, verdict: Verdict, **details: Any) -> "Story":
        """Lookups fail until a human is asked, who says this."""
        self.proceeds(lambda: ev.unknown("503"), to=Ask).asked()
        return self.says(verdict, **details)

    def approved(self, **details: Any) -> "Story":
        return self.says(Verdict.APPROVE, **details)

    def closes(self) -> "Story":
        """End as the policy says."""
        move = self.move
        assert isinstance(move, Finish), move
        return self.knows(ev.Closed(at=self.now, state=move.state, why=move.why))

    def proceeds(
        self, seen: Callable[[], Verification] | None = None, *, to: type[Move], steps: int = 500
    ) -> "Story":
        """Follow the policy, every lookup seeing `seen`, up to the first move of kind `to`."""
        for move in self.moves(seen, steps):
            if isinstance(move, to):
                return self
        raise AssertionError(f"no {to.__name__} within {steps} moves; {self.record.log[-5:]}")

    def moves(
        self, seen: Callable[[], Verification] | None = None, steps: int = 500
    ) -> Iterator[Move]:
        """The policy's moves; each is carried out when the next is asked for. Sends get lost."""
        seen = seen or ev.not_found
        for _ in range(steps):
            move = self.move
            if isinstance(move, Verify | Fence):
                self.now = max(self.now, move.at)
            yield move
            match move:
                case Send():
                    self.lost()
                case Verify():
                    self.looks(seen())
                case Fence():
                    self.fence(held=False)
                case Ask():
                    self.asked()
                case Escalate():
                    self.knows(ev.Escalated(at=self.now))
                case Lapse():
                    self.knows(ev.Lapsed(at=self.now))
                case Finish():
                    return
                case Wait(until=None):
                    return
                case Wait(until=until):
                    self.now = max(self.now, until)

    def ruling(self, verdict: Verdict, **details: Any) -> Ruling:
        return rule(
            self.record,
            ev.Decided(at=self.now, decision=self._decision(verdict, details)),
        )

    @property
    def move(self) -> Move:
        return next_move(self.record, self.now)

    @property
    def state(self) -> State:
        return self.record.state

    @property
    def sends(self) -> bool:
        return isinstance(self.move, Send)

    @property
    def accepts(self) -> set[Verdict]:
        return set(verdicts(self.record))

    @property
    def anomalies(self) -> list[str]:
        return [anomaly.kind.value for anomaly in self.record.anomalies]

    @property
    def anomaly(self) -> Anomaly:
        [only] = self.record.anomalies
        return only

    @property
    def told(self) -> str:
        """The log in one text."""
        return "\n".join(line.text for line in self.record.log)

    def ends(self, state: State) -> bool:
        move = self.move
        return isinstance(move, Finish) and move.state is state
