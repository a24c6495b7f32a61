"""A workflow that does nothing but have decisions examined, as the step does."""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow

from surestep.decision import Decision
from surestep.protocol import EXAMINE
from surestep.questions import Examined, ExamineOrder

from .people import order


@workflow.defn
class Desk:
    """Ends, or goes on as a new run, when it is told to."""

    def __init__(self) -> None:
        self._answers: list[Examined] = []
        self._turn = asyncio.Lock()
        self._told = ""

    @workflow.run
    async def run(self) -> list[Examined]:
        await workflow.wait_condition(lambda: bool(self._told) and workflow.all_handlers_finished())
        if self._told == "renew":
            workflow.continue_as_new()
        return self._answers

    @workflow.signal(name="decide")
    async def decide_signal(self, *inputs: Any) -> None:
        try:
            (given,) = inputs
            read = (
                Decision.model_validate_json if isinstance(given, str) else Decision.model_validate
            )
            decision = read(given)
        except ValueError:  # junk, or not one input
            return
        async with self._turn:
            self._answers.append(await examined(order(decision, by_signal=True)))

    @workflow.update(name="decide")
    async def decide(self, given: Any) -> Examined:
        return await examined(order(Decision.model_validate(given)))

    @workflow.signal
    def tell(self, word: str) -> None:
        self._told = word


async def examined(about: ExamineOrder) -> Examined:
    return await workflow.execute_local_activity(
        EXAMINE, about, result_type=Examined, start_to_close_timeout=timedelta(seconds=30)
    )
