"""What `python -m surestep.agents.mcp` serves in a test; it says which process it is."""

import os
from pathlib import Path

from tests.steps.tools import blind, keyed

Path(os.environ["PID_FILE"]).write_text(str(os.getpid()))

tools = [keyed, blind]
