"""The sentences that must hold, each checked against what is true and not against the record."""

from datetime import timedelta

from surestep.agenda import backoff
from surestep.evidence import State as Known
from surestep.policy import Ask, Finish, Send
from surestep.record import Record

from .clock import moment
from .state import Scene, State, final

ONE_EFFECT = "never two effects of one action"
CONFIRMED_IS_TRUE = "never `confirmed` without an effect"
ABSENT_IS_TRUE = "never `not_found`, `rejected` or proven absent with an effect, now or later"
PLANNED_IS_TRUE = "never `planned` when something may have been sent that takes effect"
VERSION_GROWS = "a record's version never decreases"
NO_SEND_AFTER_STOP = "nothing is sent after a cancel or a stop (R14)"
SENDS_ARE_COUNTED = "without a human, no more sends than the contract allows"
NEW_KEY_IS_CLEAN = "a new key only when the old one applied nothing and never will (R2)"
LOOK_IS_LEFT = "nobody is asked before the last attempt was looked at (R10)"
KEY_BEFORE_HUMAN = "nobody is asked while the key may still be used"
UNSENT_COMPLETES = "what was provably never sent completes, without a human (R18)"
NO_EARLY_END = "an action ends `not_found` only when stopped, abandoned or out of sends"
SOMEBODY_IS_ASKED = "what cannot be known is put to a human"
NOT_STUCK = "no action is stuck while evidence is to be had"
ENDS = "with the environment kind, an action ends or is parked within a bounded number of moves"
TRUTH_IS_TAKEN = "a human who tells the truth settles an action that is parked"
NOTICE_SETTLES = "a notice of the effect settles an action that is parked"
APPLIED_ONCE = "a decision is applied once; delivered again, it changes nothing"
LATE_IS_TOLD = "an effect that contradicts a verdict is an anomaly that reaches a human (R17)"


def of_state(scene: Scene, before: State, after: State) -> str | None:
    """Safety: what the record claims is true, now and later."""
    record, effects = after.record, after.world.effects
    if record.version < before.record.version:
        return VERSION_GROWS
    if scene.told:
        return None
    if len(effects) > 1:
        return ONE_EFFECT
    state = record.state
    if state is Known.CONFIRMED:
        return None if any(one.whole for one in effects) else CONFIRMED_IS_TRUE
    claims_absence = record.absent or state in (Known.NOT_FOUND, Known.REJECTED)
    if claims_absence and final(scene.service, after):
        return ABSENT_IS_TRUE
    if state is Known.PLANNED and not scene.forgotten and final(scene.service, after):
        return PLANNED_IS_TRUE
    return None


def of_send(scene: Scene, state: State, move: Send) -> str | None:
    record = state.record
    if scene.told:
        return None
    if record.stop or state.crew.cancelled:
        return NO_SEND_AFTER_STOP
    if record.spent >= record.contract.sends and record.decision is None:
        return SENDS_ARE_COUNTED
    if move.generation != record.generation and final(scene.service, state):
        return NEW_KEY_IS_CLEAN
    return None


def of_ask(state: State, move: Ask) -> str | None:
    record = state.record
    if not state.left:
        return UNSENT_COMPLETES
    if record.can_verify and not record.looks.count and not record.accepted:
        return LOOK_IS_LEFT
    usable = key_is_usable(record, state.now) and not keys_unknown(state)
    return KEY_BEFORE_HUMAN if usable else None


def of_finish(state: State, move: Finish) -> str | None:
    record = state.record
    if move.state is not Known.NOT_FOUND or record.closed:
        return None
    if record.stop or record.decision or record.spent >= record.contract.sends:
        return None
    return NO_EARLY_END if state.left else UNSENT_COMPLETES


def of_parked(scene: Scene, state: State) -> str | None:
    """Liveness: only what cannot be known stays with a human."""
    record, contract = state.record, state.record.contract
    if record.asked is None:
        return SOMEBODY_IS_ASKED
    if not state.left:
        return UNSENT_COMPLETES
    if record.trace:
        return None
    mine = [one for one in state.world.effects if one.key == record.generation]
    if record.can_verify and mine:
        return NOT_STUCK
    if keys_unknown(state):
        return None
    if record.can_fence and not record.fenced and (record.stop or not record.accepted):
        return NOT_STUCK
    provable = record.can_verify and contract.settles_after is not None and not record.accepted
    return NOT_STUCK if provable else None


def of_end(scene: Scene, state: State) -> str | None:
    """R17, where a human's word may be wrong: what shows before the horizon reaches a human."""
    record = state.record
    if not scene.told or not record.can_verify or record.closed is None:
        return None
    if record.state not in (Known.NOT_FOUND, Known.REJECTED):
        return None
    horizon = record.closed.at + record.contract.watch
    lag = scene.service.lag
    shown = [one for one in final(scene.service, state) if moment(one.at + lag) <= horizon]
    return LATE_IS_TOLD if shown else None


def keys_unknown(state: State) -> bool:
    """A lookup and a fence ask for one key. After a reset nobody knows which keys there were."""
    record, key = state.record, state.record.contract.key
    renews = record.can_fence or (key is not None and key.stores_failures)
    return state.crew.resets > 0 and renews


def key_is_usable(record: Record, now: int) -> bool:
    """R4 c, in the words of the design: no attempt commits after the first may be forgotten."""
    contract, doubt = record.contract, record.doubt
    if contract.key is None or record.key_dead or record.key_since is None or doubt is None:
        return False
    if record.stop or record.rejection or record.trace or record.accepted or record.fenced:
        return False
    if record.spent >= contract.sends:
        return False
    pause = backoff(record.spent, timedelta(minutes=5))
    send = max(moment(now), doubt.latest + pause, record.not_before or moment(now))
    lands = send + contract.dispatch_limit + contract.in_flight_bound
    return lands < record.key_since + contract.key.lifetime
