"""What is examined: settings, tools and server, each as far as it could be had."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from temporalio.client import Client

from surestep.settings import Settings
from surestep.tool import Tool


def now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Patient:
    """Nothing here is changed by a check.

    client   None: no server could be reached
    resubmitted_within  how long after its first submission a step may come again; None: not said
    """

    settings: Settings = field(default_factory=Settings)
    tools: tuple[Tool, ...] = ()
    client: Client | None = None
    resubmitted_within: timedelta | None = None
    clock: Callable[[], datetime] = now

    @property
    def server(self) -> Client:
        """The client, for checks that are made only where there is one."""
        if self.client is None:
            raise RuntimeError("this check needs a server")
        return self.client
