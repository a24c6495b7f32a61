"""The human of a chaos run: tells the truth, once nothing of the action can land any more."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from surestep import Verdict
from surestep.record import Record
from surestep.testing.human import Word, truthful
from surestep.testing.ledger import EffectRow
from tests.chaos.fleet import Fleet
from tests.chaos.plan import PlannedAction
from tests.matrix.columns import TIMEOUT

WAKES: Final = 2.0  # seconds until a thawed process has noticed the time
MARGIN: Final = 1.0
RETRIES: Final = 1


class Knowing:
    """What a retry did not bring about is given up. `asked`: every question, by actionId."""

    def __init__(self, fleet: Fleet, actions: dict[str, PlannedAction]) -> None:
        self._fleet, self._actions = fleet, actions
        self._retries: dict[str, int] = {}
        self.asked: dict[str, set[datetime]] = {}

    def says(self, record: Record, effects: Sequence[EffectRow]) -> Word | None:
        key = record.action_id
        assert record.asked
        self.asked.setdefault(key, set()).add(record.asked)
        if not self._settled(record):
            return None
        word = truthful(record, effects)
        if word.verdict is Verdict.RETRY:
            tried = self._retries[key] = self._retries.get(key, 0) + 1
            if tried > RETRIES:
                return Word(Verdict.ABANDON, word.note, accept_duplicate=word.accept_duplicate)
        return word

    def _settled(self, record: Record) -> bool:
        """Whether every request that left has had its effect, and no further one can leave."""
        # A worker that was not heard may go on until its deadline, and may fall asleep until then.
        deadline = (record.ended or record.planned_at) + timedelta(seconds=TIMEOUT)
        awake = self._fleet.awake_since(deadline)
        if awake is None:
            return False
        last = max(deadline, awake + timedelta(seconds=WAKES))
        lands = self._actions[record.action_id].lands
        return datetime.now(UTC) > last + timedelta(seconds=lands + MARGIN)
