"""The tools of SURESTEP_TOOLS, each import string by itself, as a worker would load them."""

import asyncio
import sys
import threading
from collections.abc import Iterable
from contextlib import redirect_stdout, suppress
from datetime import timedelta

from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.errors import SurestepError, summary
from surestep.tool import Tool, Tools
from surestep.toolbox import load_tools

CHECK = "tools"
LOADS_WITHIN = timedelta(seconds=20)

_MEANS = "No worker with these settings starts, so none of its tools can be used."


async def read_tools(
    import_strings: Iterable[str], *, within: timedelta = LOADS_WITHIN
) -> tuple[tuple[Tool, ...], list[Finding]]:
    """Every tool that can be had, its undo included, and what is wrong with the others.

    Modules are imported, which runs their code; what they print goes to stderr. A module that
    hangs is left to itself.
    """
    registry, found = Tools(), []
    for text in import_strings:
        try:
            with redirect_stdout(sys.stderr):  # also what a module prints that hangs
                tools = await asyncio.wait_for(
                    _in_a_thread_of_its_own(text), within.total_seconds()
                )
            for tool in tools:
                registry.add(tool)
        except SurestepError as error:
            what, _, remedy = str(error).partition(": ")
            found.append(problem(CHECK, f"{text}: {what}", _MEANS, f"{remedy or what}."))
        except Exception as error:  # a module may raise anything
            why = summary(error)
            remedy = f"Run `python -c 'import {text.partition(':')[0]}'` and repair what it says."
            found.append(problem(CHECK, f"{text} cannot be imported: {why}", _MEANS, remedy))
    known = tuple(registry)
    names = some([tool.name for tool in known], 8)
    if not known and not found:
        found = [
            warning(
                CHECK,
                "SURESTEP_TOOLS is not set here",
                "Contracts, retention and rights are checked without knowing the tools.",
                "Run the doctor with the variables of a worker.",
            )
        ]
    return known, found or [ok(CHECK, f"{names} can be loaded, and contradict nothing")]


async def _in_a_thread_of_its_own(text: str) -> list[Tool]:
    """A daemon: an import that never ends must not keep the doctor from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[list[Tool]] = loop.create_future()

    def tell(tools: list[Tool] | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(tools or [])
        else:
            done.set_exception(_carried(error))

    def load() -> None:
        try:
            tools = list(load_tools([text]))
        except BaseException as error:
            report(None, error)
        else:
            report(tools, None)

    def report(tools: list[Tool] | None, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the doctor has gone long since
            loop.call_soon_threadsafe(tell, tools, error)

    threading.Thread(target=load, daemon=True).start()
    return await done


def _carried(error: BaseException) -> Exception:
    """A future carries no SystemExit, nor StopIteration, as it is."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return ImportError(f"it ended with {type(error).__name__}")
