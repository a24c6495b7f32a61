import asyncio

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    RemoveSearchAttributesRequest,
)

from surestep.visibility import SEARCH_ATTRIBUTES, STATE

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_setup_adds_what_is_missing_keeps_what_is_there_and_refuses_another_type(
    elsewhere, server
):
    fresh = elsewhere.where(TEMPORAL_NAMESPACE="fresh")
    listed, refused = await asyncio.gather(fresh("list"), fresh("setup"))
    assert listed.code == 3
    assert "Namespace fresh is not found" in listed.said
    assert refused.code == 12
    assert "--create-namespace" in refused.said

    created = await fresh("setup", "--create-namespace", "--retention-days", "7")
    assert created.code == 0
    assert "fresh created; closed steps are kept for 7 days" in created.out
    assert created.out.count("added") == len(SEARCH_ATTRIBUTES)

    again = await fresh("setup")
    assert again.code == 0
    assert again.out.count("existed") == len(SEARCH_ATTRIBUTES)

    operator = server.client.operator_service
    await operator.remove_search_attributes(
        RemoveSearchAttributesRequest(namespace="fresh", search_attributes=[STATE])
    )
    missing = await fresh("list", "--state", "unknown")
    assert missing.code == 12
    assert "python starter.py setup" in missing.said

    number = IndexedValueType.INDEXED_VALUE_TYPE_INT
    await operator.add_search_attributes(
        AddSearchAttributesRequest(namespace="fresh", search_attributes={STATE: number})
    )
    wrong = await fresh("setup")
    assert wrong.code == 12
    assert f"{STATE} is Int and must be Keyword" in wrong.said
