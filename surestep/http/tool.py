"""HttpTool: a tool that is declared instead of programmed."""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from surestep.contract import Contract
from surestep.errors import ContractError, InvalidArguments, SurestepError
from surestep.evidence import Finding, Receipt, Verification, confirmed, pending, unknown
from surestep.http.answer import settled
from surestep.http.fence import FenceRequest, Sight
from surestep.http.item import Item
from surestep.http.lookup import Lookup
from surestep.http.operations import Operations
from surestep.http.pace import Pace
from surestep.http.request import Key, Rendered, Request
from surestep.http.rules import IN_PROGRESS_RULES, KEY_RULES
from surestep.http.sender import Sender
from surestep.http.service import Reply, Service
from surestep.http.shape import Shape
from surestep.http.template import Unfillable, Values
from surestep.http.undo import Undo
from surestep.tool import Accepted, Call, Fence, Tool


class HttpTool(Tool):
    """A tool whose service speaks HTTP; everything about the service is data.

    service     where it is, how to be let in, what it means by its answers
    request     the request that has the effect
    shape       where receipt and success stand in the answer
    item        where our result stands in the answer, for a service that takes batches only
    key         where our key stands; by default in the header `Idempotency-Key`
    operations  how to follow a request that was only accepted
    lookup      how to find our effect by our key
    sight       a known object, without which a miss is worth nothing
    fence       how to make the service refuse our key
    undo        how to undo a confirmed effect

    Of the requests made in one attempt only the effect's own can end it as Refused; a 401 is
    answered with fresh credentials once. Decorators (`@tool.verify`, …) replace single parts.
    Raises ContractError for what contradicts itself.
    """

    def __init__(
        self,
        name: str,
        arguments: type[BaseModel],
        contract: Contract,
        *,
        service: Service,
        request: Request,
        shape: Shape | None = None,
        item: Item | None = None,
        key: Key | None = None,
        operations: Operations | None = None,
        lookup: Lookup | None = None,
        sight: Sight | None = None,
        fence: FenceRequest | None = None,
        undo: Undo | None = None,
        recognise: str | None = None,
    ) -> None:
        super().__init__(name, arguments, contract, recognise=recognise)
        self.service, self.request = service, request
        self.shape, self.key = shape or Shape(), key or Key()
        self.operations, self.lookup, self.known, self.fencing = operations, lookup, sight, fence
        self.item, self.undoing = item, undo
        self._pace = Pace()
        rules = (*KEY_RULES, *(IN_PROGRESS_RULES if contract.key else ()))
        self.sender = Sender(service, self.key, rules)
        self._check_declaration()
        self.execute(self._execute)
        if lookup or operations:
            self.verify(self._verify)
        if sight:
            self.sight(self._sight)
        if fence:
            self.fence(self._fence)
        if undo:
            self.compensate(self._compensate)
            if undo.lookup:
                self.verify_compensation(self._verify_compensation)

    def normalise(self, arguments: Any) -> dict[str, Any]:
        """As of every tool; arguments that cannot stand in a path are refused here as well."""
        normal = super().normalise(arguments)
        values = self.sender.values(self.load(normal), Call("x" * 16, 1, datetime.now(UTC)))
        try:
            self.request.head(values)
            if self.lookup:
                self.lookup.request().head(values)
        except Unfillable as error:
            raise InvalidArguments(f"tool {self.name!r}: {error}") from None
        return normal

    async def _execute(self, args: BaseModel, call: Call) -> Receipt | Accepted:
        reply = await self.sender.send(self.request, args, call)
        if self.item:
            key = self.sender.values(args, call).key
            reply = self.item.own(reply, self.service, self.sender.rules, key)
        return settled(reply, self.shape, self.service, self.operations)

    async def _verify(self, args: BaseModel, call: Call) -> Verification:
        values = self.sender.values(args, call)
        wait = self._pace.left(call.action_id)
        if wait and call.receipt:
            return pending(f"the service asked not to be asked for {wait:.0f} s", call.receipt)
        if wait:
            return unknown(f"the service asked not to be asked for {wait:.0f} s")
        polled = await self._polled(values)
        if self.lookup is None or (polled is not None and _tells_all(polled)):
            return polled or unknown("the service no longer knows the operation")
        seen = await self._looked(self.lookup, values)
        # An operation that is done outweighs a lookup that lags behind it.
        done = polled is not None and polled.finding is Finding.CONFIRMED
        return polled if polled and done and seen.finding is not Finding.CONFIRMED else seen

    async def _polled(self, values: Values) -> Verification | None:
        """What the operation says; None: nothing, or nothing that can be asked for any more."""
        request = self.operations.request(values) if self.operations else None
        if self.operations is None or request is None:
            return None
        try:
            reply = await self._ask(request, values.call)
            return self.operations.ended(reply, values.call.receipt)
        except SurestepError as error:
            return unknown(str(error))

    async def _looked(self, lookup: Lookup, values: Values) -> Verification:
        try:
            return await lookup.look(
                lambda request: self._ask(request, values.call), self.service, self.shape, values
            )
        except SurestepError as error:
            return unknown(str(error))

    async def _sight(self, args: BaseModel, call: Call) -> bool:
        assert self.known  # noqa: S101 - registered only with it
        request = self.known.request().render(self.sender.values(args, call))
        return self.known.answer(await self.sender.look(request, call))

    async def _fence(self, args: BaseModel, call: Call) -> Fence:
        assert self.fencing  # noqa: S101 - registered only with it
        request = self.fencing.request.render(self.sender.values(args, call))
        return self.fencing.answer(await self.sender.look(request, call), self.shape)

    async def _compensate(self, args: BaseModel, call: Call) -> Receipt | Accepted:
        assert self.undoing  # noqa: S101 - registered only with it
        reply = await self.sender.send(self.undoing.request, args, call)
        done = settled(reply, self.undoing.shape, self.service, None)
        undone = call.receipt.id if call.receipt else None
        if isinstance(done, Receipt) and done.id is None:
            return done.model_copy(update={"id": undone})
        return done

    async def _verify_compensation(self, args: BaseModel, call: Call) -> Verification:
        assert self.undoing  # noqa: S101 - registered only with it
        assert self.undoing.lookup  # noqa: S101 - registered only with it
        if call.receipt is None:
            return unknown("nobody said which effect is to be undone")
        request = self.undoing.lookup.request().render(self.sender.values(args, call))
        try:
            reply = await self.sender.look(request, call)
            if not self.undoing.lookup.is_gone(reply):
                return self.undoing.lookup.answer(reply, call.receipt)
        except SurestepError as error:
            return unknown(str(error))
        if self.known and not await self._sight(args, call):
            return unknown("the lookup cannot see: it misses a known object as well")
        return confirmed(call.receipt)

    async def _ask(self, request: Rendered, call: Call) -> Reply:
        reply = await self.sender.look(request, call)
        self._pace.pause(call.action_id, reply.retry_after)
        return reply

    def _check_declaration(self) -> None:
        what, fields = f"tool {self.name!r}", _names(self.arguments)
        if "call" in fields:
            raise ContractError(f"{what}: an argument named 'call' would hide {{call.key}}")
        self.request.check(what, fields)
        for part in (self.operations, self.lookup, self.undoing):
            if part is not None:
                part.check(what, fields)
        for request in (self.fencing and self.fencing.request, self.known and self.known.request()):
            if request:
                request.check(what, fields)
        for name in self.lookup.same if self.lookup else ():
            if name.split(".")[0] not in fields:
                raise ContractError(f"{what}: same={{{name!r}: …}} names no argument")
        if self.item and self.operations and self.operations.poll is None:
            raise ContractError(
                f"{what}: the header Location speaks of the whole batch; say where an item's "
                "operation is: Operations(poll=…)"
            )
        if not self.shape.tells_success:
            raise ContractError(
                f"{what}: by what can a success be told? Give the shape an id, success=, states= "
                "or empty= (statuses without a body)"
            )
        if self.contract.key and self.key.header is None and self.key.field is None:
            raise ContractError(
                f"{what} promises that its service honours our key, but sends none: "
                "say where with Key(header=…) or Key(field=…)"
            )


def _tells_all(polled: Verification) -> bool:
    """Whether an operation leaves nothing to be looked up: it is not done, or told the effect."""
    if polled.finding is Finding.CONFIRMED:
        return polled.matches[0].id is not None
    return polled.finding is not Finding.UNKNOWN


def _names(model: type[BaseModel]) -> set[str]:
    """Field names as they are recorded."""
    fields = model.model_fields.items()
    return {info.serialization_alias or info.alias or name for name, info in fields}
