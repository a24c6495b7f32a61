"""Deciding as a person does: look at the record, and say what is to be said of that."""

from typing import Any

from temporalio.client import Client

from surestep import Surestep
from surestep.decision import Decision, Ruling
from surestep.record import Record


async def say(surestep: Surestep, target: str, verdict: str, **said: Any) -> Ruling:
    """The ruling on what was seen; whoever is overtaken by news looks again, and says it again."""
    while True:
        version = (await seen(surestep, target)).version
        ruling = await surestep.decide(target, verdict, version=version, **said)
        if f"it answers version {version}," not in ruling.why:
            return ruling


async def signal(client: Client, step_id: str, verdict: str, **said: Any) -> None:
    """The same by signal, as from the Web UI, without an answer."""
    record = await seen(Surestep(client), step_id, said.get("action"))
    told = {"verdict": verdict, "by": "Ada", "version": record.version} | said
    Decision.model_validate(told)
    await client.get_workflow_handle(step_id).signal("decide", told)


async def seen(surestep: Surestep, target: str, action: str | None = None) -> Record:
    """The record of a step's only action, or of the one that is named."""
    step_id, name = await surestep.target(target)
    records = await surestep.handle(step_id).records()
    return next((one for one in records if one.name == (action or name)), records[0])
