"""The model behind an OpenAI-compatible HTTP API. Asking it has no effect, so it is asked again."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from ssl import SSLContext
from typing import Any, Final

import httpx

from surestep.errors import SurestepError
from surestep.http.pointer import ABSENT
from surestep.http.transport import parsed, retry_after

Message = dict[str, Any]
"""One chat message, as it goes over the wire."""

FIRST_PAUSE: Final = timedelta(seconds=0.5)
LONGEST_PAUSE: Final = timedelta(seconds=30)
PASSING: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say nothing about the request itself."""


class ModelUnavailable(SurestepError):
    """The model gave no usable answer in time, or refused the request; nothing was lost.

    Run again with the same messages.
    """


@dataclass(frozen=True)
class ChatModel:
    """Where the model is, and what is asked of it.

    url       base of the API, such as `https://models.example.com/v1`
    name      the model's name there
    api_key   sent as a bearer token; None: none
    options   further fields of the request, such as {"temperature": 0}
    timeout   longest time for one answer
    patience  how long an unreachable or overloaded model is asked again
    """

    url: str
    name: str
    api_key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    timeout: timedelta = timedelta(minutes=5)
    patience: timedelta = timedelta(minutes=2)

    async def next(self, messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        """The model's next message. Raises ModelUnavailable."""
        request: dict[str, Any] = {**self.options, "model": self.name, "messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
        until, pause = time.monotonic() + self.patience.total_seconds(), FIRST_PAUSE
        while True:
            found, wanted = await self._asked(request)
            if isinstance(found, dict):
                return found
            if wanted is None:
                wanted, pause = pause, pause * 2
            wait = min(wanted, LONGEST_PAUSE).total_seconds()
            if time.monotonic() + wait > until:
                raise ModelUnavailable(f"{self.name} gave no answer: {found}; run it again")
            await asyncio.sleep(wait)

    async def _asked(self, request: dict[str, Any]) -> tuple[Message | str, timedelta | None]:
        """The message; or why there is none, and the pause that is asked for."""
        limit = self.timeout.total_seconds()
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        try:
            async with httpx.AsyncClient(timeout=limit, verify=_trusted()) as client:
                place = f"{self.url.rstrip('/')}/chat/completions"
                answer = await client.post(place, json=request, headers=headers)
        except httpx.RequestError as error:
            return type(error).__name__, None
        status = answer.status_code
        if answer.is_success:
            message = _message(parsed(answer))
            return message or "an answer without a message", None
        if status < 500 and status not in PASSING:
            raise ModelUnavailable(
                f"{self.name} refused the request with {status}: correct the model, the key or "
                "the messages, then run it again"
            )
        return f"status {status}", retry_after(answer)


def _message(answer: Any) -> Message | None:
    """The first choice's message, its calls with ids of their own; None: there is none."""
    match answer:
        case {"choices": [{"message": dict() as found}, *_]} if answer is not ABSENT:
            pass
        case _:
            return None
    message = {"role": "assistant", "content": None}
    message |= {name: value for name, value in found.items() if value is not None}
    calls: Any = message.pop("tool_calls", None) or []
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        return None
    if not calls:
        return message
    ids = [call.get("id") for call in calls]
    if len(set(ids) - {None, ""}) < len(ids):  # some servers give none, or the same to all
        calls = [{**call, "id": f"call_{number}"} for number, call in enumerate(calls, start=1)]
    return {**message, "tool_calls": calls}


@cache
def _trusted() -> SSLContext:
    return httpx.create_ssl_context()
