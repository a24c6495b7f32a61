"""The check: a tool against the sandbox of its service."""

import secrets
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any, Final

from surestep.conformance.course import Course
from surestep.conformance.keys import varied
from surestep.conformance.promise import Promise
from surestep.conformance.recording import GAP
from surestep.conformance.report import Report
from surestep.conformance.subject import Subject
from surestep.errors import SurestepError
from surestep.tool import Tool
from surestep.vault import SecretSource

PATIENCE: Final = timedelta(seconds=30)


class NoSandbox(SurestepError):
    """Nobody has said that the service is a sandbox, and the check has real effects."""


async def check(
    tool: Tool,
    arguments: Mapping[str, Any],
    *,
    sandbox: bool = False,
    other: Mapping[str, Any] | None = None,
    refused: Mapping[str, Any] | None = None,
    base_url_variable: str | None = None,
    patience: timedelta = PATIENCE,
    gap: timedelta = GAP,
    skip: Collection[Promise | str] = (),
    vault: SecretSource | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Report:
    """Compare what the tool's contract promises with what its service does. Has real effects.

    arguments  such as the sandbox accepts, more than once
    sandbox    True is the caller's word that the service the tool reaches is a sandbox
    other      other arguments, for a used key; by default one of `arguments` is varied
    refused    arguments that the sandbox refuses
    base_url_variable  the environment variable from which the tool reads its base URL at every
               send, to put a recorder in front; an HttpTool needs none
    patience   how long to look beyond the promised lag
    gap        between the two sends whose content is compared
    skip       promises to leave out
    vault      gives the secrets that the arguments name: `surestep.vault.folder(…)`, `given(…)`
    say        is told what is being done
    Raises NoSandbox, CannotCheck, InvalidArguments, ContractError.
    """
    course = Course(
        Subject(tool, arguments, secrets.token_hex(4), vault),
        other=varied(tool, tool.normalise(arguments)) if other is None else other,
        refused=refused,
        variable=base_url_variable,
        patience=patience,
        gap=gap,
        skip=frozenset(Promise(one) for one in skip),
        say=say,
    )
    if not sandbox:
        raise NoSandbox(
            f"checking {tool.name!r} {course.plan}; it needs your word that the service it "
            "reaches is a sandbox: --sandbox-yes, or sandbox=True. Nothing was sent"
        )
    return await course.run()
