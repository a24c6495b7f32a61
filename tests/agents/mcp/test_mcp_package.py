"""MCP is optional."""

import importlib
import sys

import pytest


@pytest.mark.parametrize("module", ["mcp_server", "mcp_client", "mcp_call"])
def test_without_the_sdk_the_error_says_what_to_install(module, monkeypatch):
    name = f"surestep.agents.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(ImportError, match=r"surestep\[mcp\]"):
        importlib.import_module(name)
