"""What the sender of a write gets to see: the interpreter of `Reply`."""

import asyncio
import json
import math
from typing import Final

from surestep.testing.faults import Reply
from surestep.testing.script import matches
from surestep.testing.wire import Answer, Connection

PAGE: Final = "<!doctype html><title>Sign in</title><h1>Please sign in</h1>"
REPEATING_REDIRECTS: Final = frozenset({307, 308})
"""Redirects after which a client sends the same method and body again."""

FAILURES: Final = frozenset({Reply.ERROR, Reply.PROBLEM})
"""Replies that a service with `stores_failures` keeps under the key."""


class Held:
    """The answers that are held back until a test releases them."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, asyncio.Event]] = []

    async def wait(self, key: str, connection: Connection) -> None:
        """Returns when the key is released or the peer has left."""
        released = asyncio.Event()
        entry = (key, released)
        self._waiting.append(entry)
        ways = [asyncio.ensure_future(released.wait()), asyncio.ensure_future(connection.gone())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self._waiting.remove(entry)

    def release(self, pattern: str) -> None:
        for key, released in self._waiting:
            if matches(pattern, key):
                released.set()


def shaped(reply: Reply, amount: float, answer: Answer, path: str) -> Answer:
    """The answer as `reply` makes it look; `path` is where the write was sent."""
    match reply:
        case Reply.ERROR:
            return Answer.text(int(amount), f"upstream error {amount:g}")
        case Reply.PROBLEM:
            return Answer.problem(int(amount), "refused", "the service refuses this write")
        case Reply.RATE_LIMITED:
            wait = ("Retry-After", str(math.ceil(amount)))
            return Answer.problem(429, "rate_limited", "too many requests", wait)
        case Reply.CORRUPT:
            return answer.with_header("Content-Encoding", "gzip")
        case Reply.HTML:
            return Answer.text(200, PAGE, "text/html")
        case Reply.EMPTY:
            return Answer(answer.status, b"")
        case Reply.HUGE:
            value = json.loads(answer.body)
            room = int(amount) - len(json.dumps({**value, "padding": ""}))
            return Answer.json(answer.status, {**value, "padding": "x" * max(room, 0)})
        case Reply.REDIRECT:
            place = None if amount in REPEATING_REDIRECTS else answer.header("Location")
            return Answer(int(amount), b"", (("Location", place or path),))
        case _:
            return answer


async def deliver(
    reply: Reply, amount: float, answer: Answer, connection: Connection, held: Held, key: str
) -> None:
    """Sends a shaped answer in the manner of `reply`, or breaks the connection instead."""
    match reply:
        case Reply.CLOSED:
            connection.close()
        case Reply.RESET:
            connection.reset()
        case Reply.SILENCE:
            await connection.gone()
            connection.close()
        case Reply.TRUNCATED:
            await connection.send_head(answer)
            await connection.send_body(answer.body[: len(answer.body) // 2])
            connection.close()
        case Reply.TRUNCATED_STATUS:
            await connection.send_raw(f"HTTP/1.1 {answer.status} Crea".encode())
            connection.close()
        case Reply.SLOW:
            await asyncio.sleep(amount)
            await connection.send(answer)
        case Reply.HELD:
            await held.wait(key, connection)
            await connection.send(answer)
        case Reply.DRIP:
            await connection.send(answer, over=amount)
        case _:
            await connection.send(answer)
