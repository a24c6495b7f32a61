"""Can the lookup see, how soon, and does it take strangers for ours?"""

from surestep.conformance.promise import Promise, after, span, within
from surestep.conformance.report import Row, broken, kept, not_tested
from surestep.conformance.sending import found, shown, told
from surestep.conformance.subject import Subject, seconds
from surestep.conformance.watch import LOOKS_AGAIN, Watch
from surestep.evidence import Verification

NO_VERIFY = "the tool has no verify"
CANNOT_SEE = (
    "give the lookup credentials that see what execute makes, look where the effect is listed, "
    "or raise --patience if the service only is slow"
)


async def strangers(subject: Subject, before: Verification | None, first: Watch | None) -> Row:
    """Keys never used, with the arguments of an effect that is there, must not be found."""
    if before is None or first is None:
        return not_tested(Promise.STRANGERS, NO_VERIFY)
    remedy = "match on call.action_id and nothing else: HttpTool has Lookup(key=…) for it"
    if found(before):
        done = "looked before anything was sent"
        return broken(Promise.STRANGERS, done, told(before), remedy)
    if first.visible is None:
        return not_tested(Promise.STRANGERS, "no effect was seen that could look alike")
    ours = first.sent.key
    # Another intent; the key that a new generation would have; ours, cut off by a short column.
    others = (subject.key("never"), f"{ours}~2", ours[:-1])
    done = f"looked for {len(others)} keys never used, same arguments"
    looks = [(key, (await subject.look(key)).verification) for key in others]
    for key, seen in looks:
        if found(seen):
            said = f"{told(seen)} under the unused key …/{key.split('/', 2)[2]}"
            return broken(Promise.STRANGERS, done, said, remedy)
    unclear = [seen for _, seen in looks if seen.why]
    if unclear:
        return not_tested(Promise.STRANGERS, f"the lookup could not say: {unclear[0].why}", done)
    return kept(Promise.STRANGERS, done, "not_found each time")


async def sight(subject: Subject, first: Watch | None) -> Row:
    """A lookup that sees nothing makes every miss look like absence."""
    if first is None:
        return not_tested(Promise.SIGHT, NO_VERIFY)
    if subject.tool.sight_with is not None:
        return _probed(await subject.sees(), first)
    done = f"looked {first.looks} times for the effect"
    if first.visible is not None:
        return kept(Promise.SIGHT, done, f"saw it: {told(first.last)}")
    if first.failed:
        said = f"every look failed: {first.last.why}"
        return broken(Promise.SIGHT, done, said, "correct the lookup's request or credentials")
    if first.sent.accepted:
        return not_tested(Promise.SIGHT, "what was accepted was never seen; raise --patience", done)
    if first.sent.id is None:
        why = "nothing shows that an effect exists that could be seen; add a sight probe"
        return not_tested(Promise.SIGHT, why, done)
    said = f"never saw {shown(first.sent.id)}, named by the receipt; or it is not there (above)"
    return broken(Promise.SIGHT, done, said, f"{CANNOT_SEE}; a sight probe would tell which it is")


def _probed(sees: bool | str, first: Watch) -> Row:
    done = "asked the sight probe"
    if sees is True:
        return kept(Promise.SIGHT, done, "it sees its known object")
    said = "it does not see its known object" if sees is False else f"it failed: {sees}"
    if first.visible is not None:
        said += ", yet the effect was seen"
        return broken(Promise.SIGHT, done, said, "point the sight probe at an object that exists")
    return broken(Promise.SIGHT, done, said, CANNOT_SEE)


def lag(subject: Subject, first: Watch | None, strangers_found: bool) -> Row:
    """The verdict hangs on a look that began after the promised time and still missed."""
    if first is None:
        return not_tested(Promise.LAG, NO_VERIFY)
    promised = subject.contract.visibility_lag
    done = f"looked {first.looks} times after the success answer"
    measured = "" if first.visible is None else f"seen {after(first.visible)}"
    if first.missed is not None:
        measured += f", not yet {after(first.missed)}"
    if promised is None:
        once = f" ({measured} this once, which promises nothing)" if measured else ""
        return not_tested(Promise.LAG, f"no visibility_lag is promised{once}")
    if strangers_found:
        return not_tested(Promise.LAG, "the lookup finds what was never sent", done)
    if first.visible is None:
        return not_tested(Promise.LAG, "no look saw anything", done)
    if first.sent.accepted:
        return not_tested(Promise.LAG, "accepted: when it committed is not known", done)
    if first.missed is not None and first.missed >= seconds(promised):
        said = f"{measured}; promised {within(promised)}"
        remedy = f"promise a visibility_lag well over {span(first.visible)}, or none (None)"
        return broken(Promise.LAG, done, said, remedy)
    if first.again >= subject.contract.misses:
        said = f"{measured}, then missed {first.again} of {LOOKS_AGAIN} times in a row"
        remedy = "look at the primary store; else raise misses, or promise no visibility_lag"
        return broken(Promise.LAG, done, said, remedy)
    return kept(Promise.LAG, done, measured)


def same_effect(first: Watch | None) -> Row:
    """What verify finds is what execute's receipt named, once, as it was asked for."""
    if first is None:
        return not_tested(Promise.SAME, NO_VERIFY)
    done = "compared the receipt with what verify found"
    seen = first.last
    if first.settled is None:
        return not_tested(Promise.SAME, "verify found nothing to compare")
    if seen.trace:
        remedy = "correct what the lookup compares (Lookup(same=…)): nothing would be confirmed"
        return broken(Promise.SAME, done, seen.trace, remedy)
    ids = [match.id for match in seen.matches]
    if len(ids) > 1:
        said = f"one send made {len(ids)} effects: {', '.join(shown(one) or '?' for one in ids)}"
        return broken(Promise.SAME, done, said, "execute must send once; ask the service's owner")
    if first.sent.accepted:
        return not_tested(Promise.SAME, "an accepted operation does not name its effect yet")
    if first.sent.id is None or not ids or ids[0] is None:
        return not_tested(Promise.SAME, "execute or verify gives no id: fill Receipt(id=…)")
    if ids[0] != first.sent.id:
        said = f"execute named {shown(first.sent.id)}, verify {shown(ids[0])}"
        return broken(Promise.SAME, done, said, "read both ids from the same place (Shape(id=…))")
    return kept(Promise.SAME, done, f"both name {shown(ids[0])}")
