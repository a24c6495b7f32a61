"""The world that misbehaves, for the tests of Surestep and of those who use it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surestep.testing.remote import RemoteWorld
    from surestep.testing.service import Service
    from surestep.testing.world import World

__all__ = ["RemoteWorld", "Service", "World"]

_HOMES = {"RemoteWorld": "remote", "Service": "service", "World": "world"}


def __getattr__(name: str) -> Any:
    # Imported on first use, so that importing a neighbour costs neither h11 nor httpx.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
