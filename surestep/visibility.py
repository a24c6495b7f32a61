"""The search attributes by which operators find steps, and nothing secret in any of them."""

from typing import Final

STATE: Final = "SurestepState"
TOOL: Final = "SurestepTool"
NEEDS_HUMAN: Final = "SurestepNeedsHuman"
UNKNOWN_SINCE: Final = "SurestepUnknownSince"
RUN: Final = "SurestepRun"
ANOMALY: Final = "SurestepAnomaly"

WAITING: Final = f"{NEEDS_HUMAN}=true AND ExecutionStatus='Running'"
"""The query for what waits for a person; short, because it stands in a link."""

SEARCH_ATTRIBUTES: Final[dict[str, str]] = {
    STATE: "Keyword",
    TOOL: "KeywordList",
    NEEDS_HUMAN: "Bool",
    UNKNOWN_SINCE: "Datetime",
    RUN: "Keyword",
    ANOMALY: "KeywordList",
}
"""Name to Temporal type; `starter.py setup` and the embedded server register exactly these."""
