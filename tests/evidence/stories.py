"""The sample of every cell of Surestep's that is run through the real workflow as well."""

from functools import partial

from . import declarations, keylife, native, wrapper
from .course import Story
from .kinds import KINDS


def stories(seeds: int) -> list[Story]:
    """One action of each cell and seed."""
    return [
        *_wrapper(seeds),
        *_native(seeds),
        *_keylife(seeds),
    ]


def _wrapper(seeds: int) -> list[Story]:
    # A stubborn agent's second call attaches: it is another agent, not another action.
    chosen = [one for one in wrapper.cells() if wrapper.is_surestep(one) and one.agent == "patient"]
    return [
        Story(
            f"E1 {cell} {seed}",
            partial(wrapper.service, cell, seed, seed % 2, quick=True),
            wrapper.declared(cell, seed, seed % 2),
        )
        for cell in chosen
        for seed in range(seeds)
    ]


def _native(seeds: int) -> list[Story]:
    return [
        Story(
            f"E2 {cell} {seed}",
            partial(
                native.service, cell, seed, seed % KINDS[cell.kind].items, alone=True, quick=True
            ),
            declarations.declared(cell.arm, cell.kind, cell.keys, f"{seed} 0"),
        )
        for cell in native.cells()
        if cell.surestep
        for seed in range(seeds)
    ]


def _keylife(seeds: int) -> list[Story]:
    return [
        Story(
            f"E4 {cell} {seed}",
            partial(keylife.service, cell, seed, quick=True),
            keylife.declared(cell, seed),
        )
        for cell in keylife.cells()
        if cell.surestep
        for seed in range(seeds)
    ]
