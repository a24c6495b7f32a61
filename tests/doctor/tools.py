"""Tools as the doctor meets them: sound ones, and ones that give cause for doubt."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from surestep import (
    Ambiguous,
    Call,
    Contract,
    Effect,
    KeySupport,
    Receipt,
    Tool,
    Verification,
    not_found,
)

DAY = timedelta(days=1)


class Order(BaseModel):
    order: str


def keyed(lifetime: timedelta = DAY) -> KeySupport:
    return KeySupport(lifetime=lifetime)


async def answers(args: Order, call: Call) -> Receipt:
    return Receipt(id="1")


async def sees_nothing(args: Order, call: Call) -> Verification:
    return not_found()


async def loses_the_answer(args: Order, call: Call) -> Receipt:
    raise Ambiguous("the answer was lost")


def tool(
    name: str,
    *,
    looks: bool = True,
    execute: Callable[..., Any] = answers,
    arguments: type[BaseModel] = Order,
    **promised: Any,
) -> Tool:
    made = Tool(name, arguments, Contract(effect=Effect.IRREVERSIBLE, **promised))
    made.execute(execute)
    if looks:
        made.verify(sees_nothing)
    return made


PROMISED = {"in_flight": timedelta(seconds=20), "visibility_lag": timedelta(seconds=5)}

charge = tool("charge", key=keyed(), **PROMISED)
sound = [charge]
lost = tool(
    "lost",
    execute=loses_the_answer,
    in_flight=timedelta(0),
    visibility_lag=timedelta(0),
    sends=1,
    look_first=False,
)
asking = tool(
    "asking",
    looks=False,
    execute=loses_the_answer,
    ask=True,
    overdue_after=timedelta(milliseconds=1),
)
unchecked = Tool("unchecked", Order, Contract(effect=Effect.IRREVERSIBLE))
namesake = [tool("charge", key=keyed())]
nothing = "no tool at all"
