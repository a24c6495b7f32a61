"""Who else on a developer's machine can talk to the embedded server: the pages in the browser."""

import re
from datetime import timedelta
from pathlib import Path

import httpx

from surestep.embedded import EmbeddedServer, embedded_server
from surestep.protocol import STEP_WORKFLOW, TASK_QUEUE
from tests.waiting import eventually

STEP = f'{{"workflowType": {{"name": "{STEP_WORKFLOW}"}}, "taskQueue": {{"name": "{TASK_QUEUE}"}}}}'


async def http_api(server: EmbeddedServer) -> str | None:
    """Its port is another one each time; the server says it once it is up."""
    found = re.findall(r"Temporal HTTP: +\S+:(\d+)", (server.folder / "server.log").read_text())
    return f"http://127.0.0.1:{found[-1]}" if found else None


async def test_a_page_that_somebody_reads_cannot_start_a_step(tmp_path: Path) -> None:
    """A page may post plain text to any port of this machine, without being asked for leave."""
    async with (
        embedded_server(tmp_path / "home", linger=timedelta(0)) as server,
        httpx.AsyncClient(trust_env=False) as page,
    ):
        api = await eventually(lambda: http_api(server))
        answers = [
            await page.post(
                f"{place}/api/v1/namespaces/default/workflows/forged",
                content=STEP,
                headers={"Content-Type": "text/plain", "Origin": "https://evil.example", **host},
            )
            for place in (api, server.ui_url)
            for host in ({}, {"Host": "evil.example"}, {"Host": "localhost"})
        ]
    assert {answer.status_code for answer in answers} <= {400, 403}
