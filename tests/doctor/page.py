"""The table of settings in docs/settings.md, as the code has it."""

from pathlib import Path

from surestep.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
BEGINS = "<!-- settings: `python -m tests.doctor` writes this table -->\n"
ENDS = "<!-- end of settings -->"


def table() -> str:
    """One row for each setting, in the code's order and words."""
    rows = ["| variable | meaning | default | example |", "|---|---|---|---|"]
    for one in Settings.table():
        cells = (one.variable, one.description, one.default, one.example)
        name, meaning, default, example = (cell.replace("|", "\\|") for cell in cells)
        shown = f"`{default}`" if default else ""
        rows.append(f"| `{name}` | {meaning} | {shown} | `{example}` |")
    return "\n".join(rows) + "\n"


def written() -> str:
    """The page with today's table."""
    before, _, rest = PAGE.read_text().partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    return f"{before}{BEGINS}{table()}{ENDS}{after}"
