"""What one service of the world promises, and the ready-made ones by name."""

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final, Literal

NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")

FAILS_IN_FRONT_OF_KEYS: Final = frozenset({401, 429, 502, 503, 504})
"""Statuses that come from a gateway; no key memory ever stores them, `stores_failures` or not."""


@dataclass(frozen=True)
class Service:
    """One service under `/{name}/` and its native contract; immutable.

    `key_lifetime`: how long a key is honoured, counted from its first use; None: keys are ignored.
    `forgets`: what happens to a key after its lifetime: applied anew, or refused with 409.
    `stores_failures`: a failure is stored under the key and replayed until the key dies, even
    where the effect was committed (`error_after`); never for FAILS_IN_FRONT_OF_KEYS.
    `lookup`: False makes the service blind: reading effects answers 405.
    `lag`: how long after a commit a lookup begins to show it.
    `accepts_for`: a write is answered 202 and commits this much later; None: at once, 201.
    `fences`: whether `POST /{name}/fences` exists; where it does not, it answers 405.

    Raises ValueError for a name that cannot stand in a path and for negative times.
    """

    name: str
    _: KW_ONLY
    key_lifetime: timedelta | None = None
    forgets: Literal["treat_as_new", "refuse"] = "treat_as_new"
    stores_failures: bool = False
    lookup: bool = True
    lag: timedelta = timedelta(0)
    accepts_for: timedelta | None = None
    fences: bool = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(
                f"{self.name!r} cannot be a service name: use lower-case letters, digits, - and _, "
                "beginning with a letter"
            )
        for time in (self.key_lifetime, self.lag, self.accepts_for):
            if time is not None and time < timedelta(0):
                raise ValueError(f"service {self.name!r} has a negative time: {time}")


READY_MADE: Final[Mapping[str, Service]] = MappingProxyType(
    {
        service.name: service
        for service in (
            Service("keyed", key_lifetime=timedelta(hours=24)),
            Service("keyed_blind", key_lifetime=timedelta(hours=24), lookup=False),
            Service("lookup"),
            Service("lagging", lag=timedelta(seconds=2)),
            Service("blind", lookup=False),
            Service("asynchronous", accepts_for=timedelta(seconds=2)),
            Service("fenced", fences=True),
        )
    }
)
"""The services that a world has unless it is given others, by name."""
