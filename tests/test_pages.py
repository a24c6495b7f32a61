"""What the pages refer to is there: tests that show something, other pages, headings in them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NODE = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)*)`")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@cache
def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())


@cache
def node_ids(file: Path) -> frozenset[str]:
    """The part of a test's id that follows the file's name."""

    def below(body: list[ast.stmt], before: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from below(node.body, f"{before}::{node.name}")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{before}::{node.name}"

    return frozenset(below(ast.parse(file.read_text()).body, "")) if file.is_file() else frozenset()


@cache
def anchors(page: Path) -> frozenset[str]:
    """Of every heading, as the places that show Markdown make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", one).lower() for one in headings)
    return frozenset(re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in plain)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_refers_to_is_there(page: Path) -> None:
    lost = [
        file + node
        for file, node in NODE.findall(prose(page))
        if not (ROOT / file).is_file() or (node and node not in node_ids(ROOT / file))
    ]
    for place, heading in LINK.findall(prose(page)):
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (heading and heading not in anchors(target)):
            lost.append(f"{place}#{heading}" if heading else place)
    assert lost == []


def test_the_threat_model_names_a_test_for_every_actor() -> None:
    text = (ROOT / "docs/security.md").read_text()
    part = text.partition("## What each can and cannot do")[2].partition("\n## ")[0]
    actors = part.split("\n### ")[1:]
    assert len(actors) >= 8
    unshown = [one.partition("\n")[0] for one in actors if not NODE.search(one)]
    # Against this there is no defence but Temporal's own, and the page says so.
    assert unshown == ["Whoever may poll a task queue"]
