"""The tools of the page: a charge that the service finds again, and a letter that nobody can."""

from pydantic import BaseModel

from surestep import Accepted, Call, Contract, Effect, Receipt, Tool
from tests.steps.tools import KEYED, PROMPT, careful, send

charge = careful("charge", "keyed", key=KEYED, **PROMPT)


class Letter(BaseModel):
    customer: str
    text: str


letter = Tool("letter", Letter, Contract(effect=Effect.IRREVERSIBLE, ask=True))


@letter.execute
async def _(args: Letter, call: Call) -> Receipt | Accepted:
    return await send("blind", args, call)
