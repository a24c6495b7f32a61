"""Temporal's development server, on which time can be skipped."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

from surestep.embedded_process import DYNAMIC_CONFIGURATION, find_binary
from surestep.testing.fixtures import TIME_CAN_BE_SKIPPED
from surestep.visibility import SEARCH_ATTRIBUTES

STARTS: Final = 5


@asynccontextmanager
async def skipping_server() -> AsyncIterator[WorkflowEnvironment]:
    arguments: list[str] = []
    for name, value in DYNAMIC_CONFIGURATION.items():
        arguments += ["--dynamic-config-value", f"{name}={value}"]
    for setting in TIME_CAN_BE_SKIPPED:
        arguments += ["--dynamic-config-value", setting]
    for name, value in SEARCH_ATTRIBUTES.items():
        arguments += ["--search-attribute", f"{name}={value}"]
    environment = await _started(arguments)
    try:
        yield environment
    finally:
        await environment.shutdown()


async def _started(arguments: list[str]) -> WorkflowEnvironment:
    """The SDK gives a server five seconds, which a busy machine may not have."""
    for tries in range(STARTS):
        try:
            return await WorkflowEnvironment.start_time_skipping_v2(
                dev_server_existing_path=find_binary(),
                ts_config=TimeSkippingConfig(enabled=False),
                dev_server_extra_args=arguments,
                dev_server_log_level="error",
                data_converter=pydantic_data_converter,
            )
        except RuntimeError:
            if tries == STARTS - 1:
                raise
    raise AssertionError
