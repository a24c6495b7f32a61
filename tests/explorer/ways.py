"""The two ordinary ways on: something is learned, or time passes."""

from surestep.evidence import Evidence

from . import laws
from .state import Scene, State, Step
from .world import Event, advance, next_event


def learn(
    scene: Scene,
    state: State,
    told: list[Event],
    *evidence: Evidence,
    departs: bool = False,
    broken: str | None = None,
    **changes: object,
) -> Step:
    """The record is told; `changes` are of the state. Every law of states is checked here."""
    record = state.record
    for one in evidence:
        record = record.with_evidence(one)
    after = state._replace(record=record, **changes)
    return Step(departs, told, after, broken or laws.of_state(scene, state, after))


def wait(scene: Scene, state: State, until: int, told: tuple[Event, ...] = ()) -> Step:
    """Time passes, at most to the next event at the service: everything is asked anew there."""
    until = max(state.now, min(until, next_event(state.world, state.now)))
    world, events = advance(scene.service, state.world, state.now, until)
    after = state._replace(world=world, now=until)
    return Step(False, [*told, *events], after, laws.of_state(scene, state, after))
