"""Raw results as JSON: one cell a line, so that two runs can be compared line by line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .campaign import Result
from .judgement import LETTERS


def write_cells(path: Path, results: Sequence[Result], experiment: str) -> None:
    chosen = [one for one in results if one.experiment == experiment]
    path.parent.mkdir(exist_ok=True)
    path.write_text(cells(chosen), encoding="utf-8")


def cells(results: Sequence[Result]) -> str:
    """`by_seed`: the flags that hold, by letter, a word per seed from 0; `x*37` is 37 of them."""
    lines = ",\n".join(json.dumps(one.raw(), ensure_ascii=False) for one in results)
    letters = json.dumps({letter: flag for flag, letter in LETTERS.items()})
    return f'{{"by_seed_letters": {letters},\n"cells": [\n{lines}\n]}}\n'


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
