"""The worker does no work for contexts that nobody looks at, and gives them to whoever does."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from pydantic import BaseModel
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import (
    ActivitySerializationContext,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)

from surestep import State, Surestep, Tools
from surestep.encryption.converter import data_converter
from surestep.encryption.key_ring import KeyRing
from surestep.payloads import PLAIN
from surestep.protocol import EXECUTE
from surestep.runner import wants_contexts
from tests.encryption.rings import FIRST, RingFile
from tests.time.service import ANSWERED, Service, tool_for
from worker import build_worker


@dataclass
class Asking(PayloadCodec, WithSerializationContext):
    """A codec that remembers which contexts it was given for what it encodes."""

    context: SerializationContext | None = None
    encoded: list[SerializationContext | None] = field(default_factory=list)

    def with_context(self, context):
        return replace(self, context=context)

    async def encode(self, payloads):
        self.encoded += [self.context] * len(payloads)
        return list(payloads)

    async def decode(self, payloads):
        return list(payloads)


async def test_a_codec_that_asks_is_told_of_which_activity_a_workflow_writes(
    temporal_address, step_id
):
    codec = Asking()
    client = await Client.connect(
        temporal_address, data_converter=replace(pydantic_data_converter, payload_codec=codec)
    )
    charge = tool_for(Service([ANSWERED]))
    async with build_worker(client, Tools(charge), task_queue=step_id, grace=timedelta(0)):
        outcome = await Surestep(client, task_queue=step_id).run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert any(
        isinstance(one, ActivitySerializationContext)
        and (one.activity_type, one.activity_id) == (EXECUTE, None)  # its worker knows the id
        for one in codec.encoded
    )


@pytest.mark.parametrize("ringed", [False, True], ids=["without a ring", "with one"])
def test_our_own_codec_is_told_of_activities_by_nobody_but_their_worker(tmp_path, ringed):
    ring = KeyRing.load(RingFile(tmp_path / "ring.toml").hold(FIRST).path) if ringed else None
    assert not wants_contexts(data_converter(ring))
    assert wants_contexts(replace(PLAIN, payload_codec=Asking()))


class Order(BaseModel):
    id: str


@pytest.mark.parametrize("value", [Order(id="o-1"), {"a": [1, None]}, b"\x00\xff", None, "o-1"])
def test_payloads_are_those_of_pydantics_converter(value):
    ours, pydantics = PLAIN.payload_converter, pydantic_data_converter.payload_converter
    (payload,) = ours.to_payloads([value])
    assert [payload] == pydantics.to_payloads([value])
    assert ours.from_payloads([payload], [type(value)]) == [value]
