"""What a fresh interpreter loads: workflow code reaches no network library (TH-11)."""

import subprocess
import sys

import pytest

NETWORK = ("httpx", "httpcore", "h11", "anyio", "requests", "urllib3", "aiohttp")
TERMINAL = ("rich", "typer", "click")
OURS = (
    "surestep.client",
    "surestep.connection",
    "surestep.embedded",
    "surestep.handle",
    "surestep.http",
    "surestep.testing",
    "surestep.cli",
    "surestep.demo",
    "activities",
    "worker",
    "starter",
)


def loaded_by(statement: str) -> set[str]:
    """Names of the modules that an interpreter has after `statement`."""
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def within(names: set[str], forbidden: tuple[str, ...]) -> list[str]:
    return sorted(
        name for name in names for one in forbidden if name == one or name.startswith(f"{one}.")
    )


@pytest.mark.parametrize(
    "statement",
    ["import workflows.agent_step, workflows.late_watch", "import surestep"],
    ids=["the workflows", "surestep"],
)
def test_nothing_that_connects_or_prints_is_loaded_by(statement):
    loaded = loaded_by(statement)
    assert within(loaded, NETWORK + TERMINAL + OURS) == []


def test_agent_code_gets_the_client_when_it_asks_for_it():
    loaded = loaded_by("import surestep; surestep.Surestep")
    assert "surestep.client" in loaded
    assert within(loaded, TERMINAL) == []


def test_the_rules_load_neither_temporal_nor_asyncio():
    loaded = loaded_by("import surestep.policy, surestep.fold, surestep.ruling, surestep.outcome")
    assert within(loaded, ("temporalio", "asyncio", "ssl", "subprocess")) == []


def test_a_workflow_module_is_imported_once_and_not_for_each_run():
    """What is passed through the sandbox stays one module, whoever imports it inside."""
    code = (
        "from worker import workflow_runner; "
        "modules = workflow_runner().restrictions.passthrough_modules; "
        "assert {'surestep', 'workflows'} <= modules"
    )
    loaded_by(code)
