"""The final word on an agent run: what it really did, from the records alone."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from pydantic import AwareDatetime
from temporalio.service import RPCError, RPCStatusCode

from surestep import visibility
from surestep.agents.deed import Deed, Standing
from surestep.agents.ledger import RunLedger
from surestep.agents.scope import check_run, prefix
from surestep.agents.survey import Survey
from surestep.client import Surestep
from surestep.narrative import when
from surestep.tool import Tool
from surestep.value import Value

LISTED: Final = 10_000  # steps of one run under ids of their own

_GONE: Final = "steps that the server's retention has removed are not in it"

_ORDER: Final = {
    Standing.DONE: "Done",
    Standing.OPEN: "Open: it is not known yet whether it happened",
    Standing.UNKNOWN: "Unknown: it may have happened, and nobody looks any more",
    Standing.UNDONE: "Done, and undone",
    Standing.REFUSED: "Refused by the service, which applied nothing",
    Standing.WITHOUT_EFFECT: "Without an effect",
}


class Report(Value):
    """What a run did. `model_dump_json()` is the same as JSON.

    tools  whose numbered steps were asked for one by one; of these none can be missing
    notes  what may be missing
    """

    run: str
    at: AwareDatetime
    tools: tuple[str, ...]
    deeds: tuple[Deed, ...]
    notes: tuple[str, ...] = ()

    def of(self, *standings: Standing) -> tuple[Deed, ...]:
        """The deeds that stand so."""
        return tuple(one for one in self.deeds if one.standing in standings)

    @property
    def done(self) -> tuple[Deed, ...]:
        return self.of(Standing.DONE)

    @property
    def open(self) -> tuple[Deed, ...]:
        """What is not settled, also what will never be."""
        return self.of(Standing.OPEN, Standing.UNKNOWN)

    @property
    def refused(self) -> tuple[Deed, ...]:
        """What had no effect."""
        return self.of(Standing.REFUSED, Standing.WITHOUT_EFFECT)

    @property
    def anomalous(self) -> tuple[Deed, ...]:
        """What a person must look into."""
        return tuple(one for one in self.deeds if one.anomalies)

    def text(self) -> str:
        """The report for a person, a line for each deed."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"Agent run {' '.join(self.run.split())}, as recorded at {when(self.at)}:"
        if not self.deeds:
            yield "  Nothing is recorded."
        for standing, title in _ORDER.items():
            found = self.of(standing)
            if found:
                yield f"{title}:"
                yield from (f"  {one.line}" for one in found)
        if self.anomalous:
            yield "A person must look into these:"
        for one in self.anomalous:
            for two in one.anomalies:
                yield f"  {one.action_id}: {two.kind}, {' '.join(two.why.split())}"
        yield from (f"Note: {note}." for note in self.notes)


async def report(
    surestep: Surestep,
    run: str,
    *,
    tools: Iterable[Tool | str] = (),
    steps: Iterable[str] = (),
) -> Report:
    """What the run really did, what is open, and what was refused.

    tools  those that its agent has, an `AgentTools` for instance: their steps, numbered in the
           run, are asked for one by one, so that none is missing, however new
    steps  ids of further steps that are known to belong to it

    Everything else that was started with this `run` is taken from the server's list, which may
    lag by some seconds; `Report.notes` says so. Calls that were refused before a step was started
    are recorded nowhere.
    """
    check_run(run)
    named = {one if isinstance(one, str) else one.name: one for one in tools}
    listed, notes = await _listed(surestep, run)
    names = sorted(named.keys() | _numbered(run, listed))
    kept = await RunLedger(surestep, run, names).steps()
    ids = dict.fromkeys([*(one.step_id for one in kept), *listed, *steps])
    known = {name: one for name, one in named.items() if isinstance(one, Tool)}
    deeds = await Survey(surestep, known).deeds(ids)
    return Report(
        run=run,
        at=datetime.now(UTC),
        tools=tuple(names),
        deeds=tuple(deeds),
        notes=(*notes, _GONE),
    )


async def _listed(surestep: Surestep, run: str) -> tuple[list[str], tuple[str, ...]]:
    """The ids that the server lists for this run, oldest first, and what that may leave out."""
    own = f"steps under ids of their own, and not {prefix(run)}/{{tool}}/{{number}}"
    if '"' in run or "\\" in run:  # the server finds no text with these in it
        return [], (f"{own}, cannot be listed for a run of this name",)
    query = "{} = '{}'".format(visibility.RUN, run.replace("'", "''"))
    try:
        found = await surestep.steps(query, limit=LISTED)
    except RPCError as error:
        if error.status not in (RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.UNIMPLEMENTED):
            raise
        return [], (f"{own}, are not listed on this server: run `python starter.py setup`",)
    ids = dict.fromkeys(one.step_id for one in reversed(found))
    lag = f"{own}, are missing if they were started in the last seconds"
    return list(ids), (lag,)


def _numbered(run: str, step_ids: Iterable[str]) -> set[str]:
    """The tools whose numbered steps are among these."""
    pattern = re.compile(re.escape(prefix(run)) + r"/([^/]+)/[1-9][0-9]*")
    matches = (pattern.fullmatch(one) for one in step_ids)
    return {match[1] for match in matches if match}
