"""A stage for the stories that are recorded: a real server, a worker, a service that obeys."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from surestep import (
    Accepted,
    Call,
    Contract,
    Effect,
    Fence,
    Receipt,
    Refused,
    State,
    Surestep,
    Tool,
    Verification,
    confirmed,
    not_found,
    pending,
    unknown,
)
from surestep.record import Record
from tests.waiting import eventually

SHORT = timedelta(milliseconds=200)


class Order(BaseModel):
    order: str


async def answers(args: Order, call: Call) -> Receipt | Accepted:
    return Receipt(id=f"e-{args.order}", result={"order": args.order})


async def breaks(args: Order, call: Call) -> Receipt | Accepted:
    raise ConnectionResetError


async def refuses(args: Order, call: Call) -> Receipt | Accepted:
    raise Refused("card declined")


async def accepts(args: Order, call: Call) -> Receipt | Accepted:
    return Accepted(receipt=Receipt(id="op-1"))


async def sees(args: Order, call: Call) -> Verification:
    return confirmed(Receipt(id=f"e-{args.order}"))


async def misses(args: Order, call: Call) -> Verification:
    return not_found()


async def is_down(args: Order, call: Call) -> Verification:
    return unknown("the lookup is down")


async def is_running(args: Order, call: Call) -> Verification:
    return pending("the operation runs")


def tool(
    name: str,
    executes: Callable[..., Any] = answers,
    verifies: Callable[..., Any] | None = misses,
    *,
    undo: Callable[..., Any] | None = None,
    fences: bool = False,
    **promised: Any,
) -> Tool:
    promised.setdefault("look_first", False)
    promised.setdefault("patience", SHORT)
    contract = Contract(effect=Effect.IRREVERSIBLE, ask=verifies is None, **promised)
    made = Tool(name, Order, contract, recognise="order")
    made.execute(executes)
    if verifies:
        made.verify(verifies)
    if undo:
        made.compensate(undo)
    if fences:

        @made.fence
        async def _(args: Order, call: Call) -> Fence:
            return Fence(held=True)

    return made


@dataclass
class Stage:
    """What a story plays on: the server's client, one worker's agent, and one step id."""

    client: Client
    surestep: Surestep
    step_id: str

    async def start(self, *tools: Tool, **how: Any) -> None:
        actions = (one(order=f"o-{number}") for number, one in enumerate(tools, 1))
        await self.surestep.start(self.step_id, *actions, run="run-1", label="recorded", **how)

    async def until(self, happened: Callable[[list[Record]], object]) -> list[Record]:
        """Wait until the records say so."""

        async def look() -> list[Record]:
            records = await self.surestep.handle(self.step_id).records()
            return records if records and happened(records) else []

        return await eventually(look)

    async def reaches(self, state: State) -> None:
        await self.until(lambda records: any(one.state is state for one in records))

    async def ends(self) -> None:
        await self.surestep.handle(self.step_id).outcome(within=timedelta(seconds=20))

    async def scheduled(self, kind: int, count: int = 1) -> None:
        """Wait until the newest run's history has so many events of this kind."""
        handle = self.client.get_workflow_handle(self.step_id)

        async def enough() -> bool:
            events = (await handle.fetch_history()).events
            return sum(event.event_type == kind for event in events) >= count

        await eventually(enough)

    async def watch_id(self) -> str:
        """The id of the workflow that watches the step after its end."""
        history = await self.client.get_workflow_handle(self.step_id).fetch_history()
        (started,) = (
            event.child_workflow_execution_started_event_attributes
            for event in history.events
            if event.HasField("child_workflow_execution_started_event_attributes")
        )
        return started.workflow_execution.workflow_id

    async def reset(self, to_event: int) -> None:
        """What the button in the Web UI does."""
        described = await self.client.get_workflow_handle(self.step_id).describe()
        await self.client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=self.client.namespace,
                workflow_execution=WorkflowExecution(
                    workflow_id=self.step_id, run_id=described.run_id
                ),
                reason="recorded",
                workflow_task_finish_event_id=to_event,
                request_id=f"reset-{self.step_id}",
            )
        )
