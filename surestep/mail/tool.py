"""A tool whose effect is a message."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from typing import Any, Final

from pydantic import BaseModel

from surestep.contract import Contract, Effect
from surestep.errors import InvalidArguments, NotSent, SurestepError
from surestep.evidence import Receipt
from surestep.identity import NAME_LIMIT
from surestep.mail.delivery import deliver
from surestep.mail.message import Compose, sealed
from surestep.mail.server import MailServer
from surestep.tool import Action, Call, Tool

FindServer = Callable[[], MailServer | Awaitable[MailServer]]

# RFC 5321, 4.5.3.2.6: a sender that gives up earlier on the answer to the final dot makes copies.
TEN_MINUTES: Final = timedelta(minutes=10)

_DIGITS: Final = 12


def promises(timeout: timedelta = TEN_MINUTES, **more: Any) -> Contract:
    """The contract of SMTP: no key, nothing promised; what cannot be looked up goes to a human.

    `more` are the other fields of Contract, such as the `visibility_lag` of your own lookup.
    """
    return Contract(effect=Effect.IRREVERSIBLE, timeout=timeout, ask=True, **more)


PROMISES: Final = promises()


class MailTool(Tool):
    """`@tool.compose` is all that its author writes; add `@tool.verify` where mail can be found.

    server    called for every send, so that credentials are never older than it
    contract  made by `promises`
    """

    def __init__(
        self,
        name: str,
        arguments: type[BaseModel],
        *,
        server: FindServer = MailServer.from_environment,
        contract: Contract = PROMISES,
        recognise: str | None = None,
    ) -> None:
        super().__init__(name, arguments, contract, recognise=recognise)
        self._server = server
        self._compose: Compose | None = None

    def compose(self, function: Compose) -> Compose:
        """`def compose(args) -> EmailMessage`, from its arguments alone: see `surestep.mail`.

        The recipients are those of To, Cc and Bcc. The Message-ID is ours.
        """
        self._compose = function
        self.execute(self._send)
        return function

    def message_id(self, args: Any, call: Call) -> str:
        """The Message-ID that this action's mail has, for a lookup."""
        return sealed(self._composing(), args, call).id

    def each(self, entries: Iterable[Any]) -> list[Action]:
        """One action per entry, for one parallel step.

        An action is named after what it says, not after its place: the same entry has the same
        actionId wherever it stands in the list. Raises InvalidArguments for an entry given twice.
        """
        actions = [self.action(entry) for entry in entries]
        short = self.name[: NAME_LIMIT - _DIGITS - 1]
        named = [one.named(f"{short}-{one.input_hash[-_DIGITS:]}") for one in actions]
        if len({one.name for one in named}) < len(named):
            raise InvalidArguments(f"tool {self.name!r}: the same entry was given twice")
        return named

    async def _send(self, args: Any, call: Call) -> Receipt:
        mail = sealed(self._composing(), args, call)
        reply = await deliver(await self._current(), mail, call)
        return Receipt(id=mail.id, status="handed over", result={"reply": reply})

    async def _current(self) -> MailServer:
        try:
            found = self._server()
            return await found if inspect.isawaitable(found) else found
        except SurestepError:
            raise
        except Exception as error:
            raise NotSent(f"no mail server is known ({type(error).__name__})") from error

    def _composing(self) -> Compose:
        assert self._compose  # noqa: S101 - without it there is no execute, and no registration
        return self._compose
