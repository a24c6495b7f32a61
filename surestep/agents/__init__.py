"""Surestep for agent frameworks: one small file each, over the same `AgentTools`.

The frameworks are optional: what adapts one is imported on first use, and says what is missing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from surestep.agents.agent_tools import AgentTools
from surestep.agents.conversation import Asked, Conversation
from surestep.agents.decided import decided
from surestep.agents.reply import Reply
from surestep.agents.report import Report, report
from surestep.agents.scope import agent_run
from surestep.agents.statement import Claim, ClosingStatement, check
from surestep.client import Surestep

if TYPE_CHECKING:
    from surestep.agents.chat import ChatAgent
    from surestep.agents.chat_model import ChatModel
    from surestep.agents.chat_tools import ChatTools
    from surestep.agents.langgraph import surestep_tools
    from surestep.agents.openai_agents import FunctionTools
    from surestep.agents.pydantic_ai import SurestepToolset

__all__ = [
    "AgentTools",
    "Asked",
    "ChatAgent",
    "ChatModel",
    "ChatTools",
    "Claim",
    "ClosingStatement",
    "Conversation",
    "FunctionTools",
    "Reply",
    "Report",
    "Surestep",
    "SurestepToolset",
    "agent_run",
    "check",
    "decided",
    "report",
    "surestep_tools",
]

_HOMES = {
    "ChatAgent": "chat",
    "ChatModel": "chat_model",
    "ChatTools": "chat_tools",
    "FunctionTools": "openai_agents",
    "SurestepToolset": "pydantic_ai",
    "surestep_tools": "langgraph",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
