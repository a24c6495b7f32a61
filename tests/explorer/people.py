"""Humans, operators, webhooks and outages: they act at any time, each act one departure."""

from collections.abc import Iterator

from surestep import evidence as ev
from surestep.decision import Decision, Verdict
from surestep.evidence import Receipt

from . import laws
from .clock import moment
from .lookups import receipt
from .state import Attempt, Scene, State, Step, final, known, planned
from .ways import learn
from .world import Change, Event, World, advance, arrive

MAY_SPEAK = 3  # times
MAY_NOTIFY = 2


def interventions(scene: Scene, state: State) -> Iterator[Step]:
    record, crew = state.record, state.crew
    if crew.in_mind:
        after = state._replace(crew=crew._replace(in_mind=None))
        yield _decide(scene, after, crew.in_mind, "which was true", state.world, departs=True)
    elif scene.human == "slow" and record.closed is None:
        yield from _make_up_a_mind(scene, state)
    elif scene.human != "asked" and record.closed is None:
        for decision, note, world in _decisions(scene, state):
            step = _decide(scene, state, decision, note, world, departs=True)
            if step.broken or decision.id in step.state.record.decided:
                yield step
    if scene.human != "asked" and crew.last_decision:
        yield from _decide_again(scene, state, crew.last_decision)
    if scene.cancels and not crew.cancelled and record.closed is None:
        told = [(state.now, "operator", "cancels the step")]
        after = state._replace(crew=crew._replace(cancelled=True))
        yield learn(scene, after, told, ev.CancelRequested(at=moment(state.now)), departs=True)
    if scene.notices and crew.notices < MAY_NOTIFY:
        for notice in _notices(state):
            yield _notify(scene, state, notice, departs=True)
    if scene.resets and not crew.resets:
        yield from _resets(scene, state)
    if scene.outage and not crew.outages:
        yield _outage(scene, state)


def answers(scene: Scene, state: State) -> Iterator[Step]:
    """The action is parked. Each truthful answer settles it, and so does a notice."""
    for decision, note, world in _truths(scene, state):
        step = _decide(scene, state, decision, note, world, departs=False)
        taken = decision.id in step.state.record.decided
        broken = None if taken else laws.TRUTH_IS_TAKEN
        yield step._replace(answers=True, broken=step.broken or broken)
    for notice in _notices(state):
        if notice.happened:
            step = _notify(scene, state, notice, departs=False)
            broken = None if step.state.record.confirmation else laws.NOTICE_SETTLES
            yield step._replace(answers=True, broken=step.broken or broken)


def _decisions(scene: Scene, state: State) -> Iterator[tuple[Decision, str, World]]:
    if state.crew.spoken >= MAY_SPEAK:
        return
    if scene.human == "truthful":
        yield from _truths(scene, state)
        return
    yield _say(state, Verdict.RETRY), "without knowing", state.world
    yield _say(state, Verdict.ABANDON), "without knowing", state.world
    if scene.human == "mistaken":
        yield _say(state, Verdict.CONFIRM), "without knowing", state.world


def _truths(scene: Scene, state: State) -> Iterator[tuple[Decision, str, World]]:
    """What a human who knows everything may say; nothing while a request may still land."""
    world = state.world
    if any(one.whole for one in world.effects):
        yield _say(state, Verdict.CONFIRM), "truthfully", world
    elif world.effects:
        half = world.effects[0]
        whole = world._replace(effects=(Change(half.key, half.at, True),))
        yield _say(state, Verdict.CONFIRM), "after completing the half by hand", whole
        undone = world._replace(effects=(), memories=())
        decision = _say(state, Verdict.ABANDON, accept_duplicate=True)
        yield decision, "after undoing the half by hand", undone
    elif not isinstance(state.running, Attempt) and not final(scene.service, state):
        if not state.record.stop and state.crew.spoken < MAY_SPEAK:
            yield _say(state, Verdict.RETRY), "truthfully", world
        yield _say(state, Verdict.ABANDON), "truthfully", world


def _make_up_a_mind(scene: Scene, state: State) -> Iterator[Step]:
    """The decision names the version that was read, and is sent at any time later (R13)."""
    if state.crew.spoken:
        return
    for decision, _, world in _truths(scene, state):
        if world is state.world:
            told = [(state.now, "human", f"reads the record, means to say {decision.verdict}")]
            after = state._replace(crew=state.crew._replace(in_mind=decision))
            yield Step(True, told, after)


def _say(state: State, verdict: Verdict, *, accept_duplicate: bool = False) -> Decision:
    return Decision(
        verdict=verdict,
        by="Ada",
        id=f"decision-{state.crew.spoken + 1}",
        version=state.record.version,
        accept_duplicate=accept_duplicate,
    )


def _decide(
    scene: Scene, state: State, decision: Decision, note: str, world: World, *, departs: bool
) -> Step:
    told = [(state.now, "human", f"says {decision.verdict}, {note}")]
    crew = state.crew._replace(
        spoken=state.crew.spoken + 1,
        last_decision=None if scene.human == "asked" else decision,
    )
    after = state._replace(crew=crew, world=world, calm=0)
    decided = ev.Decided(at=moment(state.now), decision=decision)
    return learn(scene, after, told, decided, departs=departs)


def _decide_again(scene: Scene, state: State, decision: Decision) -> Iterator[Step]:
    """The same decision is delivered a second time, without the version that it answered."""
    if decision.id not in state.record.decided:
        return
    again = decision.model_copy(update={"version": None})
    told = [(state.now, "temporal", f"delivers {decision.id} again")]
    step = learn(scene, state, told, ev.Decided(at=moment(state.now), decision=again), departs=True)
    if known(step.state.record) != known(state.record):
        yield step._replace(broken=laws.APPLIED_ONCE)


def _notices(state: State) -> Iterator[ev.Noticed]:
    at, world = moment(state.now), state.world
    for effect in world.effects[:1]:
        if effect.whole:
            yield ev.Noticed(at=at, happened=True, receipt=receipt(effect))
    if any(job.fate == "failed" and job.ends <= state.now for job in world.jobs):
        yield ev.Noticed(at=at, happened=False, receipt=Receipt(), why="the job failed")


def _notify(scene: Scene, state: State, notice: ev.Noticed, *, departs: bool) -> Step:
    crew = state.crew._replace(notices=state.crew.notices + 1)
    said = "it happened" if notice.happened else notice.why
    told = [(state.now, "service", f"sends a notice: {said}")]
    return learn(scene, state._replace(crew=crew), told, notice, departs=departs)


def _resets(scene: Scene, state: State) -> Iterator[Step]:
    """An operator resets the step: to its start, to before the last send, or to its middle.

    The old run's worker sends nothing more (its mark is refused); what it has sent is under way.
    """
    now, crew = state.now, state.crew
    gone = state.world._replace(
        under_way=tuple(one for one in state.world.under_way if one.sent <= now)
    )
    crew = crew._replace(
        resets=crew.resets + 1, before_send=None, last_decision=None, cancelled=False
    )
    fresh = state._replace(world=gone, running=None, left=True, calm=0, crew=crew)
    since = moment(0) if scene.since else None
    earlier = ev.EarlierRun(at=moment(now), since=since, why="the step was reset")

    def reset(record: object, to: str, *evidence: ev.Evidence) -> Step:
        told: list[Event] = [(now, "operator", f"resets the step to {to}")]
        begun = fresh._replace(record=record)
        return learn(scene, begun, told, *evidence, departs=True)

    yield reset(planned(scene.service, now), "its start", earlier)
    if state.crew.last_decision:
        # Temporal gives the signals of the old run to the new one.
        again = state.crew.last_decision
        for version in {again.version, None}:
            decision = again.model_copy(update={"version": version})
            decided = ev.Decided(at=moment(now), decision=decision)
            to = f"its start; {again.verdict} is given to it again, with version {version}"
            yield reset(planned(scene.service, now), to, earlier, decided)
    if state.crew.before_send:
        yield reset(state.crew.before_send, "right before its last send", earlier)
    if state.record.in_flight:
        lost = ev.Attempted(at=moment(now), outcome=ev.Sending.AMBIGUOUS, why="not repeated")
        yield reset(state.record, "the middle of its attempt", lost, earlier)


def _outage(scene: Scene, state: State) -> Step:
    """No worker runs for a while; the service goes on."""
    until = state.now + scene.outage
    world, events, running = state.world, [], state.running
    now = state.now
    if isinstance(running, Attempt) and running.asks and running.ends <= until:
        # The service answers meanwhile; that is learned when everything runs again.
        world, events = advance(scene.service, world, now, running.ends)
        world, (answer, said) = arrive(scene.service, world, running.asks)
        events.append((running.ends, "service", said))
        now, running = running.ends, running._replace(outcome=answer, asks=None)
    world, more = advance(scene.service, world, now, until)
    events += more
    crew = state.crew._replace(outages=1)
    after = state._replace(world=world, now=until, running=running, crew=crew)
    told = [(state.now, "outage", f"nothing runs until {until}"), *events]
    return Step(True, told, after, laws.of_state(scene, state, after))
