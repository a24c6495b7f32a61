"""The published wrapper, from its description (arXiv 2608.02645), to the letter.

Execute. A success returns at once, without a read; a failure returns. Ambiguous: back off, verify.
True: success. False: execute again with the same key. Unknown: that spends the only retry. The last
answer is never inspected, and there is at most one retry.

What the description leaves open, and how it is read here: "unknown spends the retry" means that
nothing is sent again and the first answer is returned. A fragment is "false": the postcondition
does not hold; a job under way is "unknown". The key is computed once per call, from the content
and the time bucket in which the call begins.
"""

from typing import Final

from .arms import BACKOFF, DEFINITE, SUCCESS, Said, Told, Upstream, tell
from .service import LOOKS_IN, Sight

BUCKET: Final = 60.0  # seconds; the size is not published


def bucket_key(content: str, at: float, offset: float) -> str:
    """`offset`: where in its bucket the clock stood at time 0."""
    return f"{content}@{int((at + offset) // BUCKET)}"


def published(service: Upstream, key: str, now: float) -> Told:
    answer = service.send(key, now)
    if answer.reply in SUCCESS or answer.reply in DEFINITE:
        return tell(answer)
    seen = service.look(answer.at + BACKOFF)
    now = answer.at + BACKOFF + LOOKS_IN
    if seen is Sight.WHOLE:
        return Told(Said.DONE, now)
    if seen in (Sight.BLIND, Sight.PENDING):
        return Told(Said.FAILED, now)
    return tell(service.send(key, now))
