"""Traces: whether they can be made, and whether somebody takes them."""

from importlib.util import find_spec
from urllib.parse import urlsplit

from surestep.doctor.finding import Finding, ok, problem, warning
from surestep.doctor.patient import Patient
from surestep.doctor.place import unreachable

CHECK = "traces"


async def check_traces(patient: Patient, *, needs: str = "opentelemetry.sdk") -> list[Finding]:
    url = patient.settings.traces
    if url is None:
        return [ok(CHECK, "off (SURESTEP_TRACES)")]
    if not _installed(needs):
        return [
            problem(
                CHECK,
                f"SURESTEP_TRACES is set, and {needs} is not installed",
                "Workers and agents with these settings refuse to start.",
                "pip install 'surestep[traces]', or unset it.",
            )
        ]
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    why = await unreachable(parts.hostname or "", port)
    if why is None:
        return [ok(CHECK, f"somebody listens at {url}")]
    return [
        warning(
            CHECK,
            f"{url} cannot be reached from here ({why})",
            "Traces are lost. Steps do not need them.",
            "Start the collector, or correct SURESTEP_TRACES.",
        )
    ]


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of what is in front of a dot
        return False
