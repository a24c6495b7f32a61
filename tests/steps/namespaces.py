"""Namespaces of a test's own: a new one has no search attributes, and its own retention."""

from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from surestep.registration import type_number
from tests.waiting import eventually

DAY = timedelta(days=1)


async def new_namespace(
    client: Client, name: str, *, retention: timedelta = DAY, **attributes: str
) -> Client:
    """A client of a new namespace with these search attributes, once it can be used."""
    kept = Duration()
    kept.FromTimedelta(retention)
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=kept)
    )
    new = Client(**{**client.config(), "namespace": name})

    async def can_be_used() -> bool:
        try:
            await new.count_workflows()
        except RPCError:
            return False
        return True

    await eventually(can_be_used)
    if attributes:
        await add_attributes(new, **attributes)
    return new


async def add_attributes(client: Client, **attributes: str) -> None:
    """Register search attributes by name and type, and wait until queries know them."""
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=client.namespace,
            search_attributes={name: type_number(kind) for name, kind in attributes.items()},
        )
    )

    async def are_known() -> bool:
        try:
            await client.count_workflows(" OR ".join(f"{name} IS NULL" for name in attributes))
        except RPCError:
            return False
        return True

    await eventually(are_known)
