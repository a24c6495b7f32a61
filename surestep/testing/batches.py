"""Batches: `{"items": [{"key", "body"}]}` in, `{"results": [{"key", "status", "body"}]}` out."""

import json
from typing import Final

from pydantic import JsonValue

from surestep.testing.faults import Reply
from surestep.testing.wire import Answer

TOLD: Final = frozenset({Reply.ANSWER, Reply.ERROR, Reply.PROBLEM, Reply.RATE_LIMITED, Reply.EMPTY})
"""Replies that leave a result in the answer; with any other the item is missing from it."""


class NoBatch(ValueError):
    """The content is no batch; the message shows one."""


def items(content: JsonValue) -> list[tuple[str, bytes]]:
    """Key and content of each item. Raises NoBatch."""
    listed = content.get("items") if isinstance(content, dict) else None
    found = list[tuple[str, bytes]]()
    for item in listed if isinstance(listed, list) else [None]:
        key = item.get("key") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(key, str) or "body" not in item:
            raise NoBatch('the content must be {"items": [{"key": "…", "body": {…}}]}')
        found.append((key, json.dumps(item["body"], sort_keys=True).encode()))
    return found


def result(key: str, answer: Answer) -> JsonValue:
    """What the answer to the batch says of one item; `body` is null where there is no JSON."""
    try:
        body: JsonValue = json.loads(answer.body)
    except ValueError:
        body = None
    return {"key": key, "status": answer.status, "body": body}
