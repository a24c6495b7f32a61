"""Runs the cells of the simulated experiments, and sums each up as plain data."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from typing import Any, Final

from . import keylife, native, wrapper
from .arms import Told
from .judgement import FLAGS, Judged
from .service import Service

Episode = Callable[[Any, int], tuple[Judged, list[Service], list[Told]]]
PERCENTILES: Final = (10, 50, 90, 99)


@dataclass(frozen=True)
class Experiment:
    """`seeds`: how many it needs, in relation to the others."""

    name: str
    cells: Callable[[], Iterable[Any]]
    episode: Episode
    surestep: Callable[[Any], bool]
    broken: Callable[[Any], str | None]
    seeds: float = 1.0


EXPERIMENTS: Final = (
    Experiment("E1", wrapper.cells, wrapper.episode, wrapper.is_surestep, wrapper.broken),
    Experiment("E2", native.cells, native.episode, lambda cell: bool(cell.surestep), native.broken),
    Experiment(
        "E4",
        keylife.cells,
        keylife.episode,
        lambda cell: bool(cell.surestep),
        keylife.broken,
        seeds=0.25,  # hardly anything is random
    ),
)


# With more seeds, so that our own noise is small beside that of the published 25 episodes.
REPRODUCTION: Final = Experiment(
    "E1 reproduction",
    wrapper.published_cells,
    wrapper.episode,
    lambda cell: False,
    wrapper.broken,
    seeds=10.0,
)


@dataclass
class Result:
    """One cell. `settled`: seconds until each episode was over for the agent; `right`: those of
    them after which everything was in place exactly once."""

    experiment: str
    cell: dict[str, Any]
    surestep: bool
    broken: str | None
    n: int
    flags: Counter[str]
    seeds: list[str]
    actions: int
    asked: int
    avoidable: int
    withdrawn: int
    avoidable_withdrawn: int
    requests: int
    reads: int
    watch_reads: int
    settled: list[float]
    right: list[float]
    human: list[float]

    def rate(self, flag: str) -> float:
        return self.flags[flag] / self.n

    def is_of(self, **wanted: Any) -> bool:
        return all(self.cell.get(name) == value for name, value in wanted.items())

    def raw(self) -> dict[str, Any]:
        """What is written: the same seeds give the same bytes."""
        return {
            "cell": self.cell,
            "surestep": self.surestep,
            "hypothesis_broken": self.broken,
            "episodes": self.n,
            **{flag: self.flags[flag] for flag in FLAGS},
            "actions": self.actions,
            "actions_asked": self.asked,
            "actions_asked_avoidably": self.avoidable,
            "questions_withdrawn": self.withdrawn,
            "avoidable_questions_withdrawn": self.avoidable_withdrawn,
            "requests": self.requests,
            "reads": self.reads,
            "reads_of_watches": self.watch_reads,
            "settled_seconds": percentiles(self.settled),
            "asked_to_settled_seconds": percentiles(self.human),
            "by_seed": " ".join(runs(self.seeds)),
        }


def run(experiments: Sequence[Experiment], seeds: int, processes: int) -> list[Result]:
    """Every cell with the seeds 0, 1, …; the order is that of the cells."""
    work = [(number, cell) for number, one in enumerate(experiments) for cell in one.cells()]
    names = [one.name for one in experiments]
    if processes == 1:
        return [_run(names, seeds, one) for one in work]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(partial(_run, names, seeds), work, chunksize=8))


def _run(names: Sequence[str], seeds: int, work: tuple[int, Any]) -> Result:
    number, cell = work
    (experiment,) = (one for one in (*EXPERIMENTS, REPRODUCTION) if one.name == names[number])
    return run_cell(experiment, cell, range(max(1, round(seeds * experiment.seeds))))


def run_cell(experiment: Experiment, cell: Any, seeds: Iterable[int]) -> Result:
    result = Result(
        experiment.name, asdict(cell), experiment.surestep(cell), experiment.broken(cell),
        0, Counter(), [], 0, 0, 0, 0, 0, 0, 0, 0, [], [], [],
    )  # fmt: skip
    for seed in seeds:
        judged, services, told = experiment.episode(cell, seed)
        result.n += 1
        result.flags.update(flag for flag in FLAGS if getattr(judged, flag))
        result.seeds.append(judged.letters)
        result.actions += len(told)
        result.asked += sum(one.asked is not None for one in told)
        result.avoidable += sum(one.avoidable for one in told)
        withdrawn = [one for one in told if one.asked is not None and one.answered is None]
        result.withdrawn += len(withdrawn)
        result.avoidable_withdrawn += sum(one.avoidable for one in withdrawn)
        result.requests += sum(len(one.requests) for one in services)
        for one, last in zip(services, told, strict=True):
            late = sum(at >= last.at for at in one.looked)
            result.reads += len(one.looked) - late
            result.watch_reads += late
        over = max(one.at for one in told)
        result.settled.append(over)
        if judged.exact:
            result.right.append(over)
        result.human += [one.at - one.asked for one in told if one.asked is not None]
    return result


def runs(words: Sequence[str]) -> list[str]:
    """Equal words in a row are one with their number: `x*37`."""
    counted = [(word, len(list(same))) for word, same in groupby(words)]
    return [word if count == 1 else f"{word}*{count}" for word, count in counted]


def percentiles(times: Sequence[float]) -> dict[str, float] | None:
    if not times:
        return None
    ordered = sorted(times)
    last = len(ordered) - 1
    return {f"p{p}": round(ordered[round(p / 100 * last)], 3) for p in PERCENTILES}
