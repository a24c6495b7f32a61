"""The operator's door: what people and scripts do with steps."""

import os
import sys
import traceback
from contextlib import suppress

import typer

from surestep.cli import (
    anomalies,
    check,
    codec,
    decide,
    demo,
    doctor,
    encryption_keys,
    keys,
    page,
    report,
    setup,
    show,
    start,
    undo,
    unresolved,
)
from surestep.cli import list as list_
from surestep.cli.exits import epilog
from surestep.cli.usage import Door

app = typer.Typer(
    cls=Door,
    help="Start an agent's steps, see how they stand, and decide what nobody else can know.",
    epilog=epilog(),
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("start", epilog=start.EPILOG)(start.start)
app.command("list", epilog=list_.EPILOG)(list_.list_steps)
app.command("show", epilog=show.EPILOG)(show.show)
app.command("unresolved", epilog=unresolved.EPILOG)(unresolved.unresolved)
app.command("decide", epilog=decide.EPILOG)(decide.decide)
app.command("undo", epilog=undo.EPILOG)(undo.undo)
app.command("anomalies", epilog=anomalies.EPILOG)(anomalies.anomalies)
app.command("report", epilog=report.EPILOG)(report.report)
app.command("check", epilog=check.EPILOG)(check.check_tool)
app.add_typer(keys.app, name="keys")
app.add_typer(encryption_keys.app, name="encryption-keys")
app.command("codec", epilog=codec.EPILOG)(codec.codec)
app.command("setup", epilog=setup.EPILOG)(setup.setup)
app.command("doctor", epilog=doctor.EPILOG)(doctor.doctor)
app.command("demo", epilog=demo.EPILOG)(demo.demo)


def main() -> int:
    """Run one command and return its exit code; nothing it printed is left in a buffer."""
    code = 0
    try:
        app()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception:
        # An exception can quote a service; what steers a terminal goes no further.
        sys.stderr.write(page.printable(traceback.format_exc()))
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with suppress(BrokenPipeError):  # whoever reads, as `head` does, has read enough
            stream.flush()
    return code


if __name__ == "__main__":
    # Temporal's SDK can crash while the interpreter is taken down (temporalio/sdk-python#300).
    os._exit(main())
