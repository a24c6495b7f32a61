"""One send and one look as the check sees them: what came back, and when."""

from dataclasses import dataclass

from surestep.errors import Ambiguous, NotSent, Refused, SurestepError, summary
from surestep.evidence import Finding, Receipt, Sending, Verification
from surestep.tool import Accepted


@dataclass(frozen=True)
class Sent:
    """One call of `execute`; times are monotonic seconds."""

    key: str
    outcome: Sending
    began: float
    ended: float
    receipt: Receipt | None = None
    why: str = ""

    @property
    def id(self) -> str | None:
        return self.receipt.id if self.receipt else None

    @property
    def succeeded(self) -> bool:
        """A success answer, final or not."""
        return self.outcome in (Sending.ANSWERED, Sending.ACCEPTED)

    @property
    def accepted(self) -> Receipt | None:
        """What `verify` gets to follow: the accepted operation."""
        return self.receipt if self.outcome is Sending.ACCEPTED else None

    @property
    def words(self) -> str:
        match self.outcome:
            case Sending.ANSWERED:
                return f"a receipt for {shown(self.id)}" if self.id else "a receipt without an id"
            case Sending.ACCEPTED:
                return "accepted for later"
            case Sending.REFUSED | Sending.REFUSED_FOR_NOW:
                return f"refused: {self.why}"
            case Sending.NOT_SENT:
                return f"not sent: {self.why}"
            case Sending.AMBIGUOUS:
                return f"ambiguous: {self.why}"


def outcome_of(answer: object) -> tuple[Sending, Receipt | None, str]:
    """What `execute` returned or raised, as the worker understands it."""
    match answer:
        case Receipt():
            return Sending.ANSWERED, answer, ""
        case Accepted():
            return Sending.ACCEPTED, answer.receipt, ""
        case NotSent():
            return Sending.NOT_SENT, None, summary(answer)
        case Refused():
            refused = Sending.REFUSED_FOR_NOW if answer.again else Sending.REFUSED
            return refused, None, summary(answer)
        case Ambiguous():
            return Sending.AMBIGUOUS, None, summary(answer)
        case BaseException():
            raised = "" if isinstance(answer, SurestepError) else "raised "
            return Sending.AMBIGUOUS, None, f"{raised}{summary(answer)}"
        case _:
            why = f"execute returned {type(answer).__name__}, not Receipt or Accepted"
            return Sending.AMBIGUOUS, None, why


def found(seen: Verification) -> bool:
    """Whether a look saw anything at all under the key, whole, partial, pending or refused."""
    return bool(seen.trace) or seen.finding not in (Finding.NOT_FOUND, Finding.UNKNOWN)


def told(seen: Verification) -> str:
    """A verification in a few words."""
    match seen.finding:
        case _ if seen.trace:
            return seen.trace
        case Finding.CONFIRMED if len(seen.matches) > 1:
            return f"{len(seen.matches)} effects"
        case Finding.CONFIRMED:
            return f"confirmed {shown(seen.matches[0].id)}".strip()
        case _:
            return f"{seen.finding}: {seen.why}" if seen.why else str(seen.finding)


def shown(name: str | None) -> str:
    """An id, short enough for a table."""
    if name is None:
        return ""
    return name if len(name) <= 24 else f"{name[:23]}…"
