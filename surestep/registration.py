"""The types of search attributes, in Temporal's words and in its numbers."""

from temporalio.api.enums.v1 import IndexedValueType

_PREFIX = "INDEXED_VALUE_TYPE_"


def type_number(kind: str) -> IndexedValueType.ValueType:
    """`KeywordList` as it travels."""
    words = "".join(f"_{char}" if char.isupper() else char for char in kind)
    return IndexedValueType.Value(_PREFIX + words.upper().removeprefix("_"))


def type_name(number: IndexedValueType.ValueType) -> str:
    """The same, as people and the command line write it."""
    name = IndexedValueType.Name(number).removeprefix(_PREFIX)
    return "".join(word.capitalize() for word in name.split("_"))
