"""Secret and personal arguments: what looks like one and is not marked, and secrets not at hand."""

import re

from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.sensitive import Personal, Secret, opened, whole
from surestep.tool import Tool

CHECK = "arguments"

SECRET = re.compile(
    r"pass(word|wd|phrase)|secret|(^|_)(token|pin|cvv|cvc|credentials?)$|(api|private|access)_?key",
    re.IGNORECASE,
)
PERSONAL = re.compile(
    r"(^|_)e?mail(_?address)?$|phone|iban|(^|_)ssn$|passport|birth(day|date)|date_of_birth"
    r"|card_?number",
    re.IGNORECASE,
)


async def check_arguments(patient: Patient) -> list[Finding]:
    undos = [tool.undo for tool in patient.tools]
    tools = [tool for tool in patient.tools if tool not in undos]
    if not tools:
        return []
    found = [_unmarked(tool) for tool in tools] + [_not_at_hand(patient, tool) for tool in tools]
    return [one for one in found if one] or [ok(CHECK, "what looks secret or personal is marked")]


def _unmarked(tool: Tool) -> Finding | None:
    names = {name: opened(whole(info))[1] for name, info in tool.arguments.model_fields.items()}
    secret = [name for name, mark in names.items() if mark is None and SECRET.search(name)]
    personal = [name for name, mark in names.items() if mark is None and PERSONAL.search(name)]
    if not secret and not personal:
        return None
    marks = [f"{some(secret)}: Annotated[str, Secret()]"] if secret else []
    marks += [f"{some(personal)}: Annotated[str, {Personal()}]"] if personal else []
    return warning(
        CHECK,
        f"{tool.name} takes {some([*secret, *personal])} unmarked",
        "It is recorded as it is, and shown where people read: details, lists, logs.",
        f"Mark it, if it is what its name says ({'; '.join(marks)}).",
    )


def _not_at_hand(patient: Patient, tool: Tool) -> Finding | None:
    marks = [opened(whole(info))[1] for info in tool.arguments.model_fields.values()]
    secrets = [mark for mark in marks if isinstance(mark, Secret)]
    folder = patient.settings.secrets
    if not secrets:
        return None
    if folder is None:
        what = f"{tool.name} takes the name of a secret, and SURESTEP_SECRETS is not set here"
    else:
        missing = [name for one in secrets for name in one.names if not (folder / name).is_file()]
        if not missing:
            return None
        what = f"{tool.name} may be given {some(missing)}, of which {folder} has no file"
    return problem(
        CHECK,
        what,
        "Such an action is not sent. It waits until its secret is there.",
        "Put the value into a file of that name, in the folder that SURESTEP_SECRETS names.",
    )
