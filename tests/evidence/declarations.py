"""How Surestep is told of the services of E2: honestly, cautiously, and wrongly."""

from datetime import timedelta
from typing import Final

from surestep.contract import Contract, Effect, KeySupport

from .executor import Declared
from .human import comes_after, hasty, knowing
from .kinds import KEY_LIFE, KINDS, SLOWEST

HONEST: Final = "Δ promised"
CAUTIOUS: Final = "Δ not promised"
TOO_SMALL: Final = timedelta(seconds=20)
PATIENCE: Final = timedelta(seconds=30)

DECLARATIONS: Final = (HONEST, CAUTIOUS, "Δ too small", "hasty human", "key not honoured")
WITH_KEYS: Final = (HONEST, CAUTIOUS)


def declared(how: str, kind: str, keys: bool, seed: str) -> Declared:
    """λ is always honest. The patience of an author who knows λ is longer than λ."""
    known = KINDS[kind]
    lag = timedelta(seconds=known.lags[1])
    in_flight: timedelta | None = timedelta(seconds=SLOWEST)
    if how in (CAUTIOUS, "hasty human"):
        in_flight = None
    if how == "Δ too small":
        in_flight = TOO_SMALL
    key = keys or known.keyed or how == "key not honoured"
    contract = Contract(
        effect=Effect.IRREVERSIBLE,
        key=KeySupport(lifetime=timedelta(seconds=KEY_LIFE)) if key else None,
        in_flight=in_flight,
        visibility_lag=lag if known.looks else None,
        response_proves=not known.works,
        patience=max(PATIENCE, lag * 1.5),
        ask=True,
        overdue_after=None,
    )
    human = hasty if how == "hasty human" else knowing
    return Declared(contract, known.looks, human, comes_after(f"E2 {seed}"))
