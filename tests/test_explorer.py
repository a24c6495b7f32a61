"""Every interleaving up to a depth that takes seconds; `make explore` goes deeper."""

from collections import Counter

import pytest

from tests.explorer.mutants import MUTANTS, applied
from tests.explorer.planted import FAULTS, find, is_found
from tests.explorer.scenes import scenes
from tests.explorer.search import Found, explore
from tests.explorer.story import tell

DEPTH = 2
EVERY = [scene for scene in scenes() if "everything at once" not in scene.name]
PARTS = 8  # so that several workers share the work
STATES = 30_000  # in every part at least; fewer means that the model has lost its choices


def told(found: Found) -> str:
    return tell(found.story) if found.story else "no story"


@pytest.mark.parametrize("part", range(PARTS))
def test_no_interleaving_breaks_a_law(part: int) -> None:
    found = [explore(scene, DEPTH) for scene in EVERY[part::PARTS]]
    stories = [tell(one.story) for one in found if one.story]
    assert not stories, "\n\n".join(["", *stories])
    assert sum(one.states for one in found) >= STATES


def test_every_kind_of_end_is_reached_in_many_ways() -> None:
    ends: Counter[str] = Counter()
    for scene in EVERY:
        if ";" in scene.name:
            ends += explore(scene, 1).ends
    assert set(ends) == {"confirmed", "not_found", "rejected"}
    assert min(ends.values()) > 100, ends


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_promise_is_found(name: str) -> None:
    found = find(FAULTS[name])
    assert is_found(FAULTS[name], found), told(found)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_rule_is_found(name: str) -> None:
    mutant = MUTANTS[name]
    with applied(mutant):
        found = find(mutant.fault)
    assert is_found(mutant.fault, found), told(found)


@pytest.mark.parametrize("name", MUTANTS)
def test_the_right_rule_is_not_blamed_for_it(name: str) -> None:
    fault = MUTANTS[name].fault
    found = explore(fault.scene, fault.depth)
    assert found.story is None, told(found)


def test_a_counterexample_reads_as_a_story() -> None:
    story = told(find(FAULTS["key_not_honoured"]))
    assert "1. t=0     agent     plans one action" in story
    assert "policy    Send attempt 2 under key generation 1" in story
    assert story.endswith("BROKEN: never two effects of one action")
