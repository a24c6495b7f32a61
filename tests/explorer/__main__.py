"""`python -m tests.explorer --depth N`: explore, tell every counterexample, and sum up as JSON."""

import argparse
import json
import sys

from .mutants import MUTANTS, applied
from .planted import FAULTS, find, is_found
from .scenes import scenes
from .search import explore
from .story import tell


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.explorer", description=__doc__)
    parser.add_argument("--depth", type=int, default=3, help="departures; 2 takes seconds")
    parser.add_argument("--only", default="", help="scenes whose name contains this")
    parser.add_argument("--stories", action="store_true", help="tell the planted faults as well")
    options = parser.parse_args()

    states, violations = 0, 0
    for scene in scenes():
        if options.only not in scene.name:
            continue
        found = explore(scene, options.depth)
        states += found.states
        ends = ", ".join(f"{count} {kind}" for kind, count in sorted(found.ends.items()))
        print(f"{found.states:9,} states  {scene.name}: {ends or 'stopped'}", flush=True)
        if found.story:
            violations += 1
            print(f"\n{tell(found.story)}\n", flush=True)

    seen = {name: (is_found(fault, out := find(fault)), out) for name, fault in FAULTS.items()}
    for name, mutant in MUTANTS.items():
        with applied(mutant):
            out = find(mutant.fault)
        seen[name] = (is_found(mutant.fault, out), out)
    for name, (is_seen, out) in seen.items():
        print(f"{'found' if is_seen else 'MISSED':6} {name} ({out.states:,} states)")
        if out.story and (options.stories or not is_seen):
            print(f"\n{tell(out.story)}\n")

    planted_found = sum(is_seen for is_seen, _ in seen.values())
    print(json.dumps({
        "states": states,
        "depth": options.depth,
        "violations": violations,
        "planted": len(seen),
        "planted_found": planted_found,
    }))  # fmt: skip
    return 1 if violations or planted_found < len(seen) else 0


if __name__ == "__main__":
    sys.exit(main())
