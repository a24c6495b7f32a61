from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from surestep.settings import Settings, SettingsError


def refusal(**env: str) -> str:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(env)
    return str(caught.value)


def test_nothing_needs_to_be_set() -> None:
    settings = Settings.from_environment({})

    assert settings.tools == ()
    assert settings.task_queue == "surestep"
    assert settings.home == Path.home() / ".surestep"
    assert settings.grace == timedelta(seconds=60)
    assert settings.build_id is None
    assert settings.ui is None


def test_every_setting_is_read_from_its_variable() -> None:
    settings = Settings.from_environment(
        {
            "SURESTEP_TOOLS": "acme.tools:tools, acme.more:refunds.all,",
            "SURESTEP_TASK_QUEUE": "refunds",
            "SURESTEP_HOME": "/srv/surestep",
            "SURESTEP_GRACE": "1.5",
            "SURESTEP_BUILD_ID": "2026-11-30.1",
            "SURESTEP_DEPLOYMENT": "billing",
            "SURESTEP_UI": "https://temporal.example.com/base/",
            "PATH": "/bin",
        }
    )

    assert settings.tools == ("acme.tools:tools", "acme.more:refunds.all")
    assert settings.task_queue == "refunds"
    assert settings.home == Path("/srv/surestep")
    assert settings.grace == timedelta(seconds=1.5)
    assert (settings.deployment, settings.build_id) == ("billing", "2026-11-30.1")
    assert settings.ui == "https://temporal.example.com/base"


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SURESTEP_TASK_QUEUE", "from-outside")

    assert Settings.from_environment().task_queue == "from-outside"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert Settings.from_environment({"SURESTEP_GRACE": ""}) == Settings.from_environment({})


def test_settings_cannot_change() -> None:
    with pytest.raises(ValidationError):
        Settings().task_queue = "other"  # type: ignore[misc]


def test_a_relative_home_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    assert Settings.from_environment({"SURESTEP_HOME": "data"}).home == tmp_path / "data"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SURESTEP_TOOLS", "acme.tools"),
        ("SURESTEP_TOOLS", "acme.tools:"),
        ("SURESTEP_TOOLS", ":tools"),
        ("SURESTEP_TOOLS", "acme/tools.py:tools"),
        ("SURESTEP_TOOLS", "acme.tools:tools:more"),
        ("SURESTEP_TASK_QUEUE", " "),
        ("SURESTEP_TASK_QUEUE", "refunds "),
        ("SURESTEP_HOME", "~no-such-user-here/data"),
        ("SURESTEP_GRACE", "soon"),
        ("SURESTEP_GRACE", "-1"),
        ("SURESTEP_GRACE", "nan"),
        ("SURESTEP_GRACE", "inf"),
        ("SURESTEP_GRACE", "1e300"),
        ("SURESTEP_BUILD_ID", " "),
        ("SURESTEP_DEPLOYMENT", "billing.eu"),
        ("SURESTEP_DEPLOYMENT", "billing:eu"),
        ("SURESTEP_UI", "temporal.example.com"),
        ("SURESTEP_UI", "ftp://temporal.example.com"),
        ("SURESTEP_UI", "http://[broken"),
        ("SURESTEP_UI", "https://temporal.example.com/?namespace=default"),
    ],
)
def test_a_wrong_value_is_refused_with_its_variable_and_a_remedy(variable: str, value: str) -> None:
    message = refusal(**{variable: value})

    row = next(row for row in Settings.table() if row.variable == variable)
    assert message.startswith(f"{variable}={value!r} cannot be used: ")
    assert f"such as {row.example}" in message
    assert "unset it" in message


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("SURESTEP_TOOL", "SURESTEP_TOOLS"),
        ("SURESTEP_TASKQUEUE", "SURESTEP_TASK_QUEUE"),
        ("surestep_grace", "SURESTEP_GRACE"),
    ],
)
def test_a_mistyped_variable_is_refused_with_the_nearest_name(typo: str, meant: str) -> None:
    assert refusal(**{typo: "x"}).startswith(
        f"{typo} is not a setting of Surestep. Did you mean {meant}?"
    )


def test_an_unknown_variable_like_no_other_is_refused_with_all_names() -> None:
    message = refusal(SURESTEP_XYZ="1")

    assert all(row.variable in message for row in Settings.table())


def test_all_problems_are_told_at_once() -> None:
    lines = refusal(SURESTEP_GRACE="soon", SURESTEP_TOOL="a:b", SURESTEP_UI="x").splitlines()

    assert [line.split("=")[0].split()[0] for line in lines] == [
        "SURESTEP_TOOL",
        "SURESTEP_GRACE",
        "SURESTEP_UI",
    ]


def test_the_table_has_a_description_and_an_example_that_works_for_every_setting() -> None:
    rows = Settings.table()

    assert [row.variable for row in rows] == [
        f"SURESTEP_{name.upper()}" for name in Settings.model_fields
    ]
    assert all(row.description.endswith(".") for row in rows)
    Settings.from_environment({row.variable: row.example for row in rows})


def test_the_defaults_in_the_table_are_the_defaults() -> None:
    written = {row.variable: row.default for row in Settings.table()}

    assert Settings.from_environment(written) == Settings.from_environment({})


def test_our_own_keys_do_not_lie_where_an_argument_can_name_them() -> None:
    told = refusal(SURESTEP_SECRETS="/run/secrets", SURESTEP_ENCRYPTION_KEYS="/run/secrets/keys")

    assert "SURESTEP_SECRETS='/run/secrets' is also the folder of SURESTEP_ENCRYPTION_KEYS" in told
    assert "a folder of their own" in told
    kept = {"SURESTEP_SECRETS": "/run/tools", "SURESTEP_ENCRYPTION_KEYS": "/run/secrets/keys"}
    assert Settings.from_environment(kept).secrets == Path("/run/tools")
