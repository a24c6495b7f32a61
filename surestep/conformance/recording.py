"""Are two sends of one key the same? Recorded by a server of our own, so nothing has an effect."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

from surestep.conformance.promise import Promise
from surestep.conformance.report import Row, broken, kept, not_tested
from surestep.conformance.sending import Sent
from surestep.conformance.subject import Subject
from surestep.http import HttpTool
from surestep.testing.listener import Listener
from surestep.testing.wire import Answer, Connection, Request
from surestep.tool import Call, Tool

GAP: Final = timedelta(seconds=1.1)
"""Between the two sends, so that a time in the content shows even where it counts seconds."""

READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
BUSY: Final = Answer.problem(503, "recorded", "a recorder answers, not the service")

OFFER: Final = "no recorder could be put in front: give --base-url-env, where the tool reads one"


@dataclass(frozen=True)
class Recorded:
    """One execute against the recorder: its outcome, and the requests that arrived."""

    sent: Sent
    requests: list[Request]


async def recorded(subject: Subject, variable: str | None, gap: timedelta) -> tuple[Row, Row]:
    """Two executes under one key against a server that records and answers 503.

    variable  the environment variable from which the tool reads its base URL at every send;
              an HttpTool needs none
    """
    if variable is None and not _declared(subject.tool):
        return _neither(OFFER)
    key = subject.key("recorded")
    async with _recorder() as (url, requests):
        with _pointed(subject.tool, variable, url):
            first = Recorded(await subject.execute(key), requests[:])
            await asyncio.sleep(gap.total_seconds())
            second = Recorded(await subject.execute(key), requests[len(first.requests) :])
    if not first.requests or not second.requests:
        why = f"nothing reached the recorder ({first.sent.words}): when does the tool read its URL?"
        return _neither(why)
    subject.effects.absent(key)
    ours = _forms(subject.tool, key)
    own = [_own(one.requests, ours) for one in (first, second)]
    if not own[0] or not own[1]:
        return _neither("execute asks something else first, and the recorder cannot answer that")
    return _compared(own[0][0], own[1][0], ours), _counted(max(own, key=len))


def _neither(why: str) -> tuple[Row, Row]:
    return not_tested(Promise.REPEATABLE, why), not_tested(Promise.ONE_SEND, why)


def _compared(first: Request, second: Request, ours: tuple[str, ...]) -> Row:
    done = "sent one key twice to a recorder"
    differs = [
        what
        for what, one, other in (
            ("method", first.method, second.method),
            ("path or query", first.target, second.target),
            ("body", first.body, second.body),
            ("key's header", _keyed(first, ours), _keyed(second, ours)),
        )
        if one != other
    ]
    if differs:
        said = f"the second differs in its {', '.join(differs)}"
        remedy = "build the content from the arguments and call.action_id only: no time, no attempt"
        return broken(Promise.REPEATABLE, done, said, remedy)
    return kept(Promise.REPEATABLE, done, f"the same {len(first.body)} bytes and the same address")


def _counted(requests: list[Request]) -> Row:
    done = "let the recorder answer 503"
    if len(requests) == 1:
        return kept(Promise.ONE_SEND, done, "one request for each execute")
    said = f"{len(requests)} requests in one execute"
    return broken(Promise.ONE_SEND, done, said, "switch off the retries of the tool's client")


def _own(requests: list[Request], ours: tuple[str, ...]) -> list[Request]:
    """The requests that carry our key; where none does, those that may have an effect."""
    carrying = [one for one in requests if _carries(one, ours)]
    return carrying or [one for one in requests if one.method not in READS]


def _carries(request: Request, ours: tuple[str, ...]) -> bool:
    said = f"{request.target}\n{request.body.decode(errors='replace')}"
    return bool(_keyed(request, ours)) or any(form in said for form in ours)


def _keyed(request: Request, ours: tuple[str, ...]) -> dict[str, str]:
    """The headers with our key in them."""
    headers = request.headers.items()
    return {name: text for name, text in headers if any(form in text for form in ours)}


def _forms(tool: Tool, key: str) -> tuple[str, ...]:
    """How our key can be spelled on the wire."""
    call = Call(key, 1, datetime.now(UTC))
    own = (tool.key.form(call),) if isinstance(tool, HttpTool) else ()
    return (key, quote(key, safe=""), call.uuid, call.token(16), *own)


def _declared(tool: Tool) -> bool:
    """Whether the tool is an HttpTool whose execute nobody has replaced."""
    return isinstance(tool, HttpTool) and getattr(tool.execute_with, "__self__", None) is tool


@asynccontextmanager
async def _recorder() -> AsyncIterator[tuple[str, list[Request]]]:
    requests = list[Request]()

    async def respond(connection: Connection, request: Request) -> None:
        requests.append(request)
        await connection.send(BUSY)

    listener = Listener(0, respond)
    await listener.open()
    try:
        yield listener.url, requests
    finally:
        await listener.end()


@contextmanager
def _pointed(tool: Tool, variable: str | None, url: str) -> Iterator[None]:
    """Within the block the tool's service is at `url`. Credentials of an HttpTool stay at home."""
    if variable is None:
        assert isinstance(tool, HttpTool)  # noqa: S101 - `_declared` has looked
        service, sender = tool.service, tool.sender
        tool.service = replace(service, base=url, credentials=None)
        tool.sender = replace(sender, service=tool.service)
        try:
            yield
        finally:
            tool.service, tool.sender = service, sender
        return
    known = os.environ.get(variable)
    os.environ[variable] = url
    try:
        yield
    finally:
        if known is None:
            del os.environ[variable]
        else:
            os.environ[variable] = known
