"""Does the service honour our key: repeated, at once, and with other arguments?"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surestep.conformance.promise import Promise
from surestep.conformance.report import Row, broken, kept, not_tested
from surestep.conformance.sending import Sent, shown, told
from surestep.conformance.subject import Subject
from surestep.conformance.watch import Watch, settle
from surestep.errors import InvalidArguments
from surestep.evidence import Finding, Sending, Verification
from surestep.tool import Tool

NOT_PROMISED = "the contract does not promise that the key is honoured"
IGNORED = "leave key out (None): the service does not honour it, or not where the tool puts it"
BY_CONTENT = (
    "leave key out (None): the service compares contents, not keys, so an intended repeat would be "
    "dropped and called confirmed (where the effect is a state, --skip this promise)"
)
SUCCESSES = {Sending.ANSWERED, Sending.ACCEPTED}


@dataclass(frozen=True)
class Count:
    """How many effects stand under a key, as far as receipts and the lookup can tell."""

    ids: tuple[str, ...]
    seen: Verification | None

    @property
    def several(self) -> str:
        """The words for more than one; empty where there is no sign of that."""
        if len(self.ids) > 1:
            return f"the receipts name {len(self.ids)} effects: {', '.join(map(shown, self.ids))}"
        if self.seen and len(self.seen.matches) > 1:
            return f"verify finds {len(self.seen.matches)} effects"
        return ""

    @property
    def looked(self) -> bool:
        return self.seen is not None and self.seen.finding is Finding.CONFIRMED


async def count(subject: Subject, first: Watch | None, *sends: Sent) -> Count:
    """`first` is the watched send of this run, which says how long looking has to wait."""
    kinds = {sent.outcome for sent in sends if sent.succeeded}
    named = [sent.id for sent in sends if sent.succeeded and sent.id]
    ids = tuple(dict.fromkeys(named)) if len(kinds) == 1 else tuple(named[:1])
    if not subject.looks or not subject.effects.trusted:
        return Count(ids, None)
    await settle(subject, first, sends[-1])
    accepted = next((sent.accepted for sent in sends if sent.accepted), None)
    seen = (await subject.look(sends[-1].key, accepted)).verification
    return Count(ids, seen)


async def repeated(subject: Subject, began: Sent, first: Watch | None) -> Row:
    """The same key once more, as after a lost answer."""
    promise = Promise.KEY
    if subject.contract.key is None:
        return not_tested(promise, NOT_PROMISED)
    again = await subject.execute(began.key)
    counted = await count(subject, first, began, again)
    done = "sent the first effect's key again"
    if counted.several:
        return broken(promise, done, counted.several, IGNORED)
    if _says_nothing(again):
        return not_tested(promise, again.words, done)
    if again.succeeded and len({began.id, again.id}) == 1 and began.id:
        return kept(promise, done, f"both receipts name {shown(began.id)}")
    if counted.looked:
        return kept(promise, done, f"{_short(again)}; verify finds one effect")
    if again.outcome is Sending.REFUSED:
        return kept(promise, done, again.words)
    why = "the receipts have no id" if again.succeeded else again.words
    return not_tested(promise, f"{why}, and no lookup counts the effects", done)


async def at_once(subject: Subject, first: Watch | None) -> Row:
    """The same key twice at the same time, as after a timeout with the first still in work."""
    promise = Promise.AT_ONCE
    if subject.contract.key is None:
        return not_tested(promise, NOT_PROMISED)
    key = subject.key("twice")
    sends = list(await asyncio.gather(subject.execute(key), subject.execute(key)))
    done = "sent a fresh key twice at the same time"
    if {sent.outcome for sent in sends} & SUCCESSES and any(map(_says_nothing, sends)):
        # In progress, or only too many requests at once? The next answer tells.
        sends = [*(one for one in sends if not _says_nothing(one)), await subject.execute(key)]
        done += ", and once more"
    counted = await count(subject, first, *sends)
    if counted.several:
        return broken(promise, done, counted.several, IGNORED)
    succeeded = [sent for sent in sends if sent.succeeded]
    others = [sent for sent in sends if not sent.succeeded]
    earlier = {receipt.id for receipt in subject.effects.under(subject.key("once"))}
    if same := next((sent.id for sent in succeeded if sent.id and sent.id in earlier), None):
        said = f"a fresh key was answered with the first effect, {shown(same)}"
        return broken(promise, done, said, BY_CONTENT)
    if any(map(_says_nothing, others)):
        return not_tested(promise, others[-1].words, done)
    if len(succeeded) == 2 and len(counted.ids) == 1:
        return kept(promise, done, f"both receipts name {shown(counted.ids[0])}")
    if succeeded and others and others[0].outcome is not Sending.AMBIGUOUS:
        return kept(promise, done, f"one receipt; the other was {others[0].words}")
    if counted.looked:
        return kept(promise, done, "verify finds one effect")
    why = others[0].words if others else "the receipts have no id, and no lookup counts"
    return not_tested(promise, why, done)


async def other_content(
    subject: Subject, began: Sent, first: Watch | None, other: Mapping[str, Any] | None
) -> Row:
    """Other arguments under a used key: neither performed nor answered as if they had been."""
    promise = Promise.CONTENT
    if subject.contract.key is None:
        return not_tested(promise, NOT_PROMISED)
    if other is None:
        return not_tested(promise, "no argument could be varied by itself: give --other-args")
    trusted = subject.looks and subject.effects.trusted
    earlier = (await subject.look(began.key, began.accepted)).verification if trusted else None
    known = {receipt.id for receipt in subject.effects.under(began.key)}
    sent = await subject.execute(began.key, other)
    counted = await count(subject, first, began, sent)
    changed = ", ".join(sorted(name for name in other if other[name] != subject.arguments[name]))
    done = f"sent the first effect's key with other {changed}"
    if said := _performed(began, sent, known, earlier, counted):
        return broken(promise, done, f"performed as well: {said}", IGNORED)
    if earlier and counted.seen and counted.seen.trace and not earlier.trace:
        said = f"the first effect was changed: {counted.seen.trace}"
        return broken(promise, done, said, IGNORED)
    if _says_nothing(sent):
        return not_tested(promise, sent.words, done)
    if not sent.succeeded:
        if counted.looked or sent.outcome is not Sending.AMBIGUOUS:
            return kept(promise, done, sent.words)
        return not_tested(promise, f"{sent.words}, and no lookup counts the effects", done)
    return await _replayed(subject, sent, other, done, counted)


def _performed(
    began: Sent, sent: Sent, known: set[str | None], earlier: Verification | None, counted: Count
) -> str:
    """The signs of an effect that was not there before, in words; empty where there is none."""
    if sent.outcome is Sending.ANSWERED and sent.id and known and sent.id not in known:
        return sent.words
    if sent.accepted and began.accepted and sent.id != began.id:
        return "another operation was accepted"
    if earlier and counted.seen and len(counted.seen.matches) > max(len(earlier.matches), 1):
        return f"verify finds {len(counted.seen.matches)} effects"
    return ""


async def _replayed(
    subject: Subject, sent: Sent, other: Mapping[str, Any], done: str, counted: Count
) -> Row:
    """Answered with the first effect. Harmless only where the tool notices what it got."""
    if not counted.ids and not counted.looked:
        why = "answered with success, and neither id nor lookup says which effect it means"
        return not_tested(Promise.CONTENT, why, done)
    said = f"answered with the first effect ({sent.words})"
    final = sent.outcome is Sending.ANSWERED and subject.contract.response_proves
    if not final and counted.looked:
        seen = (await subject.look(sent.key, sent.accepted, other)).verification
        if seen.finding is not Finding.CONFIRMED or seen.trace:
            return kept(Promise.CONTENT, done, f"{said}, and verify notices: {told(seen)}")
    remedy = (
        "let the service refuse (422), let execute compare the answer with the arguments, or set "
        "response_proves=False with a lookup that compares (Lookup(same=…))"
    )
    return broken(Promise.CONTENT, done, f"{said} as if it were what was asked", remedy)


def varied(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with one of them another: a number, a flag or a text; None: none may be."""
    by_kind: list[tuple[int, str, Any]] = []
    for name, value in arguments.items():
        match value:
            case bool():
                by_kind.append((1, name, not value))
            case int() | float():
                by_kind += [(0, name, value + 1), (0, name, value - 1)]
            case str():
                by_kind.append((2, name, f"{value}-other"))
            case _:
                continue
    for _, name, value in sorted(by_kind, key=lambda one: one[0]):
        try:
            other = tool.normalise({**arguments, name: value})
        except InvalidArguments:
            continue
        if other != arguments:
            return other
    return None


def _says_nothing(sent: Sent) -> bool:
    """Whether the service has not judged the request: a rate limit says nothing of a key."""
    return sent.outcome in (Sending.NOT_SENT, Sending.REFUSED_FOR_NOW)


def _short(sent: Sent) -> str:
    return "answered with success" if sent.succeeded else sent.words
