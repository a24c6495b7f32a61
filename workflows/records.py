"""The records of one step: what is known, and what was refused."""

from typing import Any

from surestep import evidence as ev
from surestep.evidence import Evidence
from surestep.fold import REFUSALS_LIMIT
from surestep.identity import RESULTS_LIMIT, undo_id
from surestep.protocol import EarlierStep, Plan, StepInput
from surestep.record import Record
from surestep.record import plan as planned
from workflows.board import Board
from workflows.chronicle import Chronicle
from workflows.clock import Clock

NOTES_LIMIT = 20  # refused messages that belong to no action
NOTE_LIMIT = 1000  # characters; with all of a step's names, the choice would be longer


class Records:
    """Records by action name. Every change goes through `learn` and is shown at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_name: dict[str, Record] = {}
        self.in_hand = 0  # decisions that have come in and are not applied yet
        self._carried = False
        self._notes: list[str] = []
        self._board: Board | None = None
        self._chronicle = Chronicle()
        self._earlier: ev.EarlierRun | None = None
        self._stop: ev.CancelRequested | None = None

    def __getitem__(self, name: str) -> Record:
        return self._by_name[name]

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def all(self) -> tuple[Record, ...]:
        return tuple(self._by_name.values())

    @property
    def planned(self) -> bool:
        return self._board is not None

    @property
    def visible(self) -> bool:
        return self._board is not None and self._board.visible

    @property
    def room(self) -> int:
        """Bytes of JSON that one result may have, so that all of them fit into one payload."""
        return RESULTS_LIMIT // max(len(self._by_name), 4)

    @property
    def told(self) -> dict[str, Any]:
        """What holds for actions that are planned later as well; a renewal carries it."""
        return {"earlier_run": self._earlier, "stop": self._stop}

    def carry(self, step: StepInput) -> None:
        """Take over what the run before this one knew."""
        records = step.records
        self._earlier, self._stop = step.earlier_run, step.stop
        self._carried = bool(records)
        self._by_name |= {record.name: record for record in records}

    def add(self, plan: Plan, ids: dict[str, str], run: str) -> None:
        """Records for planned actions."""
        self._chronicle.run = run
        for one in plan.actions:
            fields = one.model_dump(exclude={"undo", "contract"})
            self._add(
                planned(
                    action_id=ids[one.name],
                    at=self._clock.now(),
                    undo=one.undo,
                    contract=one.contract,
                    **fields,
                )
            )
        if self._board is None:
            self._board = Board(visible=plan.visible, run=run, renewed=self._carried)
            if self._carried:
                self.show()
        if plan.earlier:
            self.may_have_been_sent(plan.earlier)

    def add_undo(self, record: Record) -> str:
        """The name of the action that undoes `record`; planned now, if it was not before (R15)."""
        name = f"{record.name}/undo"
        if record.undo and name not in self._by_name:
            self._add(
                planned(
                    action_id=undo_id(record.action_id),
                    at=self._clock.now(),
                    name=name,
                    arguments=record.arguments,
                    input_hash=record.input_hash,
                    subject=record.confirmation,
                    recognised=record.recognised,
                    personal=record.personal,
                    begin_by=record.undo_until,
                    **dict(record.undo),
                )
            )
        return name

    def _add(self, record: Record) -> None:
        self._by_name[record.name] = record
        self._chronicle.planned(record)
        for known in (self._earlier, self._stop):
            if known:
                self.learn(record.name, known)

    def learn(self, name: str, evidence: Evidence) -> None:
        before = self._by_name[name]
        after = self._by_name[name] = before.with_evidence(evidence)
        self._chronicle.learned(before, after, evidence)
        # A flood changes a number only. To show it each time would take a workflow task too long.
        if not after.refused_decisions > before.refused_decisions > REFUSALS_LIMIT:
            self.show()

    def show(self) -> None:
        if self._board:
            self._board.show(self.all(), self._notes, self._clock.now())

    def may_have_been_sent(self, earlier: EarlierStep) -> None:
        """An earlier run, of which these records know nothing, may have sent any open action."""
        self._earlier = ev.EarlierRun(at=self._clock.now(), since=earlier.since, why=earlier.why)
        for record in self.all():
            if record.closed is None:
                self.learn(record.name, self._earlier)

    def stop(self, why: str, *names: str) -> None:
        """Nothing more may be sent, of all actions or of those named (R14)."""
        evidence = ev.CancelRequested(at=self._clock.now(), why=why)
        if not names:
            self._stop = evidence
        for name in names or tuple(self._by_name):
            self.learn(name, evidence)

    def refuse(self, why: str) -> str:
        """Record a message that belongs to no action or says nothing; the step's state."""
        records, why = self.all(), why[:NOTE_LIMIT]
        if len(records) == 1:
            self.learn(records[0].name, ev.Unreadable(at=self._clock.now(), why=why))
        else:
            self._notes = [*self._notes, why][-NOTES_LIMIT:]
            self._chronicle.refused()
            self.show()
        return records[0].state.value if records else "planned"
