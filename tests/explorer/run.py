"""The executor, as the workflow is: ask `next_move`, do it, add the evidence, repeat."""

from collections.abc import Iterator

from surestep import evidence as ev
from surestep import policy
from surestep.evidence import State as Known
from surestep.policy import Ask, Fence, Finish, Lapse, Send, Verify, Wait

from . import laws
from .clock import NEVER, moment, second
from .lookups import FAILED, receipt, sights
from .people import answers, interventions
from .sending import end_attempt, send
from .state import Attempt, Looking, Scene, State, Step, quiet
from .ways import learn, wait
from .world import Event, advance, fence, next_event

SLOW = 5  # seconds that a slow lookup takes


def steps(scene: Scene, state: State, *, kindly: bool = False) -> Iterator[Step]:
    """Every way on from here: what the policy wants with all that can become of it, and people.

    `kindly`: only those in which the environment does not depart from its kindest behaviour.
    """
    for step in _go_on(scene, state):
        yield step
        if kindly and not step.answers:
            return  # the kindest comes first
    if not kindly:
        yield from interventions(scene, state)


def _go_on(scene: Scene, state: State) -> Iterator[Step]:
    if state.running:
        yield _run_on(scene, state)
        return
    now, record = moment(state.now), state.record
    if record.closed:
        watch = policy.next_watch(record, now)
        if watch is not None:
            yield from _watch(scene, state, second(watch.at))
        return
    match move := policy.next_move(record, now):
        case Send():
            yield from send(scene, state, move)
        case Verify(at=at):
            if not _is_parked(scene, state):
                yield from _look(scene, state, second(at))
            else:
                yield from _parked(scene, state)
        case Fence():
            yield from _fence(scene, state)
        case Wait(until=None):
            event = next_event(state.world, state.now)
            if event < NEVER:
                yield wait(scene, state, event)
            else:
                yield from _parked(scene, state)
        case Wait(until=until):
            yield wait(scene, state, second(until))
        case Ask(why=why):
            told = [(state.now, "policy", f"Ask: {why}")]
            asked = ev.Asked(at=now, why=why)
            yield learn(scene, state, told, asked, broken=laws.of_ask(state, move))
        case Lapse():
            told = [(state.now, "policy", "Lapse")]
            yield learn(scene, state, told, ev.Lapsed(at=now))
        case Finish(state=end, why=why):
            told = [(state.now, "policy", f"Finish {end}: {why}")]
            closed = ev.Closed(at=now, state=end, why=why)
            yield learn(scene, state, told, closed, broken=laws.of_finish(state, move))


# looking and fencing


def _look(scene: Scene, state: State, at: int) -> Iterator[Step]:
    if at > state.now:
        yield wait(scene, state, at, ((state.now, "policy", f"look at {at}"),))
        return
    now, service = state.now, scene.service
    for number, seen in enumerate(sights(service, state.world, state.record.generation, now)):
        yield _end_look(scene, state, Looking(now, now, seen), departs=number > 0)
        if service.slow_looks:
            told = [(now, "lookup", f"reads at {now} and is slow")]
            running = Looking(now, now + SLOW, seen)
            yield Step(True, told, state._replace(running=running))
    if service.slow_looks:
        running = Looking(now, now + SLOW, None)
        told = [(now, "lookup", "is slow and reads at its end")]
        yield Step(True, told, state._replace(running=running))


def _watch(scene: Scene, state: State, at: int) -> Iterator[Step]:
    """Once a watch has a time for its look, it looks then: `next_watch` is not asked anew."""
    world, events = advance(scene.service, state.world, state.now, at)
    told: list[Event] = [(state.now, "policy", f"watch at {at}"), *events]
    then = state._replace(world=world, now=max(at, state.now))
    for step in _look(scene, then, at):
        yield step._replace(told=[*told, *step.told])


def _end_look(scene: Scene, state: State, look: Looking, *, departs: bool = False) -> Step:
    now, seen = state.now, look.seen
    if seen is None:
        seen = next(sights(scene.service, state.world, state.record.generation, now))
    told = [(now, "lookup", f"started at {look.started}: {seen.trace or seen.finding}")]
    calm = 0
    if seen is not FAILED and state.record.asked and quiet(scene.service, state):
        calm = state.calm + 1
    looked = ev.Looked(at=moment(now), started=moment(look.started), verification=seen)
    return learn(scene, state, told, looked, departs=departs, running=None, calm=calm)


def _fence(scene: Scene, state: State) -> Iterator[Step]:
    now, key = state.now, state.record.generation
    told: list[Event] = [(now, "policy", "Fence")]
    world, exists, held = fence(state.world, key)
    there = receipt(exists) if exists else None
    said = "held" if held else "the effect is there" if exists else "part of the effect is there"
    fenced = ev.Fenced(at=moment(now), held=held, exists=there)
    kind = [*told, (now, "service", f"fence: {said}")]
    yield learn(scene, state, kind, fenced, world=world)
    failed = ev.Fenced(at=moment(now), held=False, why="no answer")
    for story, after in (("is lost", state.world), ("takes hold, but its answer is lost", world)):
        lost = [*told, (now, "network", f"the fence {story}")]
        yield learn(scene, state, lost, failed, departs=True, world=after)


def _run_on(scene: Scene, state: State) -> Step:
    """A worker is busy: time passes to its end, or to the next event at the service."""
    running, told = state.running, []
    assert running
    if state.now < running.ends:
        step = wait(scene, state, running.ends)
        if step.broken or step.state.now < running.ends:
            return step
        state, told = step.state, step.told
    if isinstance(running, Attempt):
        return end_attempt(scene, state, running, told)
    ended = _end_look(scene, state, running)
    return ended._replace(told=[*told, *ended.told])


# parking


def _is_parked(scene: Scene, state: State) -> bool:
    """A human is asked, nothing happens any more, and the looks that could settle it are done."""
    record = state.record
    enough = state.calm > record.contract.misses
    return bool(record.asked and enough and record.decision is None and quiet(scene.service, state))


def _parked(scene: Scene, state: State) -> Iterator[Step]:
    broken = laws.of_parked(scene, state)
    if broken:
        yield Step(False, [(state.now, "nobody", "has anything left to do")], state, broken)
        return
    yield from answers(scene, state)


def ended(state: State) -> bool:
    record = state.record
    return record.closed is not None and policy.next_watch(record, moment(state.now)) is None


def kind_of_end(state: State) -> str:
    closed = state.record.closed
    return str(closed.state) if closed else str(Known.UNKNOWN)
