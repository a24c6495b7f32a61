"""The mark on a start that the server takes only for the first run of a step id.

It travels in a header, which neither the Web UI nor the command line copies into another start. So
`plan` need not ask the server for runs before this one: the server has said that there is none.
"""

from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Client,
    Interceptor,
    OutboundInterceptor,
    StartWorkflowInput,
    WorkflowHandle,
)
from temporalio.common import WorkflowIDReusePolicy

from surestep.protocol import FIRST_RUN


class FirstRunMark(Interceptor):
    """Marks every start that is refused where the id was ever used."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        return _Marking(next)


class _Marking(OutboundInterceptor):
    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        if input.id_reuse_policy is WorkflowIDReusePolicy.REJECT_DUPLICATE:
            input.headers = {**input.headers, FIRST_RUN: Payload()}
        return await super().start_workflow(input)


def marking(client: Client) -> Client:
    """The same connection, on which starts are marked."""
    config = client.config(active_config=True)
    config["interceptors"] = [*config["interceptors"], FirstRunMark()]
    config["plugins"] = []  # they have changed the configuration already
    return Client(**config)
