"""The services behind one URL: which request means what, and what it meets on the way."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from pydantic import JsonValue

from surestep.testing import batches, lookups, reply
from surestep.testing.clock import Clock
from surestep.testing.faults import (
    BadFault,
    Chosen,
    F,
    LookupFault,
    WriteFault,
    lookup_fault,
    write_fault,
)
from surestep.testing.keys import KeyMemory
from surestep.testing.ledger import Ledger
from surestep.testing.lookups import Lookup
from surestep.testing.reply import Held
from surestep.testing.script import Queues, Script
from surestep.testing.service import Service
from surestep.testing.tasks import Tasks
from surestep.testing.wire import Answer, Connection, Request
from surestep.testing.writes import COMMITS_OF_A_VOID, Creation, Void

KEY_HEADER: Final = "idempotency-key"
FAULT_HEADER: Final = "world-fault"
HONEST_WRITE: Final = write_fault("honest")
HONEST_LOOKUP: Final = lookup_fault("honest")

AnyChosen = Chosen[WriteFault] | Chosen[LookupFault]


class Declined(Exception):
    """The request is answered without a fault and applies nothing."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.answer = Answer.problem(status, code, detail)


class Billing:
    """Every service of one world: records a request, picks its fault, and carries it out.

    A request that asks the world for something impossible (unknown service, unknown fault, no
    JSON) is answered 4xx and applies nothing; only its record remains.
    """

    def __init__(
        self, ledger: Ledger, script: Script, services: Iterable[Service], clock: Clock
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._script = script
        self._services = {service.name: service for service in services}
        self._work = Tasks()
        self.keys = KeyMemory(ledger, clock)
        self.held = Held()

    async def end(self) -> None:
        """Drops what was to commit later."""
        await self._work.end()

    async def respond(self, connection: Connection, request: Request) -> None:
        try:
            await self._carry_out(connection, request)
        except batches.NoBatch as error:
            self._record(request, None, None)
            await connection.send(Answer.problem(400, "no_batch", str(error)))
        except Declined as declined:
            key = request.headers.get(KEY_HEADER) or request.query.get("key")
            self._record(request, key, None)
            await connection.send(declined.answer)

    async def _carry_out(self, connection: Connection, request: Request) -> None:
        name, *rest = request.segments
        service = self._services.get(name)
        if service is None:
            known = ", ".join(self._services)
            raise Declined(404, "no_service", f"there is no service {name!r}; there are {known}")
        key = request.headers.get(KEY_HEADER)
        match (request.method, rest):
            case "POST", ["effects"]:
                self._json(request)
                write = Creation(self._ledger, self._clock, self.keys, service, key, request.body)
                await self._write(connection, request, write)
            case "POST", ["batches"]:
                await self._batch(connection, request, service)
            case "DELETE", ["effects", effect_id]:
                void = Void(self._ledger, self._clock, service, key, effect_id)
                await self._write(connection, request, void)
            case "POST", ["fences"] if service.fences:
                await self._fence(connection, request, service)
            case "GET", ["effects"] if service.lookup:
                if "key" not in request.query:
                    raise Declined(400, "key_missing", "ask for ?key=")
                lookup = lookups.by_key(self._ledger, service, request.query["key"])
                await self._look(connection, request, lookup)
            case "GET", ["effects", effect_id] if service.lookup:
                lookup = lookups.by_id(self._ledger, service, effect_id)
                await self._look(connection, request, lookup)
            case "GET", ["operations", operation]:
                lookup = lookups.of_operation(self._ledger, service, operation)
                await self._look(connection, request, lookup)
            case _, ["batches" | "effects" | "fences" | "operations", *_]:
                asked = f"{request.method} {request.target}"
                raise Declined(405, "not_offered", f"{name!r} does not offer {asked}")
            case _:
                raise Declined(404, "no_such_place", f"nothing is at {request.target}")

    async def _write(
        self, connection: Connection, request: Request, write: Creation | Void
    ) -> None:
        chosen = self._fault_of(request, self._script.writes, write.key) or HONEST_WRITE
        fault, amount = chosen.fault, chosen.amount
        if isinstance(write, Void) and fault.commit not in COMMITS_OF_A_VOID:
            detail = f"{chosen.text!r} is for a POST; a DELETE cannot commit in that way"
            raise Declined(400, "bad_fault", detail)
        self._record(request, write.key, chosen)
        shown = await self._shown(write, chosen, request.target)
        await reply.deliver(fault.reply, amount, shown, connection, self.held, write.key or "")

    async def _shown(
        self, write: Creation | Void, chosen: Chosen[WriteFault], target: str
    ) -> Answer:
        """Commits as the fault says, and gives the answer as it makes it look."""
        fault, amount = chosen.fault, chosen.amount
        first_use = isinstance(write, Creation) and write.first_use
        answer = await write.commit(fault.commit, amount, self._work.spawn)
        shown = reply.shaped(fault.reply, amount, answer, target)
        if isinstance(write, Creation) and first_use and fault.reply in reply.FAILURES:
            write.store_failure(shown)
        return shown

    async def _batch(self, connection: Connection, request: Request, service: Service) -> None:
        """207, with a status for each item; of an item whose answer gets lost, nothing is told."""
        results: list[JsonValue] = []
        for key, body in batches.items(self._json(request)):
            chosen = self._fault_of(request, self._script.writes, key) or HONEST_WRITE
            self._record(replace(request, body=body), key, chosen)
            write = Creation(self._ledger, self._clock, self.keys, service, key, body)
            shown = await self._shown(write, chosen, request.target)
            if chosen.fault.reply in batches.TOLD:
                results.append(batches.result(key, shown))
        await connection.send(Answer.json(207, {"results": results}))

    async def _look(self, connection: Connection, request: Request, lookup: Lookup) -> None:
        chosen = self._fault_of(request, self._script.lookups, lookup.key) or HONEST_LOOKUP
        self._record(request, lookup.key, chosen)
        await lookups.deliver(lookup, chosen, self._ledger, connection)

    async def _fence(self, connection: Connection, request: Request, service: Service) -> None:
        value = self._json(request)
        key = value.get("key") if isinstance(value, dict) else None
        if not isinstance(key, str):
            raise Declined(400, "key_missing", 'the body must be {"key": "..."}')
        self._record(request, key, None)
        effect = self._ledger.fence(service.name, key)
        found: dict[str, JsonValue] = {} if effect is None else {"effect": effect.shown()}
        await connection.send(Answer.json(200, {"fenced": effect is None, **found}))

    def _fault_of(self, request: Request, queues: Queues[F], key: str | None) -> Chosen[F] | None:
        try:
            return queues.next(key, request.headers.get(FAULT_HEADER))
        except BadFault as error:
            raise Declined(400, "bad_fault", str(error)) from None

    def _json(self, request: Request) -> JsonValue:
        try:
            return parsed(request.body)
        except ValueError as error:
            raise Declined(400, "no_json", f"the body is not JSON: {error}") from None

    def _record(self, request: Request, key: str | None, chosen: AnyChosen | None) -> None:
        honest = chosen is None or chosen.fault.name == "honest"
        fault = None if honest or chosen is None else chosen.text
        self._ledger.record(request.method, request.target, key, request.body, fault)


def parsed(body: bytes) -> JsonValue:
    """The JSON value of a body. Raises ValueError for anything else, NaN and Infinity included."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    value: JsonValue = json.loads(body.decode(), parse_constant=refuse)
    return value
