"""An agent's process: `python -m tests.steps.calling STEP_ID` performs one step and prints how.

It attaches if the step exists, as an agent that is started again after a crash does.
"""

import asyncio
import os
import sys

from surestep import Surestep
from tests.steps import tools


async def main(step_id: str) -> None:
    async with Surestep.connect() as surestep:
        print("calling", flush=True)
        outcome = await surestep.run(step_id, tools.blind(order="o-1", cents=2500))
        print(outcome.model_dump_json(), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
    os._exit(0)
