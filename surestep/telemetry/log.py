"""The log of a process of ours, a worker or the codec server: lines to read, or JSON objects."""

import logging
import sys
from typing import Any, Final, Literal

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter
from temporalio import activity, workflow

from surestep.telemetry.raised import without_words
from surestep.telemetry.spans import trace_ids
from surestep.telemetry.subject import subject

Format = Literal["text", "json"]

TEMPORALS: Final = ("temporal_workflow", "temporal_activity", "temporal_log")
"""What Temporal's loggers add to a line: dictionaries, of which few entries say anything."""

TALKATIVE: Final = {
    **dict.fromkeys(("httpx", "httpcore", "urllib3", "aiosmtplib", "psycopg"), logging.WARNING),
    **dict.fromkeys(("temporalio.worker", "temporalio.client"), logging.INFO),
}
"""Loggers that write addresses, headers or whole payloads, and from which level on they do not."""

NAMES: Final = {"levelname": "level", "name": "logger", "asctime": "time"}


def set_up(style: Format, level: int = logging.INFO) -> None:
    """Write the whole log of this process to stderr, each line with what it is about."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_with_context)
    handler.addFilter(without_words)
    handler.setFormatter(_json() if style == "json" else Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name, least in TALKATIVE.items():
        logging.getLogger(name).setLevel(max(level, least))
    # Otherwise each message ends with a dictionary; the fields say the same.
    workflow.logger.workflow_info_on_message = False
    activity.logger.activity_info_on_message = False


def _with_context(line: logging.LogRecord) -> bool:
    """Add step, Temporal's run, action, tool, attempt and trace where they are known."""
    known: dict[str, Any] = {}
    about = getattr(line, TEMPORALS[0], None) or getattr(line, TEMPORALS[1], None)
    if isinstance(about, dict):
        known["step"] = about.get("workflow_id")
        known["workflow_run"] = about.get("run_id") or about.get("workflow_run_id")
    known |= subject.get() or {}
    known |= trace_ids()
    for name, value in known.items():
        if value is not None and not hasattr(line, name):
            setattr(line, name, value)
    return True


class Text(logging.Formatter):
    """`time LEVEL logger message [step · trace]`, the bracket where it adds something.

    Whatever is in a message, it cannot begin a line, for what goes on is indented, nor steer a
    terminal.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return "\n  ".join(_printable(line) for line in super().format(record).splitlines())

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the standard library's
        words = super().formatMessage(record)
        step, trace = getattr(record, "step", None), getattr(record, "trace_id", None)
        more = [step] if step and step not in record.message else []
        more += [f"trace {trace}"] if trace else []
        return f"{words} [{' · '.join(more)}]" if more else words


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _json() -> logging.Formatter:
    return JsonFormatter(
        "%(asctime)s %(levelname)s %(name)s %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S%z",
        rename_fields=NAMES,
        reserved_attrs=[*RESERVED_ATTRS, *TEMPORALS],
        json_ensure_ascii=False,
    )
