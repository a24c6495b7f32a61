"""A worker that signals its own process at an exact point: `python -m tests.steps.trap SIGNAL N`.

A step with the name of a point in its id (`…/marked/keyed`) waits there, once, until N steps have
come to their points. Then the process sends itself the signal, and if it survives, all go on. It
is worker.py's own process otherwise; with a third number it only acts, on so many actions at once.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
from enum import StrEnum
from typing import Any

import temporalio.client as client_side
import temporalio.worker as worker_side
from temporalio import activity, workflow

import worker
from surestep.protocol import EXECUTE, PLAN, VERIFY
from surestep.tool import Tool, Tools
from tests.steps.acting import acting_worker

SENDS = "sends itself"


class Point(StrEnum):
    """Where a step can be held, in the order in which it comes there."""

    PLANNED = "planned"  # in its first workflow task: the plan is made, nothing is scheduled
    SCHEDULED = "scheduled"  # a worker has the attempt and has not left its mark
    MARKED = "marked"  # the mark is durable
    BEGUN = "begun"  # the deadline has been checked, and the tool's code begins
    WRITING = "writing"  # in the system call that takes the first byte; one step at a time
    ANSWERED = "answered"  # the answer is here, and is not reported
    RECORDED = "recorded"  # the report is in the history, and the workflow is being told
    LOOKED = "looked"  # the service was looked at, and what it showed is not reported


class Trap(client_side.Interceptor, worker_side.Interceptor):
    """Counts the steps that have come to their points, and holds them until the last one has."""

    def __init__(self, number: signal.Signals, steps: int) -> None:
        self._signal = number
        self._missing = steps
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._go_on = asyncio.Event()
        self._threads_go_on = threading.Event()

    def comes(self, step_id: str, point: Point) -> bool:
        """Whether the step is to wait. With the last one the signal is sent."""
        with self._lock:
            if point not in step_id.split("/") or step_id in self._seen:
                return False
            self._seen.add(step_id)
            self._missing -= 1
            print(f"{step_id} is there; {self._missing} are missing", flush=True)
            if self._missing:
                return True
            print(f"{SENDS} {self._signal.name}", flush=True)
            os.kill(os.getpid(), self._signal)
            self._threads_go_on.set()
            if threading.current_thread() is threading.main_thread():
                self._go_on.set()  # before any timer that became due in the meantime
            else:
                self._loop.call_soon_threadsafe(self._go_on.set)
            return False

    async def hold(self, point: Point) -> None:
        if self.comes(activity.info().workflow_id or "", point):
            await self._go_on.wait()

    def hold_thread(self, step_id: str, point: Point) -> None:
        """For a workflow, which the SDK lets wait for two seconds."""
        if self.comes(step_id, point):
            self._threads_go_on.wait()

    def intercept_client(self, next: client_side.OutboundInterceptor) -> "Marks":
        return Marks(next, self)

    def intercept_activity(self, next: worker_side.ActivityInboundInterceptor) -> "Activities":
        return Activities(next, self)

    def workflow_interceptor_class(
        self, input: Any
    ) -> type[worker_side.WorkflowInboundInterceptor]:
        trap = self

        class Starts(worker_side.WorkflowOutboundInterceptor):
            def start_activity(self, input: Any) -> Any:
                handle, step_id = super().start_activity(input), workflow.info().workflow_id
                if input.activity == EXECUTE:
                    handle.add_done_callback(lambda _: trap.hold_thread(step_id, Point.RECORDED))
                return handle

        class Workflows(worker_side.WorkflowInboundInterceptor):
            def init(self, outbound: Any) -> None:
                super().init(Starts(outbound))

        return Workflows

    def tools(self, given: Tools) -> Tools:
        for tool in given:
            _hold_execute(tool, self)
        return given

    def writes(self) -> None:
        """Have what an attempt hands to a socket come by here first."""
        send = socket.socket.send

        def held(sock: socket.socket, data: Any, *flags: int) -> int:
            if activity.in_activity() and bytes(data[:4]) == b"POST":
                self.comes(activity.info().workflow_id or "", Point.WRITING)
            return send(sock, data, *flags)

        socket.socket.send = held  # type: ignore[method-assign,assignment]


class Marks(client_side.OutboundInterceptor):
    def __init__(self, next: client_side.OutboundInterceptor, trap: Trap) -> None:
        super().__init__(next)
        self._trap = trap

    async def heartbeat_async_activity(self, input: Any) -> None:
        await self._trap.hold(Point.SCHEDULED)
        await super().heartbeat_async_activity(input)
        await self._trap.hold(Point.MARKED)


class Activities(worker_side.ActivityInboundInterceptor):
    def __init__(self, next: worker_side.ActivityInboundInterceptor, trap: Trap) -> None:
        super().__init__(next)
        self._trap = trap

    async def execute_activity(self, input: worker_side.ExecuteActivityInput) -> Any:
        ends = {PLAN: Point.PLANNED, EXECUTE: Point.ANSWERED, VERIFY: Point.LOOKED}
        report = await super().execute_activity(input)
        if activity.info().activity_type in ends:
            await self._trap.hold(ends[activity.info().activity_type])
        return report


def _hold_execute(tool: Tool, trap: Trap) -> None:
    execute = tool.execute_with
    assert execute

    async def held(args: Any, call: Any) -> Any:
        await trap.hold(Point.BEGUN)
        return await execute(args, call)

    tool.execute_with = held


def main(number: signal.Signals, steps: int, at_once: int | None) -> int:
    build_worker = worker.build_worker

    def trapped(client: client_side.Client, tools: Tools, **how: Any) -> worker_side.Worker:
        trap = Trap(number, steps)
        trap.writes()
        watched = client_side.Client(**{**client.config(), "interceptors": [trap]})
        if at_once is None:
            return build_worker(watched, trap.tools(tools), **how)
        queue, grace = how["task_queue"], how["grace"]
        known = trap.tools(tools)
        return acting_worker(watched, known, task_queue=queue, at_once=at_once, grace=grace)

    worker.build_worker = trapped
    return worker.main()


if __name__ == "__main__":
    code = main(
        signal.Signals[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else None
    )
    os._exit(code)
