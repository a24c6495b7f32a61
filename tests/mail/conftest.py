"""A postbox for each test, and the tool that writes to it."""

from collections.abc import AsyncIterator

import pytest

from surestep.mail import MailTool
from tests.mail.letters import Letter, letter
from tests.mail.postbox import Postbox


@pytest.fixture
async def box() -> AsyncIterator[Postbox]:
    async with Postbox.open() as running:
        yield running


@pytest.fixture
def tool(box: Postbox) -> MailTool:
    tool = MailTool("welcome", Letter, server=lambda: box.server, recognise="to")
    tool.compose(letter)
    return tool
