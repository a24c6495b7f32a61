"""A median with its quartiles, and the ratio of things that were measured in the same round."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Spread:
    """Of `n` readings: the median and the quartiles; of one reading, three times that."""

    median: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, readings: Sequence[float]) -> "Spread":
        """Raises ValueError where there are none."""
        if not readings:
            raise ValueError("no readings")
        if len(readings) == 1:
            return cls(readings[0], readings[0], readings[0], 1)
        low, _, high = quantiles(readings, n=4, method="inclusive")
        return cls(median(readings), low, high, len(readings))


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Reading by reading: the two of one round met the same machine."""
    return [one / other for one, other in zip(above, below, strict=False) if other]
