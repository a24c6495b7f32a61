"""What the present activity is about, for the log lines that are written in it."""

from contextvars import ContextVar
from typing import Final

subject: Final = ContextVar[dict[str, str | int] | None]("surestep_subject", default=None)
"""Names and numbers of ours, `action`, `tool`, `attempt`; no argument of a tool."""
