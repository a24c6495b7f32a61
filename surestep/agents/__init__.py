"""Surestep for agent frameworks: one small file each, over the same `AgentTools`.

The frameworks are optional: `surestep.agents.langgraph` and its neighbours import theirs.
"""

from surestep.agents.agent_tools import AgentTools
from surestep.agents.conversation import Asked, Conversation
from surestep.agents.reply import Reply
from surestep.agents.scope import agent_run

__all__ = ["AgentTools", "Asked", "Conversation", "Reply", "agent_run"]
