"""What the server stores of a step, as somebody without any key gets it."""

from collections.abc import Iterator

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.history.v1 import History
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest
from temporalio.client import Client

from surestep.encryption.codec import is_encrypted, key_id_of


async def history(client: Client, step_id: str) -> History:
    """The events of the newest run, undecoded."""
    request = GetWorkflowExecutionHistoryRequest(
        namespace=client.namespace, execution=WorkflowExecution(workflow_id=step_id)
    )
    whole = History()
    while True:
        answer = await client.workflow_service.get_workflow_execution_history(request)
        whole.events.extend(answer.history.events)
        if not answer.next_page_token:
            return whole
        request.next_page_token = answer.next_page_token


def payloads(message: Message) -> Iterator[Payload]:
    """All of them, wherever they stand in the message."""
    if isinstance(message, Payload):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = [one for one in value.values() if isinstance(one, Message)]
        else:
            inner = value if isinstance(value, Message) is False else [value]
        for one in inner:
            yield from payloads(one)


async def key_ids(client: Client, step_id: str) -> set[str]:
    """The keys under which the step's history is encrypted."""
    found = payloads(await history(client, step_id))
    return {key_id_of(one) for one in found if is_encrypted(one)}
