"""How a workflow is run: in the SDK's sandbox, in turns and without work for nothing."""

from dataclasses import dataclass
from threading import Lock

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import (
    DataConverter,
    StorageDriverStoreContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from surestep.encryption.codec import EncryptionCodec


@dataclass(frozen=True)
class StepRunner(SandboxedWorkflowRunner):
    """The sandbox of the SDK, with `contextual` for a codec or a store that asks for contexts.

    An eviction waits for the activation before it. The SDK gives up a workflow task after two
    seconds, which a busy machine may need for a flood of signals, and evicts the workflow, without
    waiting for the thread that is still in it: both then run the workflow's coroutines, some are
    never woken again, and the worker cannot stop any more.

    Nothing is asked in the sandbox for each payload. The SDK enters it three times for every
    payload of every task, for a context that only some codecs look at; that was a fifth of the
    worker's whole time.
    """

    contextual: bool = False

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        instance = super().create_instance(det)
        activate, turn = instance.activate, Lock()

        def in_turn(act: WorkflowActivation) -> WorkflowActivationCompletion:
            with turn:
                return activate(act)

        instance.activate = in_turn  # type: ignore[method-assign]
        if not self.contextual:
            context = WorkflowSerializationContext(
                namespace=det.info.namespace, workflow_id=det.info.workflow_id
            )
            store = StorageDriverStoreContext()
            vars(instance)["get_serialization_context"] = lambda _: context
            vars(instance)["get_external_store_context"] = lambda _: store
        return instance


def wants_contexts(converter: DataConverter) -> bool:
    """Whether the codec or the store of payloads asks which workflow or activity they are of.

    Our own codec asks, and treats whatever a workflow reads or writes alike.
    """
    codec = converter.payload_codec
    if converter.external_storage is not None:
        return True
    return not isinstance(codec, EncryptionCodec) and isinstance(codec, WithSerializationContext)
