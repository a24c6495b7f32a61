"""A scripted model and its conversation, as a framework would keep it."""

from surestep.agents import AgentTools, Asked, Conversation

REFUND = {"order": "o-1", "cents": 2500}


def refund(number):
    return {"order": f"other-{number}", "cents": 100 + number}


def asked(arguments=REFUND, tool="keyed"):
    return Asked(tool=tool, arguments=arguments)


class Talk:
    """One conversation of a run; what the tools answer is kept in it."""

    def __init__(self, agent, run):
        self.agent = agent
        self._run = run
        self._told = self._told_before = ""

    async def calls(self, tool, arguments):
        seen = Conversation(
            turn=(asked(arguments, tool),), told=self._told, told_before=self._told_before
        )
        reply = await self.agent.call(tool, arguments, run=self._run, conversation=seen)
        self._told += f"\n{reply.text}"
        return reply

    def user_speaks(self):
        self._told_before += self._told
        self._told = ""

    def loses_everything(self):
        """The framework has compacted it, or somebody has."""
        self._told = self._told_before = ""

    def restarts(self, surestep, *tools):
        """Another process goes on with what the framework has kept."""
        self.agent = AgentTools(surestep, *tools)
