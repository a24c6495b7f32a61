"""Agents of the OpenAI Agents SDK whose model says what it is told to."""

from itertools import count

from agents import Agent
from agents.testing import ScriptedModel, assistant_message, function_call

from surestep.agents import AgentTools
from surestep.agents.openai_agents import FunctionTools
from tests.steps import tools

REFUND = {"order": "o-1", "cents": 2500}
OTHER = {"order": "o-1", "cents": 2400}

_ids = count(1)


def calls(*arguments, tool="keyed", call_id=None):
    """A message of the model that makes these calls together, each under an id never used."""
    return [function_call(tool, one, call_id=call_id or f"call-{next(_ids)}") for one in arguments]


def says(text="done"):
    """A message of the model to the user."""
    return [assistant_message(text)]


def scripted(surestep, *steps, tool=tools.keyed, beside=(), within=None, **options):
    """An agent with our tool and those beside it, and the adapter itself."""
    ours = FunctionTools(AgentTools(surestep, tool, within=within), **options)
    model = ScriptedModel(steps)
    agent = Agent(name="Support", model=model, tools=[*ours.tools, *beside], hooks=ours)
    return agent, ours


def outputs(read):
    """What tools have answered, in the items that a run has made or a model has read."""
    return [one["output"] for one in read if one.get("type") == "function_call_output"]
