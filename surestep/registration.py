"""The search attributes of a namespace, and their types in Temporal's words and in its numbers."""

import re

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.visibility import SEARCH_ATTRIBUTES

_PREFIX = "INDEXED_VALUE_TYPE_"

# Credentials that may read and write steps may still not call the operator's service.
_NOT_OFFERED = (RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED)


def type_number(kind: str) -> IndexedValueType.ValueType:
    """`KeywordList` as it travels."""
    words = "".join(f"_{char}" if char.isupper() else char for char in kind)
    return IndexedValueType.Value(_PREFIX + words.upper().removeprefix("_"))


def type_name(number: IndexedValueType.ValueType) -> str:
    """The same, as people and the command line write it."""
    name = IndexedValueType.Name(number).removeprefix(_PREFIX)
    return "".join(word.capitalize() for word in name.split("_"))


def no_namespace(error: RPCError) -> bool:
    """Whether a call failed because the whole namespace is missing."""
    return error.status is RPCStatusCode.NOT_FOUND and error.message.startswith("Namespace")


async def registered(client: Client) -> dict[str, str]:
    """The namespace's search attributes and their types; at least those of ours that it has.

    Where the list is not for these credentials, the queries that they may make tell. Raises
    RPCError.
    """
    request = ListSearchAttributesRequest(namespace=client.namespace)
    try:
        answer = await client.operator_service.list_search_attributes(request)
    except RPCError as error:
        if error.status not in _NOT_OFFERED:
            raise
        return await told_by_queries(client)
    return {name: type_name(kind) for name, kind in answer.custom_attributes.items()}


async def told_by_queries(client: Client) -> dict[str, str]:
    """Those of ours that the namespace has: a query with a wrong value is refused with the type."""
    found = {}
    for name, kind in SEARCH_ATTRIBUTES.items():
        value = "'no date'" if kind == "Datetime" else "5"
        try:
            await client.count_workflows(f"{name} = {value}")
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            if "invalid search attribute" in error.message:
                continue
            told = re.search(rf"{name}['\"]? of type (\w+)", error.message)
            found[name] = told[1] if told else kind
        else:  # a value of that type would be right
            found[name] = "Keyword" if kind == "Datetime" else "Int"
    return found
