"""The columns: what a service really does, and what the contract of a tool for it promises.

Times are real. Each is far from its neighbours, because the cells share two cores.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from surestep import Contract, Effect, KeySupport
from surestep.testing import Service

IN_FLIGHT: Final = 5.0  # Δ, in seconds like all of these
LAG: Final = 2.0  # λ of the lagging service
WORKS: Final = 2.0  # how long the asynchronous service works on a request
GIVES_UP: Final = 2.0  # a naive tool's limit for a read
TIMEOUT: Final = 3.0  # an attempt's limit
PATIENCE: Final = 12.0  # looks begin 0, 1, 3 and 7 s after an attempt; then somebody is asked
LAST_LOOK: Final = 7.0
COMPLETES: Final = 15.0
SENDS: Final = 4
LONG: Final = timedelta(hours=24)
SHORT: Final = timedelta(seconds=40)  # 12 s more than one attempt can take until it commits
WATCH: Final = 60.0  # the watch looks a minute after the end, and here never again


@dataclass(frozen=True)
class Column:
    """One kind of contract. `promised`: Δ, and λ where it can be looked up."""

    title: str
    service: Service
    promised: bool

    @property
    def slug(self) -> str:
        return self.title.replace(", ", "_").replace(" ", "_")

    @property
    def keyed(self) -> bool:
        return self.service.key_lifetime is not None

    @property
    def looks(self) -> bool:
        return self.service.lookup

    @property
    def looks_first(self) -> bool:
        return self.looks and not self.keyed

    @property
    def lag(self) -> float:
        return self.service.lag.total_seconds()

    @property
    def works(self) -> float:
        return self.service.accepts_for.total_seconds() if self.service.accepts_for else 0.0

    @property
    def contract(self) -> Contract:
        """Says of the service what it does, and nothing more."""
        service, keyed = self.service, None
        if service.key_lifetime:
            keyed = KeySupport(
                lifetime=service.key_lifetime, stores_failures=service.stores_failures
            )
        return Contract(
            effect=Effect.IRREVERSIBLE,
            key=keyed,
            in_flight=seconds(IN_FLIGHT) if self.promised else None,
            visibility_lag=service.lag if self.promised and self.looks else None,
            response_proves=service.accepts_for is None,
            timeout=seconds(TIMEOUT),
            queue=seconds(5),
            sends=SENDS,
            patience=seconds(PATIENCE),
            completes_within=seconds(COMPLETES),
            watch=seconds(WATCH),
            ask=not keyed and not self.looks,
        )


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


COLUMNS: Final = (
    Column("keyed, lookup", Service("keyed", key_lifetime=LONG), promised=True),
    Column("keyed", Service("keyed_blind", key_lifetime=LONG, lookup=False), promised=False),
    Column("lookup, Δ λ", Service("lookup"), promised=True),
    Column("lookup", Service("lookup_only"), promised=False),
    Column("lagging, Δ λ", Service("lagging", lag=seconds(LAG)), promised=True),
    Column("blind", Service("blind", lookup=False), promised=False),
    Column("asynchronous", Service("asynchronous", accepts_for=seconds(WORKS)), promised=False),
    Column("fenced", Service("fenced", fences=True), promised=False),
    Column(
        "stores failures",
        Service("storing", key_lifetime=LONG, stores_failures=True),
        promised=True,
    ),
    Column(
        "short life",
        Service("short_lived", key_lifetime=SHORT, lookup=False),
        promised=True,
    ),
)
