"""What a lookup gets to see: the service's view, with its lag, or less; interprets `Look`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue

from surestep.testing.faults import Chosen, Look, LookupFault
from surestep.testing.ledger import Ledger
from surestep.testing.reply import PAGE
from surestep.testing.service import Service
from surestep.testing.wire import Answer, Connection

Seen = list[dict[str, JsonValue]]


@dataclass(frozen=True)
class Lookup:
    """One GET: `by_key`, or of one thing by its id; `key` is the action meant, where known."""

    key: str | None
    seen: Seen
    by_key: bool

    def answer(self, seen: Seen) -> Answer:
        if self.by_key:
            return Answer.json(200, {"effects": list(seen)})
        if not seen:
            return Answer.problem(404, "not_found", "there is nothing under this id")
        return Answer.json(200, seen[0])


def by_key(ledger: Ledger, service: Service, key: str) -> Lookup:
    lag = service.lag.total_seconds()
    return Lookup(key, ledger.seen(service.name, key=key, lag=lag), by_key=True)


def by_id(ledger: Ledger, service: Service, effect_id: str) -> Lookup:
    lag = service.lag.total_seconds()
    seen = ledger.seen(service.name, id=effect_id, lag=lag)
    effect = ledger.effect(service.name, effect_id)
    return Lookup(effect.key if effect else _key(seen), seen, by_key=False)


def of_operation(ledger: Ledger, service: Service, operation: str) -> Lookup:
    found = ledger.operation(service.name, operation)
    seen = [] if found is None else [found]
    return Lookup(_key(seen), seen, by_key=False)


async def deliver(
    lookup: Lookup, chosen: Chosen[LookupFault], ledger: Ledger, connection: Connection
) -> None:
    """Answers a lookup under a fault, or breaks the connection instead."""
    match chosen.fault.look:
        case Look.SILENCE:
            await connection.gone()
            connection.close()
        case Look.RESET:
            connection.reset()
        case Look.ERROR:
            status = int(chosen.amount)
            await connection.send(Answer.text(status, f"upstream error {status}"))
        case Look.HTML:
            await connection.send(Answer.text(200, PAGE, "text/html"))
        case Look.EMPTY_JSON:
            await connection.send(Answer.json(200, {}))
        case Look.MISS:
            await connection.send(lookup.answer([]))
        case Look.LOOKALIKE:
            body = ledger.last_content(lookup.key or "")
            await connection.send(lookup.answer([*lookup.seen, _lookalike(body)]))
        case Look.TRUTH:
            await connection.send(lookup.answer(lookup.seen))


def _lookalike(body: JsonValue) -> dict[str, JsonValue]:
    return {
        "id": "ef_somebody_elses",
        "key": "somebody/else",
        "body": body,
        "at": datetime.now(UTC).isoformat(),
        "status": "succeeded",
    }


def _key(seen: Sequence[dict[str, JsonValue]]) -> str | None:
    key = seen[0]["key"] if seen else None
    return key if isinstance(key, str) else None
