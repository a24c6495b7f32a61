"""The Wilson score interval of a proportion."""

from math import sqrt
from typing import Final

Z: Final = 1.959964  # 95 %


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Lower and upper bound, from 0 to 1; of nothing, everything is possible."""
    if n == 0:
        return 0.0, 1.0
    p, square = hits / n, Z * Z
    middle = (p + square / (2 * n)) / (1 + square / n)
    half = Z * sqrt(p * (1 - p) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def published_interval(percent: int, n: int = 25) -> tuple[float, float]:
    """The interval of a published percentage of n episodes."""
    return wilson(round(percent * n / 100), n)
