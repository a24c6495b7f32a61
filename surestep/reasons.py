"""Why a person is needed, in words. Pure."""

from surestep.evidence import Finding
from surestep.facts import Facts


def doubt_in_words(record: Facts) -> str:
    """Why the truth cannot be known by itself, in one sentence without a full stop."""
    if record.trace:
        return record.trace
    if record.rejection:
        return (
            f"an earlier attempt may have happened, and a later one was refused: {record.rejection}"
        )
    if record.accepted:
        return "the service accepted the request and has not said how it ended"
    if not record.can_verify:
        return "the request may have left, and this tool has no lookup"
    if record.looks.finding is Finding.UNKNOWN:
        return f"the request may have left, and the last lookup failed: {record.looks.why}"
    if record.keys_unknown:
        return f"the request may have left, and {record.sticky}"
    if record.contract.settles_after is None:
        return (
            "the request may have left, the lookup does not show it, and the contract does not "
            "promise when a miss would prove anything"
        )
    return "the request may have left, and the lookups have not settled it"
