"""A closed loop: so many at once, each followed by the next, until all are done."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import quantiles

Act = Callable[[str], Awaitable[object]]


@dataclass(frozen=True)
class Slice:
    """One reading: how long so many took, and what they cost. Latencies in milliseconds."""

    count: int
    seconds: float
    server_cpu: float
    agent_cpu: float
    p50: float
    p95: float

    @property
    def per_second(self) -> float:
        return self.count / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Of server, worker and client, for each."""
        return 1000 * (self.server_cpu + self.agent_cpu) / self.count


async def loaded(
    act: Act, ids: Sequence[str], flight: int, cpu: Callable[[], tuple[float, float]]
) -> Slice:
    left, latencies = iter(ids), []

    async def one_after_the_other() -> None:
        for step_id in left:
            begun = time.perf_counter()
            await act(step_id)
            latencies.append(1000 * (time.perf_counter() - begun))

    before, begun = cpu(), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(min(flight, len(ids))):
            group.create_task(one_after_the_other())
    seconds, after = time.perf_counter() - begun, cpu()
    p50, p95 = _percentiles(latencies)
    return Slice(len(ids), seconds, after[0] - before[0], after[1] - before[1], p50, p95)


def _percentiles(latencies: Sequence[float]) -> tuple[float, float]:
    if len(latencies) < 2:
        return latencies[0], latencies[0]
    parts = quantiles(latencies, n=20, method="inclusive")
    return parts[9], parts[18]
