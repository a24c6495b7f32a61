"""A framework's message history, read from its first message to its last."""

from surestep.agents.conversation import Asked, Conversation


class Transcript:
    """What Surestep's tools have told the model, and whether the user has spoken since.

    A user who speaks before the model has answered has not: an application that tries a turn again
    appends the user's words again, and means the same by them.
    """

    def __init__(self) -> None:
        self._told: list[str] = []
        self._before: list[str] = []
        self._calls: dict[str, bool] = {}
        self._answered = False
        self._ended = False

    def answered(self, at_last: bool = True) -> None:
        """The model has answered the user; not `at_last`: it has called tools."""
        self._answered = at_last
        self._ended = False

    def ended(self) -> None:
        """The model has answered by a call, and results of others may stand beside its result."""
        self._answered = self._ended = True

    def called(self, call_id: str, *, ours: bool) -> None:
        """The model has called a tool, one of Surestep's or not. An id may come again."""
        self._calls[call_id] = ours
        self.answered(at_last=False)

    def result(self, call_id: str, text: str) -> None:
        """The tool that was called under this id has told this, and the model has not answered."""
        self._answered = False
        if self._calls.get(call_id):
            self.told(text)

    def told(self, text: str) -> None:
        """One of Surestep's tools has told this."""
        self._told.append(text)
        self._answered = self._ended

    def asked(self) -> None:
        """The user has spoken."""
        if self._answered:
            self._before += self._told
            self._told = []

    def conversation(self, *turn: Asked, name: str = "") -> Conversation:
        """The conversation that has come to this, with the calls that the model makes now."""
        return Conversation(
            name=name, turn=turn, told="\n".join(self._told), told_before="\n".join(self._before)
        )
