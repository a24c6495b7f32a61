"""A postbox for each test, and the tool that writes to it."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from surestep.mail import MailTool, promises
from tests.mail.letters import Letter, letter
from tests.mail.postbox import Postbox


@pytest.fixture
async def box() -> AsyncIterator[Postbox]:
    async with Postbox.open() as running:
        yield running


@pytest.fixture
def tool(box: Postbox) -> MailTool:
    # Nobody is asked before an attempt that was cut off can have ended, ten minutes by default.
    soon = promises(timeout=timedelta(seconds=8))
    tool = MailTool("welcome", Letter, server=lambda: box.server, contract=soon, recognise="to")
    tool.compose(letter)
    return tool
