"""The kinds of contract under chaos: the matrix's columns, with patience for workers that die."""

import os
from typing import Final

from surestep import Contract, Tool
from surestep.testing.faults import Commit, Look
from surestep.testing.service import READY_MADE
from tests.matrix.columns import Column, seconds
from tests.matrix.rows import ROWS, Row
from tests.matrix.theory import broken
from tests.matrix.tools import Style, declared, naive

SENDS: Final = 6
PATIENCE: Final = 15.0  # a look that dies with its worker is given up after 8 s
COMPLETES: Final = 15.0
SOON: Final = 5.0  # what lands later than this is left to contracts that promise no Δ
LATEST: Final = 12.0
LATE: Final = Row(f"late:{LATEST:g}")


class Kind(Column):
    """A column of the matrix; its service is one of the ready-made."""

    @property
    def contract(self) -> Contract:
        patient = {
            "sends": SENDS,
            "patience": seconds(PATIENCE),
            "completes_within": seconds(COMPLETES),
        }
        return super().contract.model_copy(update=patient)

    @property
    def slug(self) -> str:
        return self.title.replace("Δ λ", "promised").replace(", ", "_").replace(" ", "_")

    def rows(self, style: Style) -> list[Row]:
        """The faults that break no hypothesis here, also when blows make looks come later."""
        return [row for row in (*ROWS, LATE) if self._bears(style, row)]

    def _bears(self, style: Style, row: Row) -> bool:
        if broken(self, style, row) or (row.look and not self.looks):
            return False
        if self.keyed and row.chosen.fault.commit is Commit.IGNORING_KEY:
            return False  # H2: a worker's death makes the second request that shows it
        if row.lands(self.works) > (SOON if self.promised else LATEST + self.works):
            return False
        # A look that was to fail early may, after a worker's death, be the one that decides.
        return not (self.promised and _hides(style, row))


def _hides(style: Style, row: Row) -> bool:
    """Whether the tool reads the look's fault as "not there"."""
    look = row.chosen_look
    if look is None:
        return False
    nothing = look.fault.look is Look.EMPTY_JSON or look.text == "error:404"
    return look.fault.look is Look.MISS or (nothing and style is Style.NAIVE)


KINDS: Final = tuple(
    Kind(title, READY_MADE[service], promised="Δ λ" in title)
    for title, service in (
        ("keyed, Δ λ", "keyed"),
        ("keyed, no lookup", "keyed_blind"),
        ("lookup, Δ λ", "lookup"),
        ("lookup", "lookup"),
        ("lagging, Δ λ", "lagging"),
        ("blind", "blind"),
        ("asynchronous", "asynchronous"),
        ("fenced", "fenced"),
    )
)
BY_TITLE: Final = {kind.title: kind for kind in KINDS}


def tool(kind: Kind, style: Style, url: str) -> Tool:
    """The tool for one kind, written in one style, for the world at `url`."""
    make = naive if style is Style.NAIVE else declared
    return make(f"{style}_{kind.slug}", kind, url)


# Workers import this; whoever only makes actions needs no world.
_URL: Final = os.environ.get("WORLD_URL", "http://127.0.0.1:9")
TOOLS: Final = {(kind, style): tool(kind, style, _URL) for kind in KINDS for style in Style}
tools: Final = list(TOOLS.values())
