"""What people and machines are shown of records and arguments: personal values masked. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from surestep.facts import Facts
from surestep.mask import Mask
from surestep.places import masked, matching

R = TypeVar("R", bound=Facts)

OURS: Final = frozenset(
    {"action_id", "name", "tool", "input_hash", "kind", "contract", "undo", "arguments", "personal"}
)
"""Names and words of our own, by which things are found; no value stands in them."""


def shown(record: R) -> R:
    """The record with every personal value masked, whoever has written it into a text.

    Its arguments are masked where they are marked, and its texts and receipts everywhere.
    """
    if not record.personal:
        return record
    copy: R = _hidden(record, mask_of([record]))
    arguments = shown_arguments(record.arguments, record.personal)
    return copy.model_copy(update={"arguments": arguments})


def _hidden(value: Any, mask: Mask) -> Any:
    """The value with its texts masked. Copied and not read anew: it must never fail."""
    if isinstance(value, BaseModel):
        texts = ((name, item) for name, item in value if name not in OURS)
        return value.model_copy(update={name: _hidden(item, mask) for name, item in texts})
    if isinstance(value, tuple):
        return tuple(_hidden(item, mask) for item in value)
    return mask.within(value)


def shown_arguments(arguments: dict[str, Any], personal: Iterable[str]) -> dict[str, Any]:
    """Recorded arguments with the mask in place of personal values."""
    for pattern in personal:
        arguments = masked(arguments, pattern)
    return arguments


def mask_of(records: Sequence[Facts]) -> Mask:
    """What hides the personal values of all these actions, also in texts that belong to none."""
    return Mask(
        value
        for record in records
        for pattern in record.personal
        for value in matching(record.arguments, pattern)
    )
