"""Nothing of a secret, and nothing of a person, is anywhere that it is not needed."""

import json
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.protection.canaries import leaves, without
from tests.protection.stage import Stage, listed, whole
from tests.steps.facts import details

NEEDED = frozenset({"arguments", "receipt", "matches", "exists", "subject", "before"})
"""Fields of payloads in which the tool, and who is answered, need personal values."""


@pytest.fixture
def database(tmp_path_factory: pytest.TempPathFactory, temporal_address: str) -> Path:
    found = tmp_path_factory.getbasetemp().glob("temporal*/temporal.db")
    return next(path for path in found if not path.parent.is_symlink())


@pytest.mark.parametrize(("encrypted", "log"), [(False, "text"), (True, "json")])
async def test_no_canary_is_where_it_is_not_needed(
    encrypted, log, temporal_address, tmp_path, database, client: Client
):
    async with Stage.set(temporal_address, tmp_path / log, encrypted=encrypted, log=log) as stage:
        await stage.plays()
        known = stage.canaries
        places: dict[str, bytes | str] = {
            "the log": stage.worker.log,
            "the metrics": await stage.metrics(),
            "the conflict": stage.conflict,
            "the visibility store": listed(database),
            "show": await stage.typed("show", stage.steps[0], "--json"),
            "unresolved": await stage.typed("unresolved", "--json"),
            "list": await stage.typed("list", "--json"),
            "report": await stage.typed("report", stage.surestep.task_queue),
        }
        for number, one in enumerate(stage.echo.told("/v1/traces")):
            places[f"spans {number}"] = one.body
        for number, one in enumerate(stage.echo.told("/answered/hook")):
            places[f"message {number}"] = one.body
        for step_id in stage.planned:
            name = step_id.rpartition("/")[2]
            places[f"what show says of {name}"] = await stage.typed("show", step_id)
            places[f"the details of {name}"] = await details(stage.surestep, step_id)
        nowhere = {"the server's files": whole(database)}
        control = b""
        async for step in client.list_workflows(f"TaskQueue = '{stage.surestep.task_queue}'"):
            described = await client.get_workflow_handle(step.id).describe()
            for path, said in leaves(described.raw_description):
                places[f"{step.id}: {path}"] = said
            history = await client.get_workflow_handle(step.id, run_id=step.run_id).fetch_history()
            for event in history.events:
                for path, said in leaves(event):
                    where = f"{step.id}: event {event.event_id}, {path}"
                    nowhere[where] = said
                    places[where] = _unneeded(said)
                    control += said

    secrets = [(where, known.found(said, among=known.secrets)) for where, said in nowhere.items()]
    both = (*known.secrets, *known.personal)
    leaks = [(where, known.found(said, among=both)) for where, said in places.items()]
    found = [f"{where}: {what}" for where, what in [*secrets, *leaks] if what]
    assert not found, "\n".join(found)

    # The service did get them, and what is not marked is found in every kind of place.
    (asked,) = stage.echo.told("/answered")
    assert asked.headers["x-token"] == known.token
    assert known.found(asked.target + asked.body.decode(), among=known.personal)
    assert known.token.encode() not in asked.body
    doubt = "hostile-doubt"
    for where in ("the log", f"the details of {doubt}", f"what show says of {doubt}"):
        assert known.found(places[where], among=(known.control,)), where
    assert "hostile" in str(places["the metrics"])
    assert "hostile-doubt" in listed(database).decode()
    messages = [said for where, said in places.items() if where.startswith("message")]
    assert any(b"hostile-doubt" in said for said in messages)
    shows = known.found(control, among=(known.control, *known.personal))
    assert shows == ([] if encrypted else [known.control, *known.personal])


def _unneeded(said: bytes) -> bytes:
    """A payload without what must be in it."""
    try:
        return json.dumps(without(json.loads(said), NEEDED)).encode()
    except ValueError:
        return said
