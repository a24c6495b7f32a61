"""One attempt, from the dispatch to what the workflow learns of its end."""

from collections.abc import Iterator

from surestep import evidence as ev
from surestep.evidence import Finding, Sending, Verification
from surestep.policy import Send

from . import laws
from .clock import moment
from .fates import NOT_SENT, Fate, fates
from .lookups import receipt, sights
from .state import Attempt, Scene, State, Step
from .ways import learn
from .world import Event, advance, arrive

DEFINITE = (Sending.NOT_SENT, Sending.REFUSED_FOR_NOW, Sending.REFUSED)


def send(scene: Scene, state: State, move: Send) -> Iterator[Step]:
    broken, now, key = laws.of_send(scene, state, move), state.now, move.generation
    first = ", looking first" if move.look_first else ""
    text = f"Send attempt {move.number} under key generation {key}{first}"
    told: list[Event] = [(now, "policy", text)]
    crew = state.crew
    if scene.resets:
        crew = crew._replace(before_send=state.record)
    dispatched = ev.Dispatched(at=moment(now), generation=key)
    record = state.record.with_evidence(dispatched)
    begun = state._replace(record=record, crew=crew)
    before = None
    if move.look_first:
        before = next(sights(scene.service, state.world, key, now))
        if before.finding in (Finding.CONFIRMED, Finding.PENDING) or before.trace:
            fate = Fate("the worker looks first, finds it, and sends nothing", now, NOT_SENT)
            yield _dispatch(scene, begun, fate, told, before, departs=False, broken=broken)
            return
    for number, fate in enumerate(fates(scene.service, state.world, key, now)):
        yield _dispatch(scene, begun, fate, told, before, departs=number > 0, broken=broken)


def _dispatch(
    scene: Scene,
    state: State,
    fate: Fate,
    told: list[Event],
    before: Verification | None,
    *,
    departs: bool,
    broken: str | None,
) -> Step:
    told = [*told, (state.now, "network", fate.story)]
    under_way = (*state.world.under_way, *fate.sends)
    world = state.world._replace(under_way=under_way)
    attempt = Attempt(fate.ends, fate.outcome, fate.asks, before, fate.retry_after)
    world, events = advance(scene.service, world, state.now, state.now)
    begun = state._replace(world=world, running=attempt, calm=0)
    told += events
    if fate.ends > state.now:
        return Step(departs, told, begun, broken or laws.of_state(scene, state, begun))
    ended = end_attempt(scene, begun, attempt, told)
    return ended._replace(departs=departs, broken=broken or ended.broken)


def end_attempt(scene: Scene, state: State, attempt: Attempt, told: list[Event]) -> Step:
    world, outcome, now = state.world, attempt.outcome, state.now
    if attempt.asks:
        world, (outcome, said) = arrive(scene.service, world, attempt.asks)
        told = [*told, (attempt.ends, "service", said)]
    assert outcome
    told = [*told, (now, "worker", f"the attempt ended: {outcome}")]
    mine = [one for one in world.effects if one.key == state.record.generation]
    given = receipt(mine[0]) if mine and outcome is Sending.ANSWERED else None
    evidence: list[ev.Evidence] = []
    if attempt.before:
        # The earliest instant at which the worker can have read is that of the dispatch.
        started = state.record.in_flight or moment(now)
        looked = ev.Looked(at=moment(now), started=started, verification=attempt.before)
        evidence.append(looked)
    pause = attempt.retry_after
    attempted = ev.Attempted(at=moment(now), outcome=outcome, receipt=given, retry_after=pause)
    evidence.append(attempted)
    left = state.left or outcome not in DEFINITE
    return learn(scene, state, told, *evidence, world=world, running=None, left=left)
