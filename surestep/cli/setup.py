"""`setup`: what the namespace needs before its first step."""

import asyncio
import time
from datetime import timedelta
from typing import Annotated, Final

import typer
from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    RegisterNamespaceRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.failure import NotSetUp, no_namespace
from surestep.cli.session import run, session
from surestep.registration import type_name, type_number
from surestep.visibility import SEARCH_ATTRIBUTES

EPILOG = epilog(Exit.DONE, Exit.NOT_SET_UP)

# A server's hosts learn of a new namespace or attribute from a cache that they renew by and by.
SHOWN_WITHIN: Final = timedelta(seconds=60)


def setup(
    create_namespace: Annotated[
        bool,
        typer.Option(
            "--create-namespace", help="Create the namespace if it is missing (not on Cloud)."
        ),
    ] = False,
    retention_days: Annotated[
        int | None,
        typer.Option(min=1, help="With --create-namespace: how long closed steps stay known."),
    ] = None,
) -> None:
    """Register Surestep's search attributes in the namespace. It can be run again at any time."""
    if create_namespace and retention_days is None:
        raise typer.BadParameter(
            "--create-namespace needs --retention-days: a step id protects only as long as the "
            "closed step is kept"
        )
    run(_setup(timedelta(days=retention_days or 0) if create_namespace else None))


async def _setup(retention: timedelta | None) -> Exit:
    async with session() as surestep:
        client = surestep.client
        page.labelled("namespace", await _namespace(client, retention))
        there = await _registered(client)
        wrong = [
            f"{name} is {there[name]} and must be {kind}"
            for name, kind in SEARCH_ATTRIBUTES.items()
            if there.get(name, kind) != kind
        ]
        if wrong:
            raise NotSetUp(
                f"{'; '.join(wrong)}. Remove it with `temporal operator search-attribute remove "
                f"--namespace {client.namespace} --name …` and run setup again, or use another "
                "namespace"
            )
        missing = {name: kind for name, kind in SEARCH_ATTRIBUTES.items() if name not in there}
        if missing:
            await _add(client, missing)
        for name, kind in SEARCH_ATTRIBUTES.items():
            page.labelled("added" if name in missing else "existed", f"{name} ({kind})")
    return Exit.DONE


async def _namespace(client: Client, retention: timedelta | None) -> str:
    name = client.namespace
    try:
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name))
        return f"{name} exists"
    except RPCError as error:
        if not no_namespace(error):
            raise
    if retention is None:
        raise NotSetUp(
            f"there is no namespace {name!r}: correct TEMPORAL_NAMESPACE, or create it with "
            "--create-namespace --retention-days DAYS"
        )
    kept = Duration()
    kept.FromTimedelta(retention)
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=kept)
    )
    return f"{name} created; closed steps are kept for {retention.days} days"


async def _registered(client: Client) -> dict[str, str]:
    """The namespace's own search attributes and their types."""
    deadline = time.monotonic() + SHOWN_WITHIN.total_seconds()
    request = ListSearchAttributesRequest(namespace=client.namespace)
    while True:
        try:
            answer = await client.operator_service.list_search_attributes(request)
        except RPCError as error:
            if not no_namespace(error) or time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.5)
        else:
            return {name: type_name(kind) for name, kind in answer.custom_attributes.items()}


async def _add(client: Client, missing: dict[str, str]) -> None:
    request = AddSearchAttributesRequest(
        namespace=client.namespace,
        search_attributes={name: type_number(kind) for name, kind in missing.items()},
    )
    try:
        await client.operator_service.add_search_attributes(request)
    except RPCError as error:
        if error.status in (RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED):
            wanted = ", ".join(f"{name}={kind}" for name, kind in missing.items())
            raise NotSetUp(
                f"the server does not let these credentials register search attributes "
                f"({error.message}). On Temporal Cloud add them in the namespace's settings or "
                f"with tcld: {wanted}"
            ) from error
        if error.status is not RPCStatusCode.ALREADY_EXISTS:  # somebody else ran setup just now
            raise
    deadline = time.monotonic() + SHOWN_WITHIN.total_seconds()
    while not missing.keys() <= (await _registered(client)).keys():
        if time.monotonic() > deadline:
            raise NotSetUp(
                "the server took the search attributes and does not show them yet: "
                "run setup again in a minute"
            )
        await asyncio.sleep(0.5)
