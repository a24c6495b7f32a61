"""`setup`: what the namespace needs before its first step."""

import asyncio
import time
from collections.abc import Collection
from datetime import timedelta
from typing import Annotated, Final

import typer
from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    RegisterNamespaceRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.failure import NotSetUp
from surestep.cli.session import run, session
from surestep.registration import no_namespace, registered, type_number
from surestep.visibility import SEARCH_ATTRIBUTES

EPILOG = epilog(Exit.DONE, Exit.NOT_SET_UP)

# A server's hosts learn of a new namespace or attribute from a cache that they renew by and by.
SHOWN_WITHIN: Final = timedelta(seconds=60)
AGAIN: Final = timedelta(seconds=0.5)

_NOT_ALLOWED: Final = (RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED)

_CROSSED: Final = (
    RPCStatusCode.ALREADY_EXISTS,
    RPCStatusCode.ABORTED,
    RPCStatusCode.UNAVAILABLE,
)
"""What a server answers when two change a namespace at once: looked at again, then repeated."""


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
    """Register Surestep's search attributes in the namespace.

    It can be run at any time, again, and by several at once: what is there stays as it is.
    """
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
        missing = [name for name in SEARCH_ATTRIBUTES if name not in there]
        await _add_what_is_missing(client)
        for name, kind in SEARCH_ATTRIBUTES.items():
            page.labelled("added" if name in missing else "existed", f"{name} ({kind})")
    return Exit.DONE


async def _namespace(client: Client, retention: timedelta | None) -> str:
    name = client.namespace
    kept = await _kept(client)
    if kept is None:
        if retention is None:
            raise NotSetUp(
                f"there is no namespace {name!r}: correct TEMPORAL_NAMESPACE, or create it with "
                "--create-namespace --retention-days DAYS"
            )
        if await _create(client, retention):
            return f"{name} created; closed steps are kept for {retention.days} days"
        kept = await _kept(client)
    if retention and kept and kept != retention:
        return (
            f"{name} exists, and keeps closed steps for {kept / timedelta(days=1):g} days; change "
            f"that with `temporal operator namespace update --retention {retention.days}d "
            f"--namespace {name}`"
        )
    return f"{name} exists"


async def _kept(client: Client) -> timedelta | None:
    """How long the namespace keeps closed steps; None: there is no such namespace."""
    request = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        answer = await client.workflow_service.describe_namespace(request)
    except RPCError as error:
        if not no_namespace(error):
            raise
        return None
    return answer.config.workflow_execution_retention_ttl.ToTimedelta()


async def _create(client: Client, retention: timedelta) -> bool:
    """Whether it was we who created it."""
    kept = Duration()
    kept.FromTimedelta(retention)
    request = RegisterNamespaceRequest(
        namespace=client.namespace, workflow_execution_retention_period=kept
    )
    try:
        await client.workflow_service.register_namespace(request)
    except RPCError as error:
        if error.status is RPCStatusCode.ALREADY_EXISTS:
            return False
        if error.status in _NOT_ALLOWED:
            raise NotSetUp(
                f"the server does not let these credentials create a namespace ({error.message}). "
                "On Temporal Cloud create it in the web console or with `tcld namespace create`, "
                "then run setup again without --create-namespace"
            ) from error
        raise
    return True


async def _registered(client: Client) -> dict[str, str]:
    """The namespace's own search attributes and their types, once its hosts know the namespace."""
    deadline = time.monotonic() + SHOWN_WITHIN.total_seconds()
    while True:
        try:
            return await registered(client)
        except RPCError as error:
            if not no_namespace(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(AGAIN.total_seconds())


async def _add_what_is_missing(client: Client) -> None:
    """Until the list shows everything and, as they lag behind it, the queries know it."""
    deadline = time.monotonic() + SHOWN_WITHIN.total_seconds()
    while True:
        there = await _registered(client)
        if missing := [name for name in SEARCH_ATTRIBUTES if name not in there]:
            await _try_to_add(client, missing)
        elif await _known_to_queries(client):
            return
        if time.monotonic() > deadline:
            raise NotSetUp(
                "the server took the search attributes and does not show them yet: "
                "run setup again in a minute"
            )
        await asyncio.sleep(AGAIN.total_seconds())


async def _known_to_queries(client: Client) -> bool:
    try:
        await client.count_workflows(" OR ".join(f"{name} IS NULL" for name in SEARCH_ATTRIBUTES))
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        return False
    return True


async def _try_to_add(client: Client, missing: Collection[str]) -> None:
    kinds = {name: SEARCH_ATTRIBUTES[name] for name in missing}
    request = AddSearchAttributesRequest(
        namespace=client.namespace,
        search_attributes={name: type_number(kind) for name, kind in kinds.items()},
    )
    try:
        await client.operator_service.add_search_attributes(request)
    except RPCError as error:
        wanted = ", ".join(f"{name}={kind}" for name, kind in kinds.items())
        if error.status in _NOT_ALLOWED:
            raise NotSetUp(
                f"the server does not let these credentials register search attributes "
                f"({error.message}). On Temporal Cloud add them in the namespace's settings or "
                f"with tcld: {wanted}"
            ) from error
        if "cannot have more than" in error.message:
            raise NotSetUp(
                f"the namespace has no room for {wanted} ({error.message}). Remove what nobody "
                "uses, or use a namespace of its own for Surestep"
            ) from error
        if error.status not in _CROSSED:
            raise
