"""A workflow whose tasks take longer than the SDK lets them."""

import time

from temporalio import workflow


@workflow.defn
class Slow:
    """Each signal takes 20 ms, and is then waiting for good."""

    @workflow.run
    async def run(self) -> None:
        await workflow.wait_condition(lambda: False)

    @workflow.signal
    async def poke(self) -> None:
        with workflow.unsafe.sandbox_unrestricted():
            time.sleep(0.02)  # noqa: ASYNC251 - it holds up its thread, as a computation would
        await workflow.wait_condition(lambda: False)
