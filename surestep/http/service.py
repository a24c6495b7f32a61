"""A service: where it is, how to be let in, and what it means by its answers."""

import asyncio
import inspect
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias
from urllib.parse import urljoin, urlsplit

import httpx

from surestep.errors import Ambiguous, ContractError, NotSent, Refused, summary
from surestep.evidence import Sending
from surestep.http import problem, rules
from surestep.http.pointer import ABSENT, Place
from surestep.http.proof import Track
from surestep.http.request import Rendered
from surestep.http.rules import Rule
from surestep.http.transport import Outgoing, converse, parsed, raise_for, retry_after
from surestep.mask import Mask

ANSWER_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of an answer that are read. A tool takes its receipt from an answer that the history could
not hold, so an effect is not in doubt for being described at length."""

Source: TypeAlias = Callable[[], str | Awaitable[str]]
"""Gives a text whenever it is needed; `async def` is welcome."""

Credentials: TypeAlias = Callable[[bool], Mapping[str, str] | Awaitable[Mapping[str, str]]]
"""Gives the headers that let us in; True: those it gave last were refused, get new ones."""


def env(name: str) -> Source:
    """The environment variable, read at every send; while it is unset, nothing is sent."""

    def read() -> str:
        try:
            return os.environ[name]
        except KeyError:
            raise NotSent(f"the environment variable {name} is not set") from None

    return read


def bearer(token: Source) -> Credentials:
    """`Authorization: Bearer …`."""
    return header("Authorization", token, prefix="Bearer ")


def header(name: str, value: Source, *, prefix: str = "") -> Credentials:
    """Any header, such as `X-Api-Key`."""

    async def credentials(_: bool) -> Mapping[str, str]:
        return {name: f"{prefix}{await _now(value())}"}

    return credentials


@dataclass(frozen=True)
class Reply:
    """An answer of any status. `document` is its JSON, or ABSENT; `means` what it proves.

    `empty`: there is no body. `response` is the whole, of which a reply may be one item.
    """

    status: int
    document: Any
    means: Sending
    words: str
    response: httpx.Response
    empty: bool

    @property
    def retry_after(self) -> timedelta | None:
        return retry_after(self.response)

    def raise_for_failure(self) -> None:
        """Raises Refused or Ambiguous where the answer means either."""
        raise_for(self.means, self.response, self.words)


@dataclass(frozen=True)
class Service:
    """One service, for all the tools that use it.

    base         URL below which the paths stand, or a Source of it (`env("BILLING_URL")`)
    credentials  `bearer(env("BILLING_TOKEN"))`, `header("X-Api-Key", …)`, or a function of your
                 own. Asked for at every send, never recorded, sent to this service's origin only;
                 after a 401 asked once more
    rules        what this service means by a status or a code, before the general table
    codes        where the code stands in its error bodies
    headers      sent with every request, such as an API version; no secrets
    traceparent  where there is a trace, say so in the header of that name; it differs in every
                 attempt, so switch it off for a service that compares headers under one key
    """

    base: str | Source
    credentials: Credentials | None = None
    rules: tuple[Rule, ...] = ()
    codes: tuple[Place, ...] = problem.CODES
    headers: Mapping[str, str] = field(default_factory=dict)
    traceparent: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.base, str) and "://" not in self.base:
            raise ContractError(
                f"base={self.base!r} is no URL; for a variable say env({self.base!r})"
            )

    async def send(
        self, request: Rendered, *, within: timedelta, track: Track, rules: Iterable[Rule] = ()
    ) -> Reply:
        """One exchange, or two if the first is a 401 that proves that nothing was applied.

        `rules` come after the service's own. Raises NotSent, Ambiguous, and Refused where the
        second exchange did not come about; every answer, a refusal too, is a Reply.
        """
        until = time.monotonic() + within.total_seconds()
        url, given = await self._prepared(request, until)
        reply = await self._exchange(request, url, given, until, track, rules)
        if reply.status != 401 or reply.means is not Sending.REFUSED_FOR_NOW:
            return reply
        try:
            fresh = await self._headers(True, until)
            if fresh == given:
                return reply
            return await self._exchange(request, url, fresh, until, track, rules)
        except NotSent as error:  # the first did leave, so the key may be known
            raise Refused(f"{reply.words}; then {error}", again=True) from error

    async def _exchange(
        self,
        request: Rendered,
        url: str,
        given: Mapping[str, str],
        until: float,
        track: Track,
        general: Iterable[Rule],
    ) -> Reply:
        headers = {**self.headers, **request.headers, **given}
        outgoing = Outgoing(
            request.method, url, headers, request.content, traceparent=self.traceparent
        )
        response = await converse(outgoing, _left(until), track, ANSWER_LIMIT)
        document = _without_credentials(parsed(response), response, given)
        means, why = self._classified(response.status_code, document, general)
        words = problem.words(response, document, self.codes) + why
        return Reply(
            response.status_code, document, means, words, response, empty=not response.content
        )

    def of_item(
        self, reply: Reply, status: int, document: Any, rules: Iterable[Rule] = ()
    ) -> Reply:
        """What an answer says of one of its items, by the same tables."""
        means, why = self._classified(status, document, rules)
        said = problem.item_words(reply.response, status, document, self.codes)
        empty = document is ABSENT or document is None
        return Reply(status, document, means, f"{reply.words}, {said}{why}", reply.response, empty)

    def _classified(
        self, status: int, document: Any, general: Iterable[Rule]
    ) -> tuple[Sending, str]:
        codes = problem.codes(document, self.codes)
        means, why = rules.classify(status, codes, (*self.rules, *general))
        return means, f"; {why}" if why else ""

    async def _prepared(self, request: Rendered, until: float) -> tuple[str, Mapping[str, str]]:
        base = await _resolved(self.base, "the base URL", until)
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query:
            raise NotSent("the base URL is no http or https URL without a query")
        below = f"{parts.scheme}://{parts.netloc}" if request.from_origin else base.rstrip("/")
        return below + request.target, await self._headers(False, until)

    async def _headers(self, stale: bool, until: float) -> Mapping[str, str]:
        if self.credentials is None:
            return {}
        ask = self.credentials
        found = await _resolved(lambda: ask(stale), "the credentials", until)
        return dict(found)

    def target(self, reply: Reply, link: str) -> str | None:
        """A link of an answer as path and query from the origin; None: it leads elsewhere.

        Credentials and our key go to nobody else, so such a link is not followed.
        """
        asked = urlsplit(str(reply.response.request.url))
        found = urlsplit(urljoin(asked.geturl(), link))
        if (found.scheme, found.netloc) != (asked.scheme, asked.netloc):
            return None
        query = f"?{found.query}" if found.query else ""
        return f"{found.path}{query}" if found.path.startswith("/") else None


def _without_credentials(document: Any, response: httpx.Response, given: Mapping[str, str]) -> Any:
    """The answer's document, the credentials masked that it repeats."""
    words = [word for value in given.values() for word in value.split() if len(word) >= 8]
    mask = Mask(words)
    repeats = bool(words) and mask.finds(response.content.decode("utf-8", "replace"))
    return mask.within(document) if repeats else document


async def _resolved(source: Any, what: str, until: float) -> Any:
    """The value now; whatever goes wrong, nothing was sent."""
    try:
        async with asyncio.timeout(_left(until).total_seconds()):
            return await _now(source() if callable(source) else source)
    except NotSent:
        raise
    except Exception as error:
        if isinstance(error, Refused | Ambiguous):  # of its own exchange, not of the action's
            raise NotSent(f"{what} could not be had: {summary(error)}") from error
        raise NotSent(f"{what} could not be had ({type(error).__name__})") from error


async def _now(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _left(until: float) -> timedelta:
    left = until - time.monotonic()
    if left <= 0:
        raise NotSent("no time was left to send")
    return timedelta(seconds=left)
