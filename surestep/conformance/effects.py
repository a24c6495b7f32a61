"""What a check has done to the service, key by key, so that nothing stays behind unnamed."""

from surestep.conformance.report import Left
from surestep.conformance.sending import Sent
from surestep.evidence import Finding, Receipt, Sending, Verification


class Effects:
    """The effects under each key that was sent.

    What only the lookup names counts once the lookup is `trusted` not to find anybody else's:
    compensating what it finds would otherwise undo strangers' effects.
    """

    def __init__(self) -> None:
        self.trusted = False
        self._named: dict[str, dict[str | None, Receipt]] = {}
        self._found: dict[str, dict[str | None, Receipt]] = {}
        self._doubtful: dict[str, Sent] = {}
        self._undone: set[tuple[str, str | None]] = set()

    def sent(self, sent: Sent) -> None:
        """A success answer names its effect; an acceptance or a doubt may have one."""
        if sent.outcome is Sending.ANSWERED and sent.receipt:
            self._named.setdefault(sent.key, {})[sent.receipt.id] = sent.receipt
        elif sent.outcome in (Sending.ACCEPTED, Sending.AMBIGUOUS):
            self._doubtful[sent.key] = sent

    def seen(self, key: str, verification: Verification) -> None:
        if verification.finding is Finding.CONFIRMED:
            found = self._found.setdefault(key, {})
            found.update({receipt.id: receipt for receipt in verification.matches})
        elif verification.finding is Finding.REJECTED:
            self._doubtful.pop(key, None)

    def absent(self, key: str) -> None:
        """Nothing came of it: the service refused, and nothing is seen."""
        self._doubtful.pop(key, None)

    def undone(self, key: str, receipt: Receipt) -> None:
        self._undone.add((key, receipt.id))

    @property
    def doubtful(self) -> list[Sent]:
        """Sends that may have an effect which nothing names yet."""
        return [sent for key, sent in self._doubtful.items() if not self.under(key)]

    @property
    def open(self) -> list[tuple[str, Receipt]]:
        """The effects that are not undone."""
        keys = dict.fromkeys([*self._named, *self._found])
        return [
            (key, receipt)
            for key in keys
            for receipt in self.under(key)
            if (key, receipt.id) not in self._undone
        ]

    def under(self, key: str) -> list[Receipt]:
        known = dict(self._named.get(key, {}))
        if self.trusted:
            known.update(self._found.get(key, {}))
        if len(known) > 1:
            known.pop(None, None)  # the one without an id is among those with one
        return list(known.values())

    @property
    def made(self) -> int:
        return len(self._undone) + len(self.open)

    @property
    def undone_count(self) -> int:
        return len(self._undone)

    @property
    def left(self) -> tuple[Left, ...]:
        certain = [Left(key=key, id=receipt.id) for key, receipt in self.open]
        return (*certain, *(Left(key=sent.key) for sent in self.doubtful))
