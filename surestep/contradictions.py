"""What a tool and its contract may not say at the same time, each with its remedy."""

from typing import TYPE_CHECKING

from surestep.contract import Effect
from surestep.errors import ContractError

if TYPE_CHECKING:
    from surestep.tool import Tool


def refuse_contradictions(tool: "Tool") -> None:
    """Raise ContractError with the first contradiction."""
    name, contract = f"tool {tool.name!r}", tool.contract
    if tool.execute_with is None:
        raise ContractError(f"{name} has no execute: add @{tool.name}.execute")
    looks = tool.verify_with is not None
    if contract.visibility_lag is not None and not looks:
        raise ContractError(
            f"{name} promises a visibility lag but has no verify: add @{tool.name}.verify, "
            "or leave visibility_lag out"
        )
    if contract.effect is Effect.READ and tool.undo is not None:
        raise ContractError(f"{name} only reads, so there is nothing to compensate")
    if tool.undo is not None and tool.undo.execute_with is None:
        raise ContractError(f"{name} verifies a compensation it does not have")
    knows = looks or tool.fence_with is not None or contract.ask
    if not contract.response_proves and not knows:
        raise ContractError(
            f"{name}: a response proves nothing and nothing can be looked up: add verify, "
            "or set ask=True so that every outcome is put to a human"
        )
    if contract.effect is not Effect.READ and contract.key is None and not knows:
        raise ContractError(
            f"{name} writes, its service ignores our key and it has no verify: add verify, "
            "or set ask=True so that every ambiguity is put to a human"
        )
    if tool.sight_with is not None and not looks:
        raise ContractError(f"{name} has a sight probe but no verify")
