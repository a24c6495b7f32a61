"""Marked arguments in a mail."""

from typing import Annotated

import pytest
from pydantic import BaseModel

from surestep import Personal, Refused, Secret
from surestep.mail import MailTool
from surestep.vault import given, readied
from tests.mail.letters import Letter, call, letter


class Invitation(BaseModel):
    to: Annotated[str, Personal()]
    code: Annotated[str, Secret()] = "door-code"


async def test_a_server_that_quotes_the_address_gets_no_canary_into_a_refusal(box):
    tool = MailTool("invite", Invitation, server=lambda: box.server)

    @tool.compose
    def _(args):
        return letter(Letter(to=args.to, name=args.code))

    to = "june@example.com"  # whom the server quotes
    recorded = tool(to=to).arguments
    ready = await readied(tool, recorded, given({"door-code": "canary-4711"}))
    box.fates[to] = ["rcpt 550"]
    with pytest.raises(Refused, match="recipient 1 of 1") as known:
        await tool.execute_with(ready.arguments, call())
    assert "june" not in str(known.value)
    await tool.execute_with(ready.arguments, call())
    assert "canary-4711" in box.to(to)[0].get_body(("plain",)).get_content()
