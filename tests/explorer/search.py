"""Every state that can be reached with at most `depth` departures, the nearest first."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

from . import laws
from .run import ended, kind_of_end, steps
from .state import Scene, State, first, identity
from .world import Event

MOVES_LIMIT = 120  # without a departure; the longest honest story needs about half


class Node(NamedTuple):
    """A state and how it came about; `moves` since the last departure."""

    state: State
    name: int
    told: list[Event]
    parent: Optional["Node"]
    moves: int


@dataclass
class Story:
    """A counterexample."""

    scene: Scene
    broken: str
    node: Node


@dataclass
class Found:
    """What an exploration saw. `ends` counts states in which nothing is left to do, by kind."""

    depth: int
    states: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    story: Story | None = None


def explore(scene: Scene, depth: int) -> Found:
    """Stops at the first broken law; its story has as few departures as there can be."""
    found = Found(depth)
    start = first(scene)
    seen = {identity(start)}
    frontier = [Node(start, identity(start), [(0, "agent", "plans one action")], None, 0)]
    for departures in range(depth + 1):
        frontier = _explore_level(scene, frontier, seen, found, last=departures == depth)
        if found.story:
            break
    found.states = len(seen)
    return found


def _explore_level(
    scene: Scene, level: list[Node], seen: set[int], found: Found, *, last: bool
) -> list[Node]:
    """Follow every story of this level to its end; what departs from one is the next level."""
    following: list[Node] = []
    level.reverse()
    while level:
        node = level.pop()
        kind_ways = 0
        for step in steps(scene, node.state, kindly=last):
            kind_ways += not step.departs
            name = identity(step.state)
            moves = 0 if step.departs else node.moves + 1
            way = Node(step.state, name, step.told, node, moves)
            broken = step.broken or _endless(way)
            if broken:
                found.story = Story(scene, broken, way)
                return []
            if name not in seen:
                seen.add(name)
                (following if step.departs else level).append(way)
        if not kind_ways:
            found.ends[kind_of_end(node.state)] += 1
            broken = laws.of_end(scene, node.state) if ended(node.state) else laws.NOT_STUCK
            if broken:
                found.story = Story(scene, broken, node)
                return []
    return following


def _endless(way: Node) -> str | None:
    """Going round in a circle, or on and on."""
    if way.moves > MOVES_LIMIT:
        return laws.ENDS
    node = way
    while node.moves and node.parent:
        node = node.parent
        if node.name == way.name:
            return laws.ENDS
    return None
