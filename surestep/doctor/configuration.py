"""Settings: every variable that is unknown or wrong, and what could be read all the same."""

from collections.abc import Mapping
from difflib import get_close_matches

from surestep.doctor.finding import Finding, ok, problem, warning
from surestep.settings import PREFIX, Settings, SettingsError

CHECK = "settings"

TEMPORALS = (
    "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "TEMPORAL_PROFILE",
    "TEMPORAL_CONFIG_FILE", "TEMPORAL_TLS", "TEMPORAL_TLS_SERVER_NAME",
    "TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_CERT_DATA",
    "TEMPORAL_TLS_CLIENT_KEY_PATH", "TEMPORAL_TLS_CLIENT_KEY_DATA",
    "TEMPORAL_TLS_SERVER_CA_CERT_PATH", "TEMPORAL_TLS_SERVER_CA_CERT_DATA",
    "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION", "TEMPORAL_CODEC_ENDPOINT", "TEMPORAL_CODEC_AUTH",
)  # fmt: skip
"""Temporal says nothing of a name that it does not know, and other programs have theirs."""


def read_settings(env: Mapping[str, str]) -> tuple[Settings, list[Finding]]:
    """The settings without those that are wrong, and a finding for each of these."""
    given = {name: env[name] for name in sorted(env) if name.upper().startswith(PREFIX)}
    good, found = dict(given), []
    for name, value in given.items():
        try:
            Settings.from_environment({name: value})
        except SettingsError as error:
            del good[name]
            what, _, remedy = str(error).partition(". ")
            meaning = "Every command and worker that reads it refuses to start."
            found.append(problem(CHECK, what, meaning, remedy))
    found += [_misspelt(name, meant) for name, meant in _nearly_temporals(env).items()]
    names = ", ".join(name for name, value in good.items() if value)
    if not found:
        found = [ok(CHECK, names or "none is set: the defaults hold")]
    return Settings.from_environment(good), found


def _nearly_temporals(env: Mapping[str, str]) -> dict[str, str]:
    """Names that are close to one of Temporal's and are none, with the one that may be meant."""
    unknown = [
        name for name in sorted(env) if name.startswith("TEMPORAL") and name not in TEMPORALS
    ]
    nearest = {name: get_close_matches(name, TEMPORALS, n=1, cutoff=0.9) for name in unknown}
    return {name: found[0] for name, found in nearest.items() if found}


def _misspelt(name: str, meant: str) -> Finding:
    return warning(
        CHECK,
        f"{name} is set, which Temporal does not know",
        "Without an address, steps go to the embedded server instead of the cluster.",
        f"If {meant} was meant, rename it.",
    )
