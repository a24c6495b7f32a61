"""The table: every exception class of httpx and httpcore is in it; the unlisted is ambiguous."""

import asyncio
import importlib
import inspect
import pkgutil

import h11
import httpcore
import httpx
import pytest

from surestep.evidence import Sending
from surestep.http.proof import BY_PHASE, ERRORS, NEVER_LEFT, Phase, of_error, of_status


def exceptions_of(package):
    """Every exception class that a package defines, in whatever module."""
    found = set()
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if info.name.endswith(("_main", "__main__", "trio")):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:  # http2, socks: extras that are not installed, and not used
            continue
        for one in vars(module).values():
            defined = inspect.isclass(one) and issubclass(one, BaseException)
            if defined and one.__module__.split(".")[0] == package.__name__:
                found.add(one)
    return found


@pytest.mark.parametrize("package", [httpx, httpcore], ids=["httpx", "httpcore"])
def test_every_exception_of_the_client_has_a_row(package):
    found = exceptions_of(package)
    assert len(found) > 10
    assert sorted(str(one) for one in found if one not in ERRORS) == []


def test_the_table_names_no_class_that_is_gone():
    theirs = exceptions_of(httpx) | exceptions_of(httpcore)
    named = {one for one in ERRORS if one.__module__.split(".")[0] in ("httpx", "httpcore")}
    assert named <= theirs


def test_an_unlisted_error_is_ambiguous_once_sending_may_have_begun():
    class New(httpx.ConnectError):
        pass

    for phase in (Phase.QUEUED, Phase.SENDING):
        assert of_error(New("x"), phase) is Sending.AMBIGUOUS
        assert of_error(RuntimeError(), phase) is Sending.AMBIGUOUS
    assert of_error(RuntimeError(), Phase.CONNECTING) is Sending.NOT_SENT


def test_what_never_leaves_is_a_short_list():
    assert {one.__name__ for one, row in ERRORS.items() if row is NEVER_LEFT} == {
        "ConnectError",
        "ConnectTimeout",
        "ConnectionNotAvailable",
        "InvalidURL",
        "LocalProtocolError",
        "PoolTimeout",
        "ProxyError",
        "UnsupportedProtocol",
    }
    for one in (h11.LocalProtocolError, asyncio.CancelledError, TimeoutError, OSError):
        assert ERRORS[one] is BY_PHASE


def test_every_status_has_one_meaning():
    meant = {}
    for status in range(100, 600):
        meant.setdefault(of_status(status), set()).add(status)
    assert meant[Sending.ANSWERED] == set(range(200, 300)) - {202}
    assert meant[Sending.ACCEPTED] == {202}
    assert meant[Sending.REFUSED_FOR_NOW] == {401, 429}
    assert meant[Sending.REFUSED] == {400, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431}
    assert {302, 307, 402, 408, 409, 412, 425, 500, 502, 503, 504, 522} <= meant[Sending.AMBIGUOUS]
    assert Sending.NOT_SENT not in meant
