"""Agents of Pydantic AI whose model says what it is told to."""

from itertools import count

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from surestep.agents import AgentTools
from surestep.agents.pydantic_ai import SurestepToolset
from tests.steps import tools

REFUND = {"order": "o-1", "cents": 2500}
OTHER = {"order": "o-1", "cents": 2400}

_ids = count(1)


def calls(*arguments, tool="keyed", call_id=None):
    """A message of the model that makes these calls together, each under an id never used."""
    return ModelResponse(
        [ToolCallPart(tool, one, call_id or f"call-{next(_ids)}") for one in arguments]
    )


def says(text="done"):
    """A message of the model to the user."""
    return ModelResponse([TextPart(text)])


def scripted(surestep, *steps, tool=tools.keyed, within=None, park=False, **options):
    """An agent with our tool, and the adapter itself. A step that is an error is raised."""
    ours = SurestepToolset(AgentTools(surestep, tool, within=within), park=park)
    left = iter(steps)

    def model(messages, info):
        step = next(left)
        if isinstance(step, Exception):
            raise step
        return step

    options.setdefault("toolsets", [ours])
    return Agent(FunctionModel(model), name="support", **options), ours


def outputs(messages):
    """What tools have answered, in a history."""
    parts = [part for message in messages for part in message.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]
