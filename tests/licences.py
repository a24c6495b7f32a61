"""The licences of what Surestep brings along: its dependencies and those of its extras.

    python -m tests.licences        # part of `make audit`; exit code 1: one is not allowed

Read from the metadata of what is installed, so it works offline and says the same every time.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"

PERMISSIVE = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "PSF-2.0"}
)

SHARE_CHANGES = {
    "certifi": ("MPL-2.0", "a list of certificates, used as it is"),
    "orjson": ("MPL-2.0", "only with the extra langgraph, used as it is"),
    "psycopg": ("LGPL-3.0-only", "only with the extra postgresql, imported and replaceable"),
    "psycopg-binary": ("LGPL-3.0-only", "the same"),
}
"""What asks for its own changes back; each with the reason why it may be here."""

# Older metadata has words, or classifiers, where an SPDX expression should stand.
SPELT = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
}


@dataclass(frozen=True)
class Licence:
    """One package, and what it says of itself. `extra`: which brings it, or ""."""

    package: str
    version: str
    expression: str
    extra: str

    @property
    def allowed(self) -> bool:
        """At least one of those between OR, and all of those between AND."""
        mine = {*PERMISSIVE, *SHARE_CHANGES.get(self.package, ())[:1]}
        plain = re.sub(r"[()]", " ", self.expression)
        if " AND " in plain and " OR " in plain:  # `A AND (B OR C)`: stricter than it says
            return set(re.split(r"\s+(?:AND|OR)\s+", plain.strip())) <= mine
        if " OR " in plain:
            return bool(set(re.split(r"\s+OR\s+", plain.strip())) & mine)
        return set(re.split(r"\s+AND\s+", plain.strip())) <= mine


def licences() -> list[Licence]:
    """Of every package that a `pip install surestep[extras]` brings, in order of name."""
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    found: dict[str, Licence] = {}
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    for extra, requirements in groups.items():
        for package in _brought(map(Requirement, requirements)):
            name = _normal(package.name)
            found.setdefault(name, Licence(name, package.version, expression(package), extra))
    return sorted(found.values(), key=lambda one: one.package)


def expression(package: Distribution) -> str:
    """The SPDX expression; of older metadata, what its words mean; empty: it says nothing."""
    told = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    said = [told] if told and "\n" not in told else _classified(package)
    return " OR ".join(SPELT.get(one.lower(), one) for one in said)


def _classified(package: Distribution) -> list[str]:
    lines = package.metadata.get_all("Classifier") or []
    return [line.split(" :: ")[-1] for line in lines if line.startswith("License :: ")]


def _brought(requirements: Iterable[Requirement]) -> Iterator[Distribution]:
    """What they need on this Python and system, themselves included."""
    waiting, seen = list(requirements), set[str]()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        try:
            package = distribution(wanted.name)
        except PackageNotFoundError:
            raise SystemExit(f"{wanted.name} is not installed: run `make .venv`") from None
        yield package
        for needed in map(Requirement, package.requires or []):
            asked = [{"extra": extra} for extra in ("", *wanted.extras)]
            if needed.marker is None or any(needed.marker.evaluate(one) for one in asked):
                waiting.append(needed)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Print the list; what is not allowed goes to stderr, too."""
    rows = licences()
    width = max(len(one.package) + len(one.version) for one in rows) + 1
    for one in rows:
        named = f"{one.package} {one.version}".ljust(width)
        notes = [f"[{one.extra}]" if one.extra else "", SHARE_CHANGES.get(one.package, ("", ""))[1]]
        print("  ".join([named, one.expression or "says nothing", *filter(None, notes)]))
    refused = [one for one in rows if not one.allowed]
    for one in refused:
        print(f"not allowed: {one.package} is under {one.expression or '?'}", file=sys.stderr)
    return bool(refused)


if __name__ == "__main__":
    sys.exit(main())
