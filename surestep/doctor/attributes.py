"""The search attributes by which operators find steps."""

from surestep.doctor.finding import Finding, ok, problem
from surestep.doctor.patient import Patient
from surestep.registration import registered
from surestep.visibility import SEARCH_ATTRIBUTES

CHECK = "attributes"


async def check_attributes(patient: Patient) -> list[Finding]:
    there = await registered(patient.server)
    missing = [name for name in SEARCH_ATTRIBUTES if name not in there]
    wrong = [
        f"{name} is {there[name]} and must be {kind}"
        for name, kind in SEARCH_ATTRIBUTES.items()
        if there.get(name, kind) != kind
    ]
    means = "Steps run, but write nothing by which they are found: `unresolved` stays empty."
    found = []
    if missing:
        what = f"{', '.join(missing)} not registered in {patient.server.namespace}"
        found.append(problem(CHECK, what, means, "Run `python starter.py setup`."))
    if wrong:
        remedy = (
            f"Remove it with `temporal operator search-attribute remove --namespace "
            f"{patient.server.namespace} --name NAME` and run `python starter.py setup`, or use "
            "another namespace."
        )
        found.append(problem(CHECK, "; ".join(wrong), means, remedy))
    return found or [ok(CHECK, f"all {len(SEARCH_ATTRIBUTES)} are registered, and of their types")]
