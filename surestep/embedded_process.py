"""The process of the embedded server: binary, command line, ports, and whether it answers."""

import http.client
import shutil
import socket
import sys
import sysconfig
from pathlib import Path
from typing import Final

from surestep.embedded_folder import IP, Ports
from surestep.visibility import SEARCH_ATTRIBUTES

PREFERRED: Final = Ports(grpc=7233, ui=8233)
"""Where Temporal's users and tools look first."""

SQLITE: Final = {
    "journal_mode": "WAL",
    # NORMAL syncs at checkpoints only: a power cut would take back commits, and with them the
    # record that an action was sent. FULL costs about a tenth of the throughput.
    "synchronous": "FULL",
}

HOST: Final = "surestep.invalid"
"""The only name under which the server's HTTP API is served; it cannot be closed.

A web page can post to a port of its reader's machine, but not by this name, which no host may have.
"""

DYNAMIC_CONFIGURATION: Final = {
    "frontend.httpAllowedHosts": f'["{HOST}"]',
    # With the default of 20 polls a second, every hop of a busy server waits for up to 50 ms.
    "history.transferProcessorMaxPollRPS": 5000,
    "history.timerProcessorMaxPollRPS": 5000,
    "history.visibilityProcessorMaxPollRPS": 5000,
    # Timers may be late by this much; the default of a second would double a short pause.
    "history.timerProcessorMaxTimeShift": '"10ms"',
    # Agents that wait for results hold one long poll each; the default admits some 1,200.
    "frontend.namespaceCount": 20000,
}


def find_binary() -> str | None:
    """Path of Temporal's command line tool, that of our own environment first."""
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    found = (shutil.which("temporal", path=str(folder)) for folder in folders)
    return next((path for path in found if path), None) or shutil.which("temporal")


def command_line(binary: str, database: Path, ports: Ports, http_port: int) -> list[str]:
    """What starts the server; `http_port` is for `answers`."""
    command = [binary, "server", "start-dev", "--log-level", "warn", "--ui-disable-news-fetch"]
    # TEMPORAL_ variables and profiles speak of a cluster, not of this server.
    command += ["--disable-config-env", "--disable-config-file"]
    command += ["--ip", IP, "--port", str(ports.grpc), "--ui-port", str(ports.ui)]
    command += ["--http-port", str(http_port), "--db-filename", str(database)]
    for flag, values in (
        ("--sqlite-pragma", SQLITE),
        ("--dynamic-config-value", DYNAMIC_CONFIGURATION),
        ("--search-attribute", SEARCH_ATTRIBUTES),
    ):
        for name, value in values.items():
            command += [flag, f"{name}={value}"]
    return command


def free_port(*wished: int) -> int:
    """The first of `wished` on which nothing listens, or one that the system chooses."""
    return next((port for port in wished if _is_free(port)), 0) or _any_port()


def answers(http_port: int) -> bool:
    """Whether the server has opened its namespace.

    Asked on a port that only this server was given: another one may have won the gRPC port.
    """
    connection = http.client.HTTPConnection(IP, http_port, timeout=1)
    try:
        connection.request("GET", "/api/v1/namespaces/default", headers={"Host": HOST})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        # On macOS a bind succeeds beside a listener on all addresses; a connection finds it.
        if probe.connect_ex((IP, port)) == 0:
            return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((IP, port))
        except OSError:
            return False
        return True


def _any_port() -> int:
    with socket.socket() as probe:
        probe.bind((IP, 0))
        port: int = probe.getsockname()[1]
        return port
