"""One state of the exploration: what the record knows, what is true, and the time."""

from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from surestep.decision import Decision
from surestep.evidence import Sending, Verification
from surestep.record import Record, plan

from .clock import moment
from .service import Service
from .world import Change, Event, Request, World, advance, arrive, next_event


@dataclass(frozen=True)
class Scene:
    """A service, and who acts beside it.

    human     "asked": speaks the truth once everything else is settled; "truthful": also at any
              other time; "slow": what was true when the record was read is said any time later;
              "hasty": says retry or abandon without knowing; "mistaken": says anything
    outage    the workers and the workflow may stand still for so long, once
    since     whether a reset knows when the first run started
    told      the laws are waived, but a late effect must reach a human (R17)
    forgotten the step was performed long ago, and nobody here knows
    """

    name: str
    service: Service
    human: str = "asked"
    cancels: bool = False
    resets: bool = False
    notices: bool = False
    outage: int = 0
    since: bool = True
    told: bool = False
    forgotten: bool = False


class Attempt(NamedTuple):
    """An attempt that a worker has, or will take; `asks` lands when it ends, and is answered.

    `before`: what the worker saw when it looked first. `retry_after`: what the service asked for.
    """

    ends: int
    outcome: Sending | None
    asks: Request | None
    before: Verification | None
    retry_after: float | None


class Looking(NamedTuple):
    """A lookup under way; what it has `seen`, unless it reads at its end."""

    started: int
    ends: int
    seen: Verification | None


class Crew(NamedTuple):
    """What people and machines have done so far."""

    spoken: int = 0
    notices: int = 0
    cancelled: bool = False
    resets: int = 0
    outages: int = 0
    last_decision: Decision | None = None
    in_mind: Decision | None = None
    before_send: Record | None = None


class State(NamedTuple):
    """`left`: an attempt may have left the worker. `calm`: looks since nothing happens any more."""

    record: Record
    world: World
    now: int
    running: Attempt | Looking | None = None
    left: bool = False
    calm: int = 0
    crew: Crew = Crew()


class Step(NamedTuple):
    """One way on.

    `departs`: the environment was not at its kindest. `broken`: a law. `answers`: it is one of the
    ways to settle what is parked.
    """

    departs: bool
    told: list[Event]
    state: State
    broken: str | None = None
    answers: bool = False


def first(scene: Scene) -> State:
    record = planned(scene.service, 0)
    if not scene.forgotten:
        return State(record, World(), 0)
    lag = scene.service.lag
    request = Request(1, -1 - lag, -1 - lag)
    world, _ = arrive(scene.service, World(), request)
    return State(record, world, 0, left=True)


def planned(service: Service, at: int) -> Record:
    return plan(
        action_id="refund/order-7781/refund",
        name="refund",
        tool="refund",
        arguments={},
        input_hash="v1:0",
        contract=service.promise,
        can_verify=service.can_verify,
        can_fence=service.can_fence,
        at=moment(at),
    )


def final(service: Service, state: State) -> tuple[Change, ...]:
    """The effects that there will be once everything under way has ended."""
    world, running = state.world, state.running
    if isinstance(running, Attempt) and running.asks:
        world = world._replace(under_way=(*world.under_way, running.asks))
    if next_event(world, state.now) > 10**8:
        return world.effects
    return advance(service, world, state.now, 10**8)[0].effects


def quiet(service: Service, state: State) -> bool:
    """Nothing happens any more, and every lookup shows everything."""
    world, now = state.world, state.now
    if state.running or world.under_way:
        return False
    changes = [one.at for one in world.effects] + [one.ends for one in world.jobs]
    return not changes or max(changes) + service.lag <= now


# Nothing is ever decided by these: who and what the action is does not change, and words,
# versions and counts of refusals are for people.
_WORDS = {
    "action_id", "name", "tool", "arguments", "input_hash", "contract", "can_verify", "can_fence",
    "undo_tool", "recognised", "subject", "version", "log", "looks", "asked_why", "confirmed_by",
    "refused_decisions",
}  # fmt: skip
_KNOWN = attrgetter(*(field for field in Record.model_fields if field not in _WORDS))
_LOOKED = attrgetter("count", "misses", "failures", "started", "at", "finding")


def known(record: Record) -> tuple[object, ...]:
    """All of a record by which anything is ever decided."""
    return (*_KNOWN(record), *_LOOKED(record.looks))


def identity(state: State) -> int:
    """A 64-bit hash stands for the state (hash compaction)."""
    crew = state.crew
    before = crew.before_send
    return hash(
        (
            known(state.record),
            state[1:-1],
            crew[:-1],
            known(before) if before else None,
        )
    )
