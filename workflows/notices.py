"""What a service says by itself: whom it means, and whether it counts."""

from collections.abc import Iterable

from surestep import evidence as ev
from surestep.evidence import Receipt
from surestep.identity import wire_key
from surestep.notice import Notice
from surestep.questions import NoticeOrder
from surestep.record import Record
from workflows import dispatch
from workflows.clock import Clock

SAID_LIMIT = 50


def keys_of(record: Record) -> tuple[str, ...]:
    """The keys of every generation."""
    return tuple(wire_key(record.action_id, n + 1) for n in range(record.generation))


def meant_by(notice: Notice, records: Iterable[Record]) -> Record | None:
    """The record of the action that the notice is about; None: of none of these."""
    return next((one for one in records if notice.key in (*keys_of(one), one.name)), None)


class Said:
    """What was said of records to which nothing has come since: saying it again adds nothing.

    A service may repeat itself by the thousand, and each notice is examined by an activity.
    """

    def __init__(self) -> None:
        self._of: dict[str, tuple[Record, tuple[Notice, ...]]] = {}

    def holds(self, record: Record, notice: Notice) -> bool:
        """Whether this was said of the record as it is."""
        known, notices = self._of.get(record.name, (None, ()))
        return known is record and notice in notices

    def add(self, before: Record, notice: Notice, after: Record) -> None:
        """The notice has made the one record of the other."""
        known, notices = self._of.get(before.name, (None, ()))
        kept = notices if known is before else ()
        self._of[before.name] = after, (*kept, notice)[-SAID_LIMIT:]


async def heard(notice: Notice, record: Record, clock: Clock) -> ev.Noticed | ev.Hinted:
    """The evidence that the notice is, once it is found out whether it counts."""
    order = NoticeOrder(notice=notice, tool=record.tool, keys=keys_of(record), now=clock.now())
    examined = await dispatch.examine_notice(order)
    clock.hold(examined.now)
    if examined.objection:
        return ev.Hinted(at=clock.now(), why=examined.objection)
    receipt = Receipt(id=notice.id, status=notice.status)
    happened, why = notice.happened, notice.why
    return ev.Noticed(at=clock.now(), happened=happened, receipt=receipt, why=why)
