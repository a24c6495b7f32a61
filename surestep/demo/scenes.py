"""The scenes, in acts. Scenes of one act play at the same time."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from surestep.demo.deadline import Missed
from surestep.demo.human import decide
from surestep.demo.part import Part
from surestep.demo.table import HUMAN, LOOKUP, RESPONSE, Expected
from surestep.demo.tools import charge, invoice, letter, payout
from surestep.errors import StepConflict
from surestep.tool import Action

LATE: Final = timedelta(seconds=3)

ATTACHED: Final = "the other calls attached"
REFUSED: Final = "the second call was refused"


async def undisturbed(part: Part) -> str:
    await part.call("call_1")
    await part.settled()
    return ""


async def late(part: Part) -> str:
    await undisturbed(part)
    await part.landed(LATE)
    part.aside("the first request has arrived now; its key is known, so it changes nothing")
    return ""


async def attach(part: Part) -> str:
    await part.call("call_1")
    first = await part.handle.describe()
    part.aside("the model calls again, as call_2, while the first call is under way")
    await part.call("call_2")
    await part.settled()
    part.aside("and once more, as call_3, after it is done")
    await part.call("call_3")
    same = (await part.handle.describe()).run_id == first.run_id
    return ATTACHED if same and await part.writes() == 1 else "another call ran by itself"


async def conflict(part: Part) -> str:
    await undisturbed(part)
    before = await part.writes()
    try:
        await part.call("call_2", charge(order="1006", cents=9900))
    except StepConflict as refusal:
        (difference,) = refusal.differences
        part.aside(f"StepConflict: {difference}")
    else:
        return "the second call was taken"
    if await part.writes() != before:
        raise Missed("nothing is sent for a step in conflict")
    return REFUSED


async def blind(part: Part) -> str:
    await part.call("call_1")
    await decide(part, await part.asked())
    await part.settled()
    return ""


@dataclass(frozen=True)
class Scene:
    """One failure. `faults` are the service's, for the writes of this step, in order."""

    title: str
    how: str
    step_id: str
    action: Action
    expected: Expected
    faults: tuple[str, ...] = ()
    play: Callable[[Part], Awaitable[str]] = undisturbed


ACTS: Final[tuple[tuple[Scene, ...], ...]] = (
    (
        Scene(
            "Nothing goes wrong",
            "charge: the service answers.",
            "charge/order-1001",
            charge(order="1001", cents=2500),
            Expected(RESPONSE),
        ),
    ),
    (
        Scene(
            "Reply lost after the commit",
            "charge: made, but the connection breaks before the answer. A lookup finds it.",
            "charge/order-1002",
            charge(order="1002", cents=2500),
            Expected(LOOKUP),
            ("reply_lost",),
        ),
    ),
    (
        Scene(
            "Request never arrives",
            "invoice: ignores keys. A miss proves nothing until no request can land any more.",
            "invoice/customer-1",
            invoice(customer="1", cents=4000),
            Expected(RESPONSE, attempts=2),
            ("never_arrives",),
        ),
        Scene(
            "Lands 3 s after we gave up",
            "invoice: looks just like the scene above. Whoever sends again now, sends twice.",
            "invoice/customer-2",
            invoice(customer="2", cents=4000),
            Expected(LOOKUP),
            ("late_hang:4.5",),
        ),
    ),
    (
        Scene(
            "The same, with a key",
            "charge: nobody has to wait, it is sent again under the same key.",
            "charge/order-1003",
            charge(order="1003", cents=2500),
            Expected(RESPONSE, attempts=2),
            ("late:3",),
            late,
        ),
        Scene(
            "Accepted (202), done later",
            "payout: the answer proves nothing yet, so the operation is watched.",
            "payout/seller-1",
            payout(seller="1", cents=120000),
            Expected(LOOKUP),
        ),
    ),
    (
        Scene(
            "Same intent, new call id",
            "charge: the step id names the intent, not the call, so all calls share one step.",
            "charge/order-1005",
            charge(order="1005", cents=2500),
            Expected(RESPONSE, also=ATTACHED),
            ("slow:1",),
            attach,
        ),
    ),
    (
        Scene(
            "Same step, other arguments",
            "charge: 25.00 is charged; then the same step is submitted with 99.00.",
            "charge/order-1006",
            charge(order="1006", cents=2500),
            Expected(RESPONSE, also=REFUSED),
            (),
            conflict,
        ),
    ),
    (
        Scene(
            "Reply lost, blind service",
            "letter: no key, no lookup. Nobody can know from here, so the step parks and asks.",
            "letter/customer-3",
            letter(customer="3", text="Your contract ends in May."),
            Expected(HUMAN, asked=True),
            ("reply_lost",),
            blind,
        ),
    ),
)
