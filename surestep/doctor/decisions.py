"""Who may decide: the file of people against the tools, and the signing key against the file."""

from surestep.authority import Authority, AuthorityError, Scope
from surestep.decision import Verdict
from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.signature import SigningError, fingerprint, load_private
from surestep.tool import Tool

CHECK = "decisions"

SETTLE = (Verdict.CONFIRM, Verdict.RETRY, Verdict.ABANDON, Verdict.LEAVE_UNKNOWN)


async def check_decisions(patient: Patient) -> list[Finding]:
    file = patient.settings.decision_keys
    if file is None:
        found = _signing_key(patient, None)
        return found or [ok(CHECK, "taken unsigned: SURESTEP_DECISION_KEYS is not set")]
    try:
        authority = Authority.load(file)
    except AuthorityError as error:
        what, _, remedy = str(error).partition(": ")
        means = "A worker refuses to start with it."
        return [problem(CHECK, f"{what} cannot be used", means, f"{remedy}.")]
    found = _signing_key(patient, authority)
    undos = [tool.undo for tool in patient.tools]
    if patient.tools:
        if unknown := sorted(authority.unknown_tools({tool.name for tool in patient.tools})):
            found.append(_misspelt(str(file), unknown))
        for tool in patient.tools:
            found += _unanswerable(authority, tool, is_undo=tool in undos)
    signed = f"signed, by {some(list(authority.people))}; every worker must have the same file"
    return found or [ok(CHECK, signed)]


def _signing_key(patient: Patient, authority: Authority | None) -> list[Finding]:
    file = patient.settings.signing_key
    if file is None:
        return []
    try:
        name = fingerprint(load_private(file).public_key())
    except SigningError as error:
        means = "Nothing can be signed: decisions fail, and a worker with these settings as well."
        return [problem(CHECK, "SURESTEP_SIGNING_KEY cannot be used", means, f"{error}.")]
    if authority is None:
        return []
    owners = (authority.people.values(), authority.sources.values())
    if any(fingerprint(key) == name for group in owners for owner in group for key in owner.keys):
        return []
    return [
        problem(
            CHECK,
            f"the key in {file} ({name}) belongs to nobody in {patient.settings.decision_keys}",
            "Whatever it signs is refused.",
            "Add its public half to the workers' file, under `people` or `sources`, or sign with "
            "another key.",
        )
    ]


def _misspelt(file: str, unknown: list[str]) -> Finding:
    return warning(
        CHECK,
        f"{file} names {some(unknown)}, and no tool here is called so",
        "If it is misspelt, the rule that was meant holds for no tool.",
        "Correct the name, or load that tool here as well.",
    )


def _unanswerable(authority: Authority, tool: Tool, *, is_undo: bool) -> list[Finding]:
    """Questions about the tool's actions that nobody can answer, or too few."""
    lone = {}
    for verdict in _asked_of(tool):
        may = [name for name, one in authority.people.items() if _any(one.may, verdict, tool)]
        if len(may) == 1 and _any(authority.two_people, verdict, tool):
            lone[verdict] = may[0]
    found = []
    if lone:
        found.append(
            problem(
                CHECK,
                f"two people must {' or '.join(lone)} {tool.name} alike, and only "
                f"{some(sorted(set(lone.values())))} may",
                "Such a decision is never complete; the action stays as it is.",
                "Entitle a second person under `people`, or take the rule out of `two_people`.",
            )
        )
    needed = [SETTLE] if is_undo or tool.contract.approval is None else [SETTLE, (Verdict.APPROVE,)]
    for verdicts in needed:
        if not any(
            _any(one.may, each, tool) for one in authority.people.values() for each in verdicts
        ):
            found.append(
                problem(
                    CHECK,
                    f"nobody may {' or '.join(verdicts)} {tool.name}",
                    "A question about it waits for ever.",
                    "Entitle somebody under `people`.",
                )
            )
    return found


def _asked_of(tool: Tool) -> list[Verdict]:
    """The verdicts that an action of the tool can ever need."""
    pointless = set() if tool.contract.approval else {Verdict.APPROVE, Verdict.REFUSE}
    pointless |= set() if tool.undo else {Verdict.UNDO}
    return [verdict for verdict in Verdict if verdict not in pointless]


def _any(scopes: tuple[Scope, ...], verdict: Verdict, tool: Tool) -> bool:
    return any(
        (one.verdicts is None or verdict in one.verdicts)
        and (one.tools is None or tool.name in one.tools)
        and (one.effects is None or tool.contract.effect in one.effects)
        for one in scopes
    )
