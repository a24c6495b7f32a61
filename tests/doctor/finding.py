"""What a test expects of findings, in a line."""

from collections.abc import Iterable

from temporalio.client import Client

from surestep.doctor.finding import Finding, Level
from surestep.pollers import ACTIVITIES, WORKFLOWS, pollers
from tests.waiting import eventually


def only(findings: Iterable[Finding]) -> Finding:
    """The one finding that there is; if it is not ok, it explains itself."""
    (one,) = findings
    return explained(one)


def explained(one: Finding) -> Finding:
    assert one.what
    assert (one.level is Level.OK) == (not one.meaning) == (not one.remedy), one
    return one


def wrong(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Check and level of all that is not ok."""
    return [(one.check, str(one.level)) for one in findings if one.level is not Level.OK]


async def seen(
    client: Client, queue: str, *, workers: int = 1, of: tuple = (WORKFLOWS, ACTIVITIES)
):
    """Wait until the server has heard of so many workers."""

    async def are_there() -> bool:
        known = await pollers(client, queue)
        return all(len(known[kind]) >= workers for kind in of)

    await eventually(are_there)
