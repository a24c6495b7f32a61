"""What people have said about a step, as far as the server's history alone can tell."""

from typing import Any, Final

from temporalio.api.common.v1 import Payloads, WorkflowExecution
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest

from surestep.cli import page
from surestep.client import Surestep
from surestep.narrative import when
from surestep.protocol import DECIDE

PAGES: Final = 10
PAGE: Final = 200  # events
SHOWN: Final = 5


async def said(surestep: Surestep, step_id: str) -> list[str]:
    """The newest decisions that were sent, newest first.

    Whether they were taken, only a worker knows: it has not read those that came after it left.
    """
    found: list[str] = []
    token = b""
    for _ in range(PAGES):
        answer = await surestep.client.workflow_service.get_workflow_execution_history_reverse(
            GetWorkflowExecutionHistoryReverseRequest(
                namespace=surestep.client.namespace,
                execution=WorkflowExecution(workflow_id=step_id),
                maximum_page_size=PAGE,
                next_page_token=token,
            )
        )
        for event in answer.history.events:
            sent = _decision(event)
            if sent is not None:
                found.append(await _in_words(surestep, event, sent))
            if len(found) == SHOWN:
                return found
        token = answer.next_page_token
        if not token:
            break
    return found


def _decision(event: HistoryEvent) -> Payloads | None:
    signal = event.workflow_execution_signaled_event_attributes
    update = event.workflow_execution_update_accepted_event_attributes.accepted_request.input
    if signal.signal_name == DECIDE:
        return signal.input
    return update.args if update.name == DECIDE else None


async def _in_words(surestep: Surestep, event: HistoryEvent, sent: Payloads) -> str:
    at = when(event.event_time.ToDatetime())
    try:
        (given,) = await surestep.client.data_converter.decode(list(sent.payloads))
        by, verdict = given.get("by") or "somebody who gave no name", given["verdict"]
    except Exception:  # whatever a payload can hold; a worker will say what is wrong with it
        return f"{at}: something that cannot be read here"
    return f"{at}: {_short(by)} said {_short(verdict)}"


def _short(text: Any) -> str:
    return page.printable(str(text))[:60]
