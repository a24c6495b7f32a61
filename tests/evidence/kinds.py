"""The native contracts of E2: what services of each kind really do."""

from dataclasses import dataclass
from typing import Final

KEY_LIFE: Final = 7 * 86_400.0
SLOWEST: Final = 7500.0  # seconds; nothing commits, and no job ends, later than this


@dataclass(frozen=True)
class Kind:
    """looks    there is a lookup
    lags     seconds, uniform, until a lookup shows a commit
    recent   a list of the last so many seconds shows it at once; a tool looks into both
    works    it answers 202 and works on it
    keyed    it honours keys
    items    effects that one intent has
    """

    looks: bool = True
    lags: tuple[float, float] = (0.0, 0.0)
    recent: float = 0.0
    works: bool = False
    keyed: bool = False
    items: int = 1


BATCH: Final = "non-atomic batch"
KINDS: Final = {
    "keyed": Kind(keyed=True),
    "lagging list": Kind(lags=(0.0, 60.0)),
    "no read-back": Kind(looks=False),
    "recent list, lagging search": Kind(lags=(300.0, 1200.0), recent=600.0),
    BATCH: Kind(items=3),
    "asynchronous": Kind(works=True),
}
