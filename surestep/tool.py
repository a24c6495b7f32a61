"""Tools: what a tool author declares, and the actions that agent code makes from them."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from surestep.contract import Contract, Effect
from surestep.contradictions import refuse_contradictions
from surestep.errors import ContractError, UnknownTool
from surestep.evidence import Receipt, Verification
from surestep.identity import (
    NAME_LIMIT,
    UNDO_SUFFIX,
    as_uuid,
    check_name,
    input_hash,
    token,
)
from surestep.normal import loaded, normalised
from surestep.places import patterns, places
from surestep.sensitive import sensitive_fields
from surestep.value import Value


@dataclass(frozen=True)
class Call:
    """What `execute`, `verify`, `fence` and `compensate` know beside the arguments.

    action_id  the idempotency key to put on the wire, byte for byte
    attempt    number of the attempt, for logs; never part of what is sent
    deadline   when the attempt will be cut off
    before     what `verify` saw right before the first send, if it looked
    receipt    what the service answered so far: the accepted operation, or, in `compensate`,
               the confirmed effect to undo
    """

    action_id: str
    attempt: int
    deadline: datetime
    before: Verification | None = None
    receipt: Receipt | None = None

    @property
    def uuid(self) -> str:
        """The key as a UUID, for services that want one."""
        return as_uuid(self.action_id)

    def token(self, length: int = 32) -> str:
        """The key as `length` hexadecimal characters (16 to 64)."""
        return token(self.action_id, length)


class Accepted(Value):
    """`execute` returns it when the service took the request for later (202, queued).

    `look_after`: seconds that the service asks to wait before looking.
    """

    receipt: Receipt = Receipt()
    look_after: float | None = None


class Fence(Value):
    """The answer of `fence`: `Fence(held=True)`, or the effect that was there already."""

    held: bool
    exists: Receipt | None = None


class Action(Value):
    """One intended side effect: a tool, normalised arguments and their hash.

    personal  where personal values stand in the arguments, as `customer/email`
    """

    name: str
    tool: str
    arguments: dict[str, Any]
    input_hash: str
    personal: tuple[str, ...] = ()

    def named(self, name: str) -> Self:
        """The same action under another name; names are unique within a step."""
        return self.model_copy(update={"name": check_name(name)})


Execute = Callable[[Any, Call], Awaitable[Receipt | Accepted]]
Verify = Callable[[Any, Call], Awaitable[Verification]]
FenceCall = Callable[[Any, Call], Awaitable[Fence]]
Sight = Callable[[Any, Call], Awaitable[bool]]
Predicate = Callable[[Any], bool]

F = TypeVar("F", bound=Callable[..., Awaitable[Any]])
P = TypeVar("P", bound=Predicate)


class Tool:
    """Code that can perform one kind of action. Functions are added with the decorators.

    `recognise` names the argument by which a person knows the action; it is shown in lists.
    """

    def __init__(
        self,
        name: str,
        arguments: type[BaseModel],
        contract: Contract,
        *,
        recognise: str | None = None,
    ) -> None:
        self.name = check_name(name)
        self.arguments = arguments
        self.contract = contract
        self.recognise = recognise
        self.execute_with: Execute | None = None
        self.verify_with: Verify | None = None
        self.fence_with: FenceCall | None = None
        self.sight_with: Sight | None = None
        self.approved_if: Predicate | None = None
        self.undo: Tool | None = None
        if recognise is not None and recognise not in arguments.model_fields:
            fields = ", ".join(arguments.model_fields)
            raise ContractError(f"tool {name!r}: recognise={recognise!r} is none of {fields}")
        try:
            self.sensitive = sensitive_fields(arguments)
        except ContractError as error:
            raise ContractError(f"tool {name!r}: {error}") from None
        if recognise in self.sensitive:
            raise ContractError(
                f"tool {name!r}: recognise={recognise!r} is marked, and lists would show it: name "
                "another argument, such as an id of your own, or none"
            )

    def execute(self, function: F) -> F:
        """Perform the action once. Return Receipt or Accepted; raise NotSent, Refused, Ambiguous.

        Any other exception is ambiguous. No retries, no redirects inside: Surestep retries.
        """
        self.execute_with = _asynchronous(self.name, function)
        return function

    def verify(self, function: F) -> F:
        """Look for the effect by our key: return confirmed(…), not_found(), unknown("why"), …"""
        self.verify_with = _asynchronous(self.name, function)
        return function

    def fence(self, function: F) -> F:
        """Make the receiver refuse this actionId from now on; return Fence."""
        self.fence_with = _asynchronous(self.name, function)
        return function

    def sight(self, function: F) -> F:
        """Look at an object that is known to exist: False makes every miss worth nothing."""
        self.sight_with = _asynchronous(self.name, function)
        return function

    def approve_if(self, function: P) -> P:
        """Say which arguments need the contract's approval; without it, all do. Pure, and quick.

        Raises ContractError if the contract asks for no approval.
        """
        if self.contract.approval is None:
            raise ContractError(
                f"tool {self.name!r}: approve_if without approval in the contract: add "
                "approval=ApprovalRule()"
            )
        self.approved_if = function
        return function

    def needs_approval(self, arguments: dict[str, Any]) -> bool:
        """Whether a human must approve an action with these recorded arguments (R19)."""
        if self.contract.approval is None:
            return False
        return self.approved_if is None or bool(self.approved_if(self.load(arguments)))

    def compensate(self, function: F) -> F:
        """Undo a confirmed action; `call.receipt` is what was confirmed. An action of its own."""
        self._undo().execute_with = _asynchronous(self.name, function)
        return function

    def verify_compensation(self, function: F) -> F:
        """Look whether the undo happened; without it an ambiguous undo goes to a human."""
        self._undo().verify_with = _asynchronous(self.name, function)
        return function

    def _undo(self) -> "Tool":
        if self.undo is None:
            if len(self.name) + len(UNDO_SUFFIX) > NAME_LIMIT:
                raise ContractError(
                    f"tool {self.name!r} compensates, so its name may have "
                    f"{NAME_LIMIT - len(UNDO_SUFFIX)} characters at the most"
                )
            # Whoever asks for an undo, a human or `undo_on_failure`, has agreed to it.
            changes = {"effect": Effect.IRREVERSIBLE, "ask": True, "approval": None}
            contract = self.contract.model_copy(update=changes)
            self.undo = Tool(f"{self.name}{UNDO_SUFFIX}", self.arguments, contract)
        return self.undo

    def __call__(self, **arguments: Any) -> Action:
        """An action with these arguments, normalised by the model.

        Raises InvalidArguments, naming the field and the remedy.
        """
        return self.action(arguments)

    def action(self, arguments: Any) -> Action:
        """An action from a mapping or an instance of the argument model."""
        normal = self.normalise(arguments)
        return Action(
            name=self.name,
            tool=self.name,
            arguments=normal,
            input_hash=input_hash(normal),
            personal=self.personal(normal),
        )

    def normalise(self, arguments: Any) -> dict[str, Any]:
        """The arguments as the JSON object that is recorded, hashed and sent.

        Raises InvalidArguments for what does not fit, has no JSON form, or would not come back.
        """
        return normalised(self.name, self.arguments, self.sensitive, arguments)[1]

    def load(self, arguments: dict[str, Any]) -> Any:
        """The argument model from its recorded form. Raises InvalidArguments."""
        return loaded(self.name, self.arguments, self.sensitive, arguments)

    def personal(self, arguments: dict[str, Any]) -> tuple[str, ...]:
        """Where personal values stand in recorded arguments, as `customer/email`."""
        return patterns(list(places(self.load(arguments)))) if self.sensitive else ()

    def recognised(self, arguments: dict[str, Any]) -> str:
        """The argument that a person recognises, bounded; empty if the tool names none."""
        return str(arguments.get(self.recognise, ""))[:80] if self.recognise else ""

    def check(self) -> Self:
        """Refuse what contradicts itself: ContractError with the remedy."""
        refuse_contradictions(self)
        return self


def _asynchronous(name: str, function: Any) -> Any:
    if not inspect.iscoroutinefunction(function):
        raise ContractError(
            f"tool {name!r}: {getattr(function, '__name__', function)} must be `async def` "
            "(a thread cannot be stopped at its deadline); use asyncio.to_thread inside if you must"
        )
    return function


class Tools:
    """The registry: tools by name, each checked."""

    def __init__(self, *tools: Tool) -> None:
        self._by_name: dict[str, Tool] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        """Register a tool and its undo. Raises ContractError if it is bad or its name is taken."""
        tool.check()
        for one in (tool, tool.undo):
            if one is None:
                continue
            if self._by_name.get(one.name, one) is not one:
                raise ContractError(f"two tools are named {one.name!r}: rename one")
            self._by_name[one.name] = one

    def __getitem__(self, name: str) -> Tool:
        try:
            return self._by_name[name]
        except KeyError:
            known = (
                ", ".join(sorted(self._by_name)) or "none: set SURESTEP_TOOLS=package.module:tools"
            )
            raise UnknownTool(f"no tool is named {name[:60]!r}; registered: {known}") from None

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)
