"""A workflow is in one thread at a time, also when a task of it took too long."""

from threading import Lock

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner


class InTurns(SandboxedWorkflowRunner):
    """The sandbox of the SDK, in which an eviction waits for the activation before it.

    The SDK gives up a workflow task after two seconds, which a busy machine may need for a flood of
    signals, and evicts the workflow, without waiting for the thread that is still in it: both then
    run the workflow's coroutines, some are never woken again, and the worker cannot stop any more.
    """

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        instance = super().create_instance(det)
        activate, turn = instance.activate, Lock()

        def in_turn(act: WorkflowActivation) -> WorkflowActivationCompletion:
            with turn:
                return activate(act)

        instance.activate = in_turn  # type: ignore[method-assign]
        return instance
