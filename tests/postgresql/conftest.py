"""One PostgreSQL server for each test process, and a database for each test."""

from collections.abc import AsyncIterator, Iterator
from itertools import count

import pytest

from tests.postgresql.bank import Bank
from tests.postgresql.proxy import Proxy
from tests.postgresql.server import Server, primary

NUMBERS = count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with primary() as running:
        yield running


@pytest.fixture
def name(server: Server) -> str:
    name = f"test_{next(NUMBERS)}"
    server.ask(f"CREATE DATABASE {name} STRATEGY file_copy")
    return name


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[Proxy]:
    async with Proxy.before(server.port) as running:
        yield running


@pytest.fixture
async def bank(server: Server, name: str, proxy: Proxy) -> Bank:
    """Accounts behind the proxy, with our table."""
    bank = Bank(server, name, server.url(name, port=proxy.port))
    await bank.database.migrate()
    server.ask(Bank.ACCOUNTS, name)
    return bank
