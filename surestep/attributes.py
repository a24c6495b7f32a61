"""The search attributes as Temporal wants them: their keys, and what fits into them."""

import json
from collections.abc import Iterable
from typing import Any, Final

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from surestep import visibility
from surestep.protocol import StepInput

STATE: Final = SearchAttributeKey.for_keyword(visibility.STATE)
TOOL: Final = SearchAttributeKey.for_keyword_list(visibility.TOOL)
NEEDS_HUMAN: Final = SearchAttributeKey.for_bool(visibility.NEEDS_HUMAN)
UNKNOWN_SINCE: Final = SearchAttributeKey.for_datetime(visibility.UNKNOWN_SINCE)
RUN: Final = SearchAttributeKey.for_keyword(visibility.RUN)
ANOMALY: Final = SearchAttributeKey.for_keyword_list(visibility.ANOMALY)

KEYS: Final[tuple[SearchAttributeKey[Any], ...]] = (
    STATE,
    TOOL,
    NEEDS_HUMAN,
    UNKNOWN_SINCE,
    RUN,
    ANOMALY,
)

LIMIT: Final = 1800
"""Bytes, with room for how they are written: the server ends a workflow whose attribute is over
2048 bytes of JSON."""


def of_a_start(step: StepInput) -> TypedSearchAttributes:
    """What is known of a step before a worker has taken it; a state is not among it."""
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(TOOL, tool_names(action.tool for action in step.actions)),
        SearchAttributePair(NEEDS_HUMAN, False),
    ]
    if step.run:
        pairs.append(SearchAttributePair(RUN, run_name(step.run)))
    return TypedSearchAttributes(pairs)


def run_name(text: str) -> str:
    """As much of the run's name as fits: one character can be twelve bytes of JSON."""
    while len(json.dumps(text)) > LIMIT:
        text = text[:-1]
    return text


def tool_names(names: Iterable[str]) -> list[str]:
    """As many names as fit, sorted; they are ASCII."""
    kept, room = [], LIMIT
    for name in sorted(set(names)):
        room -= len(name) + 4
        if room < 0:
            break
        kept.append(name)
    return kept
