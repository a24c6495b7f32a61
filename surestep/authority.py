"""Who may decide: people, their keys, and which of them may say what about which actions.

The file that SURESTEP_DECISION_KEYS names is read here; docs/security.md shows one. Judging is
pure.
"""

import tomllib
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import BeforeValidator, Field, InstanceOf, ValidationError, model_validator

from surestep.contract import Effect
from surestep.decision import Decision, Verdict
from surestep.errors import SurestepError
from surestep.questions import Examined, ExamineOrder, NoticeOrder
from surestep.signature import fingerprint, fits, read_public, unsaid
from surestep.value import Value

CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""A decision may be made that far ahead of the server's time."""

NEED_ONE: Final = (Verdict.REFUSE, Verdict.ABANDON, Verdict.KEEP_LOOKING)
"""To stop and to wait, one person is enough, unless the file says otherwise."""


class AuthorityError(SurestepError):
    """The file of who may decide cannot be used; the message names file, field and remedy."""


def _public(value: object) -> Ed25519PublicKey:
    if not isinstance(value, str):
        raise ValueError("it is no text: name a public key in base64 or PEM")
    return read_public(value)


def _seconds(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise ValueError("it is not a number of seconds above zero, such as 3600")
    return timedelta(seconds=value)


Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
PublicKey = Annotated[InstanceOf[Ed25519PublicKey], BeforeValidator(_public)]
Seconds = Annotated[timedelta, BeforeValidator(_seconds)]
Verdicts = Annotated[tuple[Verdict, ...], Field(min_length=1)]


class Scope(Value):
    """Decisions: by verdict, tool and effect. What is left out means all."""

    verdicts: Verdicts | None = None
    tools: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    effects: Annotated[tuple[Effect, ...], Field(min_length=1)] | None = None

    def covers(self, order: ExamineOrder) -> bool:
        return (
            (self.verdicts is None or order.decision.verdict in self.verdicts)
            and (self.tools is None or order.tool in self.tools)
            and (self.effects is None or order.effect in self.effects)
        )


class Pairing(Scope):
    """Decisions that two different people must make alike."""

    verdicts: Verdicts | None = tuple(one for one in Verdict if one not in NEED_ONE)


class Person(Value):
    """One who may decide.

    keys      more than one while an old key is replaced by a new one
    may       what; everything, where it is left out
    known_as  other names under which agents call this person as requester
    """

    keys: Annotated[tuple[PublicKey, ...], Field(min_length=1)]
    may: tuple[Scope, ...] = (Scope(),)
    known_as: tuple[Name, ...] = ()


class Source(Value):
    """Whoever passes on what services say by themselves; `tools`: about which, None: all."""

    keys: Annotated[tuple[PublicKey, ...], Field(min_length=1)]
    tools: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None


class Authority(Value):
    """Whose decisions count, and which; and whose notices."""

    people: Annotated[dict[Name, Person], Field(min_length=1)]
    sources: dict[Name, Source] = Field(default_factory=dict)
    two_people: tuple[Pairing, ...] = ()
    requester_may_approve: bool = False
    longest_age: Seconds = timedelta(hours=1)

    @model_validator(mode="after")
    def _people_are_different(self) -> Self:
        owners: dict[str, str] = {}
        named = [(name, person.keys) for name, person in self.people.items()]
        named += [(name, source.keys) for name, source in self.sources.items()]
        for name, keys in named:
            for key in keys:
                other = owners.setdefault(fingerprint(key), name)
                if other != name:
                    raise ValueError(f"{other} and {name} have the same key: give each their own")
        if len({_folded(name) for name in self.people}) < len(self.people):
            raise ValueError("two names under `people` differ in capitals only: change one")
        if self.two_people and len(self.people) < 2:
            raise ValueError("`two_people` needs two people at least: add one, or leave it out")
        return self

    @classmethod
    def load(cls, path: Path) -> Self:
        """The authority that the file describes. Raises AuthorityError."""
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            remedy = "let SURESTEP_DECISION_KEYS name a file that the worker can read"
            raise AuthorityError(f"{path}: {error.strerror}: {remedy}") from None
        except ValidationError as error:
            wrong = [f"{path}: {_complaint(one)}" for one in _causes(error)]
            raise AuthorityError("\n".join([*wrong, "docs/security.md has an example"])) from None
        except ValueError as error:  # neither UTF-8 nor TOML
            raise AuthorityError(f"{path} is not TOML: {error}") from None

    def unknown_tools(self, known: set[str]) -> set[str]:
        """Tools that the file names and nobody else knows: perhaps misspelt."""
        scopes = [*self.two_people, *(one for person in self.people.values() for one in person.may)]
        named = [one.tools for one in scopes] + [one.tools for one in self.sources.values()]
        return {tool for tools in named for tool in tools or ()} - known

    def examine(self, order: ExamineOrder, *, at: datetime, now: datetime) -> Examined:
        """Whether the decision, which was received `at`, may be taken; if not, why not."""
        name, why = self._author(order.decision)
        why = why or _elsewhere(order) or self._untimely(order.decision, at)
        if name and why is None:
            why = self._unentitled(name, order)
        another = bool(name) and why is None and self._needs_another(order)
        return Examined(at=at, now=now, by=name, objection=why, needs_another=another)

    def object_to(self, order: NoticeOrder) -> str | None:
        """Why a notice says nothing; None: it counts."""
        notice = order.notice
        if not notice.signed_by or not notice.signature:
            return "it is not signed, and only signed notices count here"
        for name, source in self.sources.items():
            for key in source.keys:
                if fingerprint(key) != notice.signed_by:
                    continue
                if not fits(notice, key):
                    return f"it is forged or was changed: {name}'s signature does not fit it"
                if notice.key not in order.keys:
                    return f"it is signed for {notice.key[:80]}, which is no key of this action"
                if source.tools is not None and order.tool not in source.tools:
                    return f"{name} may not speak about {order.tool}"
                return None
        return f"no source here has the key {notice.signed_by[:40]!r}"

    def _author(self, decision: Decision) -> tuple[str | None, str | None]:
        """Whose signature the decision carries, or why nobody's."""
        if not decision.key or not decision.signature:
            return None, (
                "it is not signed, and only signed decisions count here: set SURESTEP_SIGNING_KEY "
                "to your key's file, and starter.py signs (`python starter.py keys new` makes one)"
            )
        for name, person in self.people.items():
            for key in person.keys:
                if fingerprint(key) != decision.key:
                    continue
                if not fits(decision, key):
                    return None, (
                        f"it is forged or was changed: {name}'s signature does not fit what it "
                        "says; sign it anew"
                    )
                if missing := unsaid(decision):
                    return name, f"it does not say its {', '.join(missing)}: add that and sign anew"
                return name, None
        return None, (
            f"nobody here has the key {decision.key[:40]!r}: add its public half to the workers' "
            "file, or sign with another"
        )

    def _untimely(self, decision: Decision, at: datetime) -> str | None:
        made = decision.made_at
        if made and made - at > CLOCKS_DIFFER:
            return f"it was made in the future, at {_time(made)}: set the signer's clock right"
        if made and at - made > self.longest_age:
            return (
                f"it is too old: made at {_time(made)} and received at {_time(at)}; "
                "look again, then sign anew"
            )
        if decision.expires and at >= decision.expires:
            return (
                f"it expired at {_time(decision.expires)} and was received at {_time(at)}; "
                "look again, then sign anew"
            )
        return None

    def _unentitled(self, name: str, order: ExamineOrder) -> str | None:
        verdict = order.decision.verdict
        if not self._may(name, order):
            others = [one for one in self.people if self._may(one, order)]
            asked = f"ask {' or '.join(others[:3])}" if others else "nobody may"
            return f"{name} may not {verdict} {order.tool} ({order.effect}): {asked}"
        if self._approves_own_request(name, order):
            return f"{name} has requested it and may not {verdict} it: ask somebody else"
        if self._paired(order) and name in order.agreed:
            return f"{name} has said so already: a second person must say the same"
        return None

    def _needs_another(self, order: ExamineOrder) -> bool:
        """Whoever has lost the right since they said the same does not count any more."""
        agreed = any(
            self._may(one, order) and not self._approves_own_request(one, order)
            for one in order.agreed
        )
        return self._paired(order) and not agreed

    def _may(self, name: str, order: ExamineOrder) -> bool:
        person = self.people.get(name)
        return person is not None and any(scope.covers(order) for scope in person.may)

    def _paired(self, order: ExamineOrder) -> bool:
        return any(pairing.covers(order) for pairing in self.two_people)

    def _approves_own_request(self, name: str, order: ExamineOrder) -> bool:
        verdict = order.decision.verdict
        consents = verdict is Verdict.APPROVE or (verdict is Verdict.RETRY and order.needs_approval)
        if self.requester_may_approve or not consents:
            return False
        person = self.people.get(name)
        names = {_folded(one) for one in (name, *(person.known_as if person else ()))}
        return _folded(order.requester) in names


def _elsewhere(order: ExamineOrder) -> str | None:
    """A decision about another action, or about other arguments than the action has."""
    said = order.decision
    if said.action != order.action_id:
        return f"it is signed for the action {said.action}, not for {order.action_id}: sign anew"
    if said.input_hash != order.input_hash:
        return "it is signed for other arguments than the action has: look again, then sign anew"
    return None


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S %Z}"


def _causes(error: ValidationError) -> list[Any]:
    """What is wrong, without the list that is too short only for a wrong item."""
    found: list[Any] = error.errors(include_url=False)
    places = [one["loc"] for one in found]
    return [
        one
        for one in found
        if one["type"] != "too_short"
        or not any(loc[: len(one["loc"])] == one["loc"] != loc for loc in places)
    ]


def _complaint(detail: Any) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]]
    where = "".join(parts).removeprefix(".")
    cause = detail.get("ctx", {}).get("error")
    what = str(cause or detail["msg"])
    if detail["type"] == "extra_forbidden":
        models = (Authority, Person, Scope, Source)
        names = [name for model in models for name in model.model_fields]
        nearest = get_close_matches(str(detail["loc"][-1]), names, n=1)
        known = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(names)}"
        what = f"there is no such field: {known}"
    return f"{where}: {what}" if where else what
