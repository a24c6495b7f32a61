"""The graphs of a test are kept in a file, which another process can open too."""

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.steps import facts


@pytest.fixture
def kept(tmp_path):
    return str(tmp_path / "graphs.db")


@pytest.fixture
async def checkpoints(kept):
    async with AsyncSqliteSaver.from_conn_string(kept) as saver:
        yield saver


@pytest.fixture
def decide():
    """What Ada says of a step, once she is asked."""

    async def by_ada(surestep, step_id, verdict):
        version = (await facts.parked(surestep, step_id)).version
        assert (await surestep.decide(step_id, verdict, by="Ada", version=version)).taken

    return by_ada
