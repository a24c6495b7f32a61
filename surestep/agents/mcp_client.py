"""A tool of any MCP server, wrapped as one of ours.

    server = HttpServer("https://billing.example.com/mcp", headers=credentials)
    described = json.loads(Path("refund.json").read_text())    # one of `await listed(server)`
    refund = mcp_tool(described, server, Contract(effect=Effect.IRREVERSIBLE), recognise="order")

    @refund.verify
    async def _(args: Any, call: Call) -> Verification:
        found = await called(server, "find_refunds", {"order": args.order}, within=…)

The contract is yours: what a server says of its own tools (`readOnlyHint`, `idempotentHint`) is a
hint, and promises nothing. Where you promise more than it hints, a warning says so. Keep what the
server has described beside your code, so that it does not change under an action in flight.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

try:
    import mcp_types as types
except ImportError as error:
    raise ImportError("calling MCP needs the MCP SDK: pip install 'surestep[mcp]'") from error

from surestep.agents.mcp_arguments import argument_model
from surestep.agents.mcp_call import HttpServer, Place, called, listed
from surestep.contract import Contract, Effect
from surestep.errors import Ambiguous, ContractError, Refused
from surestep.evidence import Receipt
from surestep.tool import Accepted, Call, Tool

__all__ = ["ActionKey", "HttpServer", "called", "listed", "mcp_tool", "proof"]

MARGIN: Final = 0.1  # of the attempt's time, so that we end the call and know how far it came


@dataclass(frozen=True)
class ActionKey:
    """How the server is told the actionId.

    meta      under this name in the call's `_meta`; None: it is not. A server of ours takes it for
              the run, and so attaches a repeat
    argument  as this argument, for a tool that has one for it; models neither see nor set it
    form      the key from the call, such as `lambda call: call.uuid`
    """

    meta: str | None = "surestep/run"
    argument: str | None = None
    form: Callable[[Call], str] = lambda call: call.action_id


Answer = Callable[[types.CallToolResult], Receipt | Accepted]


def proof(result: types.CallToolResult) -> Receipt:
    """What a result proves where nobody knows the tool better: an error is ambiguous."""
    texts = [one.text for one in result.content if isinstance(one, types.TextContent)]
    state = (result.meta or {}).get("surestep/state", "confirmed")  # of a server of ours
    if state in ("rejected", "refused", "not_found"):
        raise Refused(f"the MCP tool says {state}: {' '.join(texts)[:200]}")
    if result.is_error or state != "confirmed":
        raise Ambiguous(f"the MCP tool reports an error: {' '.join(texts)[:200]}")
    found = result.structured_content
    return Receipt(result=found if found is not None else "\n".join(texts))


def mcp_tool(
    described: types.Tool | Mapping[str, Any],
    place: Place,
    contract: Contract,
    *,
    name: str | None = None,
    recognise: str | None = None,
    key: ActionKey = ActionKey(),
    answer: Answer = proof,
) -> Tool:
    """A tool that calls the described one. Add `verify`, where the server can be asked.

    described  the tool as `tools/list` gives it, or as `listed` does
    name       ours; the server's by default
    key        promised by the contract only where the server is known to honour it
    answer     what a result means, from the tool's own documentation: a Receipt, or Accepted; it
               raises Refused for an error that proves that nothing was applied

    Raises ContractError for a schema that is none, or lacks the key's argument.
    """
    theirs = types.Tool.model_validate(described)
    model = argument_model(theirs.input_schema, without=key.argument)
    model.__doc__ = theirs.description
    tool = Tool(name or theirs.name, model, contract)
    known = model.model_json_schema().get("properties", {})
    if recognise is not None and recognise not in known:
        raise ContractError(f"tool {tool.name!r}: recognise={recognise!r} is none of {list(known)}")
    tool.recognise = recognise
    for doubt in _doubts(theirs.annotations or types.ToolAnnotations(), contract):
        warnings.warn(f"tool {tool.name!r}: {doubt}", stacklevel=2)

    @tool.execute
    async def _(args: Any, call: Call) -> Receipt | Accepted:
        arguments, meta = args.model_dump(mode="json"), {}
        if key.argument is not None:
            arguments[key.argument] = key.form(call)
        if key.meta is not None:
            meta[key.meta] = key.form(call)
        return answer(await called(place, theirs.name, arguments, within=_left(call), meta=meta))

    return tool


def _doubts(hints: types.ToolAnnotations, contract: Contract) -> Iterator[str]:
    """Where the contract promises more than the server says of itself."""
    if contract.effect is Effect.READ and hints.read_only_hint is False:
        yield "the contract says it only reads, and the server hints that it writes"
    if contract.effect is Effect.REVERSIBLE and hints.destructive_hint:
        yield "the contract says it can be undone, and the server hints that it destroys"
    if contract.key and hints.idempotent_hint is False:
        yield "the contract promises a key, and the server hints that a repeat is another effect"


def _left(call: Call) -> timedelta:
    left = call.deadline - datetime.now(UTC)
    return left - min(left * MARGIN, timedelta(seconds=1))
