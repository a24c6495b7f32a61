"""The files that the settings name: who else may read or change them."""

import os
import stat
from pathlib import Path

from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient

CHECK = "files"

CONFIDENTIAL = ("signing_key", "encryption_keys", "notify_secret")
"""Whoever reads these can sign, decrypt, or pass for Surestep."""

BINDING = ("decision_keys", "encryption_keys", "codec_readers")
"""Whoever writes these decides who decides, and who reads."""


async def check_files(patient: Patient) -> list[Finding]:
    found = []
    for setting in CONFIDENTIAL:
        file: Path | None = getattr(patient.settings, setting)
        if file and _mode(file) & stat.S_IROTH:
            found.append(_readable(setting, [str(file)]))
    for setting in BINDING:
        file = getattr(patient.settings, setting)
        if file and _mode(file) & stat.S_IWOTH:
            found.append(_writable(setting, file))
    found += _secrets(patient.settings.secrets)
    return found or [ok(CHECK, "keys and secrets are not for everybody on this machine")]


def _mode(file: Path) -> int:
    """0 where there is no such file: the check of its content says so."""
    try:
        return file.stat().st_mode
    except OSError:
        return 0


def _variable(setting: str) -> str:
    return f"SURESTEP_{setting.upper()}"


def _readable(setting: str, files: list[str]) -> Finding:
    return warning(
        CHECK,
        f"{some(files)} ({_variable(setting)}) can be read by everybody on this machine",
        "A key or secret that others can read is theirs as well.",
        "chmod o-rwx; on Kubernetes set the volume's defaultMode to 0440.",
    )


def _writable(setting: str, file: Path) -> Finding:
    return problem(
        CHECK,
        f"{file} ({_variable(setting)}) can be changed by everybody on this machine",
        "Whoever changes it gives themselves the rights that it grants.",
        "chmod o-w, and look whether it still says what you wrote.",
    )


def _secrets(folder: Path | None) -> list[Finding]:
    if folder is None:
        return []
    try:
        files = [one for one in sorted(folder.iterdir()) if one.is_file()]
        unreadable = [str(one) for one in files if not os.access(one, os.R_OK)]
    except OSError as error:
        return [
            problem(
                CHECK,
                f"the folder {folder} (SURESTEP_SECRETS) cannot be read: {error.strerror}",
                "An action whose arguments name a secret is not sent.",
                "Make the folder, with a file for each secret, readable for the worker.",
            )
        ]
    found = []
    if unreadable:
        found.append(
            problem(
                CHECK,
                f"{some(unreadable)} cannot be read",
                "An action whose arguments name that secret is not sent.",
                "Give the worker's user the right to read it.",
            )
        )
    if exposed := [str(one) for one in files if _mode(one) & stat.S_IROTH]:
        found.append(_readable("secrets", exposed))
    return found
