"""Workers that take signed decisions only, and what people sign for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client

from surestep import Decision, Surestep, Tool, Tools
from surestep.authority import Authority
from surestep.record import Record
from surestep.signature import sign
from tests.authority.people import key_of
from worker import build_worker


@asynccontextmanager
async def ruled_by(
    rules: Authority, client: Client, queue: str, *known: Tool, **more: Any
) -> AsyncIterator[Surestep]:
    """A worker that knows these tools."""
    grace = timedelta(seconds=1)
    tools = Tools(*known)
    async with build_worker(client, tools, task_queue=queue, grace=grace, authority=rules, **more):
        yield Surestep(client, task_queue=queue)


def signed(name: str, record: Record, verdict: str, **said: Any) -> Decision:
    """What a person says who sees this record."""
    made = {"id": f"{name}-{verdict}", "version": record.version, "made_at": datetime.now(UTC)}
    about = {"action_id": record.action_id, "input_hash": record.input_hash}
    about = {field: said.pop(field, value) for field, value in about.items()}
    told = Decision.model_validate({"verdict": verdict, **made, **said})
    return sign(told, **about, key=key_of(name))
