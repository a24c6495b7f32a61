"""What lies in the folder of the embedded server, and what its locks mean.

users.lock       held shared by every process that uses the server; exclusively by a supervisor
                 from its decision to end until it is gone, so nobody arrives meanwhile
supervisor.lock  held by the supervisor, who inherits it locked from the user that starts it
server.lock      held by the server and its supervisor: never two servers on one database
server.json      held by the supervisor while what the file says is true

The kernel releases a lock when its last holder dies, however it dies.
"""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

IP: Final = "127.0.0.1"


class FileLock:
    """An advisory lock on an open file; a child that inherits `descriptor` holds it too."""

    def __init__(self, path: Path) -> None:
        self.descriptor: Final = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def take(self, *, shared: bool = False, wait: bool = False) -> bool:
        """Whether the lock is ours now; False only without `wait`."""
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(self.descriptor, kind if wait else kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Give the lock up for everybody who inherited it, too."""
        fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give up our hold only: those who inherited the lock keep it."""
        os.close(self.descriptor)


@dataclass(frozen=True)
class Ports:
    grpc: int
    ui: int

    @property
    def address(self) -> str:
        return f"{IP}:{self.grpc}"

    @property
    def ui_url(self) -> str:
        return f"http://{IP}:{self.ui}"


@dataclass(frozen=True)
class Announcement:
    """The content of server.json: process ids and where the server listens."""

    supervisor: int
    server: int | None
    ports: Ports

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None for a file that was cut short or is not ours."""
        try:
            content = json.loads(text)
            return cls(content["supervisor"], content["server"], Ports(**content["ports"]))
        except (ValueError, TypeError, KeyError):
            return None

    def text(self) -> str:
        shown = {"address": self.ports.address, "ui_url": self.ports.ui_url}
        return json.dumps(asdict(self) | shown, indent=2)


class ServerFolder:
    """The paths in `path`, and the announcement."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self.users: Final = path / "users.lock"
        self.supervisor: Final = path / "supervisor.lock"
        self.server: Final = path / "server.lock"
        self.announcement: Final = path / "server.json"
        self.database: Final = path / "temporal.db"
        self.log: Final = path / "server.log"

    def write(self, announcement: Announcement) -> FileLock:
        """Replace server.json; it counts as true once the returned lock is taken."""
        new = self.announcement.with_suffix(".new")
        new.write_text(announcement.text(), encoding="utf-8")
        lock = FileLock(new)
        new.replace(self.announcement)
        return lock

    def last(self) -> Announcement | None:
        """What was written last, true or not."""
        try:
            return Announcement.parse(self.announcement.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def current(self) -> Announcement | None:
        """What is true now: a server that answered, under a supervisor that is alive."""
        try:
            file = self.announcement.open(encoding="utf-8")
        except FileNotFoundError:
            return None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return Announcement.parse(file.read())
            return None

    def log_tail(self, lines: int = 10) -> str:
        """The last lines of the log, for an error message."""
        if not self.log.exists():
            return "(no log yet)"
        return "\n".join(self.log.read_text("utf-8", errors="replace").splitlines()[-lines:])
