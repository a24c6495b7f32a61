from io import StringIO

from rich.console import Console

from surestep.cli import page


def test_only_the_label_is_bold_and_a_value_looks_alike_on_every_line(monkeypatch):
    screen = StringIO()
    console = Console(file=screen, force_terminal=True, color_system="standard", highlight=False)
    monkeypatch.setattr(page, "_results", console)
    page.labelled("proven", "word " * 20)
    first, second = screen.getvalue().splitlines()
    assert first.startswith("\x1b[1mproven      \x1b[0mword")
    assert "\x1b" not in second
