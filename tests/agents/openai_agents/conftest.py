"""Nothing of a test is sent to anybody's traces."""

import pytest
from agents import set_tracing_disabled


@pytest.fixture(autouse=True)
def no_traces():
    set_tracing_disabled(True)
