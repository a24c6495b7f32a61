"""Whatever happens, in whatever order it can happen, these never break."""

from datetime import datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surestep import evidence as ev
from surestep.contract import KeySupport
from surestep.decision import Decision, Verdict
from surestep.evidence import Finding, Receipt, Sending, State
from surestep.policy import Ask, Escalate, Fence, Finish, Lapse, Move, Send, Verify, Wait, next_move
from surestep.record import Record

from .story import (
    BLIND,
    KEYED,
    NO_PROMISES,
    PLAIN,
    QUEUED,
    READ,
    REMEMBERS_FAILURES,
    START,
    Story,
    but,
    hours,
    seconds,
)

CONTRACTS = [
    PLAIN, KEYED, NO_PROMISES, BLIND, QUEUED, READ, REMEMBERS_FAILURES,
    but(PLAIN, misses=3),
    but(KEYED, in_flight=None, visibility_lag=None),
    but(KEYED, sends=1, key=KeySupport(lifetime=hours(1))),
    but(PLAIN, visibility_lag=seconds(0), sends=2),
]  # fmt: skip
RECEIPTS = st.sampled_from([Receipt(), Receipt(id="a"), Receipt(id="b", result={"cents": 1})])
SIGHTS = st.one_of(
    st.just(ev.not_found()),
    st.sampled_from(["503", "timeout"]).map(ev.unknown),
    RECEIPTS.map(ev.confirmed),
    st.lists(RECEIPTS, min_size=1, max_size=3).map(lambda found: ev.confirmed(matches=found)),
    st.just(ev.confirmed(differs=["cents"])),
    st.just(ev.unknown("half", holds=["row"], missing=["event"])),
    st.just(ev.pending("running")),
    st.just(ev.rejected("declined")),
)
DURATIONS = st.sampled_from([0.0, 0.001, 1.0, 10.0, 90.0, 100.0]).map(seconds)
WAITS = st.sampled_from([0.0, 1.0, 60.0, 3600.0, 86_400.0, 300_000.0]).map(seconds)
UNTIL = st.sampled_from([0.0, 3600.0, 300_000.0]).map(lambda later: START + seconds(later))
DECISIONS = st.builds(
    Decision,
    verdict=st.sampled_from([one for one in Verdict if one is not Verdict.KEEP_LOOKING]),
    id=st.sampled_from([None, "d1", "d2"]),
    version=st.sampled_from([None, None, 3]),
    accept_duplicate=st.booleans(),
) | st.builds(Decision, verdict=st.just(Verdict.KEEP_LOOKING), until=UNTIL)
LOOK_LIMIT, LOG_LIMIT = 400, 100
# The same examples in every run: a failure in CI is the change's, never the draw's.
SLOWLY = settings(
    max_examples=150,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def interruption(data, at: datetime, closed: bool) -> ev.Evidence:
    kinds = [
        st.builds(ev.Noticed, at=st.just(at), happened=st.booleans(), receipt=RECEIPTS),
        st.builds(ev.Decided, at=st.just(at), decision=DECISIONS),
        st.builds(ev.Unreadable, at=st.just(at), why=st.just("null")),
        st.builds(ev.CancelRequested, at=st.just(at)),
    ]
    if closed:  # the watch goes on looking
        kinds.append(st.builds(ev.Looked, at=st.just(at), started=st.just(at), verification=SIGHTS))
    return data.draw(st.one_of(kinds))


def carried_out(data, story: Story, move: Move) -> ev.Evidence | None:
    """What the move makes known; None: only time passes."""
    match move:
        case Send():
            return ev.Dispatched(at=story.now, generation=move.generation)
        case Verify(at=at):
            story.at(max(story.now, at))
            started = story.now
            story.after(data.draw(DURATIONS))
            return ev.Looked(at=story.now, started=started, verification=data.draw(SIGHTS))
        case Fence(at=at):
            story.at(max(story.now, at))
            held = data.draw(st.booleans())
            return ev.Fenced(
                at=story.now, held=held, exists=None if held else data.draw(st.none() | RECEIPTS)
            )
        case Ask(why=why):
            return ev.Asked(at=story.now, why=why)
        case Escalate():
            return ev.Escalated(at=story.now)
        case Lapse():
            return ev.Lapsed(at=story.now)
        case Finish(state=state, why=why):
            return ev.Closed(at=story.now, state=state, why=why)
        case Wait() if story.record.in_flight:
            story.after(data.draw(DURATIONS))
            return ev.Attempted(
                at=story.now,
                outcome=data.draw(st.sampled_from(Sending)),
                receipt=data.draw(st.none() | RECEIPTS),
                retry_after=data.draw(st.sampled_from([None, None, 1.0, 120.0])),
            )
        case Wait(until=until):
            story.at(until or story.now + hours(1))
    return None


def check_move(record: Record, now: datetime) -> Move:
    move = next_move(record, now)
    if isinstance(move, Wait) and move.until is not None:
        assert move.until > now, "a wait that is over already"
    if isinstance(move, Send):
        assert record.in_flight is None
        assert record.confirmation is None
        assert record.closed is None
        if record.doubt:
            decision, looks = record.decision, record.looks
            ordered = decision is not None and decision.verdict is Verdict.RETRY
            if ordered and record.can_verify:
                assert looks.started is not None
                assert looks.started >= decision.at, "no fresh look before a retry"
                assert decision.accept_duplicate or looks.finding is Finding.NOT_FOUND
            elif not ordered:
                assert record.contract.key is not None, "a repeat without a key"
                assert (record.trace, record.accepted, record.rejection, record.stop) == (None,) * 4
                assert now + record.contract.timeout < record.key_since + (
                    record.contract.key.lifetime
                ), "the key may be forgotten"
    return move


def check_step(before: Record, evidence: ev.Evidence, now: datetime) -> Record:
    copy = before.model_copy(deep=True)
    after = before.with_evidence(evidence)
    assert before == copy, "the old record was changed"
    assert after == before.with_evidence(evidence), "not the same twice"
    revived = Record.model_validate_json(after.model_dump_json())
    assert revived == after
    assert next_move(revived, now) == next_move(after, now)
    assert after.version >= before.version
    assert len(after.log) <= LOG_LIMIT
    if before.confirmation:
        assert after.confirmation is not None
    if before.state is State.CONFIRMED:
        assert after.state is State.CONFIRMED
    if before.closed:
        assert isinstance(next_move(after, now), Finish)
        # A part of the effect, or one under way, may turn up: then not even "nothing" is certain.
        assert after.state in (before.state, State.CONFIRMED, State.UNKNOWN)
    if isinstance(evidence, ev.Looked) and evidence.verification.finding is Finding.UNKNOWN:
        assert after.spent - before.spent <= (1 if evidence.verification.trace else 0)
        assert not (after.absent and not before.absent), "a failed lookup proved absence"
    return after


@SLOWLY
@given(st.data())
def test_no_sequence_of_events_breaks_the_rules(data):
    sees, fences = data.draw(st.booleans()), data.draw(st.booleans())
    story = Story(data.draw(st.sampled_from(CONTRACTS)), sees=sees, fences=fences)
    if data.draw(st.booleans()):
        since = data.draw(st.sampled_from([None, START]))
        story.after(data.draw(WAITS)).earlier_run(since)
    for _ in range(data.draw(st.integers(3, 40))):
        story.after(data.draw(WAITS) if data.draw(st.booleans()) else seconds(0))
        move = check_move(story.record, story.now)
        closed = story.record.closed is not None
        if closed or data.draw(st.integers(0, 3)) == 0:
            evidence = interruption(data, story.now, closed)
        else:
            evidence = carried_out(data, story, move)
        if evidence is not None:
            story.record = check_step(story.record, evidence, story.now)


@SLOWLY
@given(
    contract=st.sampled_from(CONTRACTS),
    fences=st.booleans(),
    decision=st.none() | DECISIONS,
    seen=st.sampled_from([ev.unknown("503"), ev.not_found(), ev.pending("running")]),
)
def test_no_policy_runs_in_circles_without_time_passing(contract, fences, decision, seen):
    story = Story(contract, fences=fences).lost()
    if decision:
        story.says(decision.verdict, accept_duplicate=decision.accept_duplicate)
    last, idle = story.now, 0
    for _ in story.moves(lambda: seen, LOOK_LIMIT):
        idle = idle + 1 if story.now == last else 0
        last = story.now
        assert idle < 6


class HonestService:
    """It keeps the promises of the contract: one row per living key, Δ, λ, true lookups."""

    def __init__(self, data, contract):
        self.data, self.contract = data, contract
        self.requests: list[tuple[datetime, datetime, str, timedelta]] = []

    def receive(self, sent: datetime, key: str) -> None:
        commit = sent + self.data.draw(st.floats(0, 1)) * self.contract.in_flight
        lag = self.data.draw(st.floats(0, 1)) * self.contract.visibility_lag
        self.requests.append((commit, sent, key, lag))

    @property
    def rows(self) -> list[tuple[datetime, datetime]]:
        """When each row is committed and when it is visible, the future included."""
        rows, forgotten = [], {}
        for commit, sent, key, lag in sorted(self.requests):
            if self.contract.key and commit < forgotten.get(key, commit):
                continue
            rows.append((commit, commit + lag))
            if self.contract.key:
                forgotten[key] = sent + self.contract.key.lifetime
        return rows

    def look(self, at: datetime) -> ev.Verification:
        visible = [row for row in self.rows if row[1] <= at]
        if self.data.draw(st.integers(0, 3)) == 0:
            return ev.unknown("503")
        return ev.confirmed(matches=[Receipt()] * len(visible)) if visible else ev.not_found()


def attempt(data, story: Story, service: HonestService) -> None:
    story.dispatched()
    left = story.now + data.draw(st.floats(0, 1)) * story.record.contract.dispatch_limit
    outcome = data.draw(st.sampled_from(["lost", "lost", "landed", "down", "refused", "busy"]))
    if outcome == "landed":
        service.receive(left, story.record.key)
    story.at(left + seconds(1))
    answered = outcome == "landed" and service.requests[-1][0] <= story.now
    if answered and data.draw(st.booleans()):
        story.ended(Sending.ANSWERED)
    else:
        clean = {"down": Sending.NOT_SENT, "refused": Sending.REFUSED}
        clean["busy"] = Sending.REFUSED_FOR_NOW
        story.ended(clean.get(outcome, Sending.AMBIGUOUS))


HONEST = [
    PLAIN, KEYED, REMEMBERS_FAILURES, but(PLAIN, misses=2),
    but(KEYED, key=KeySupport(lifetime=seconds(600)), in_flight=seconds(90)),
]  # fmt: skip


@SLOWLY
@given(st.data())
def test_against_a_service_that_keeps_its_promises_an_effect_happens_once_or_not_at_all(data):
    contract = data.draw(st.sampled_from(HONEST))
    story, service = Story(contract), HonestService(data, contract)
    for _ in range(120):
        move = story.move
        if story.record.doubt and data.draw(st.integers(0, 4)) == 0:
            story.says(data.draw(st.sampled_from([Verdict.RETRY, Verdict.ABANDON])))
            story.after(data.draw(WAITS))
            move = story.move
        match move:
            case Send():
                attempt(data, story, service)
            case Verify(at=at):
                story.at(max(story.now, at))
                read = story.now + data.draw(st.floats(0, 1)) * seconds(5)
                seen = service.look(read)
                story.looks(seen, took=seconds(5))
            case Ask():
                story.asked()
            case Escalate():
                story.knows(ev.Escalated(at=story.now))
            case Wait(until=until):
                story.at(until)
            case Finish(state=state):
                assert len(service.rows) == (1 if state is State.CONFIRMED else 0)
                return
        assert len(service.rows) <= 1
