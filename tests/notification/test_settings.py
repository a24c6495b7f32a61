"""What is set is refused where it is wrong, by its name and with a remedy, and without a secret."""

from pathlib import Path

import pytest

from surestep.notification.channel import Channels
from surestep.notification.targets import Kind, targets
from surestep.settings import Settings, SettingsError
from tests.notification.programs import program

CANARY = "CANARY"


def refusal(**env: str) -> str:
    with pytest.raises(SettingsError) as caught:
        Channels.of(Settings.from_environment(env))
    assert CANARY not in str(caught.value)
    return str(caught.value)


def test_targets_are_read_in_their_order_each_once():
    texts = ["https://a.example.com/x?y=1", "mailto:ops@example.com", "command:/bin/page"]
    found = targets([*texts, "mailto:ops@example.com"])
    assert [target.kind for target in found] == [Kind.WEBHOOK, Kind.LETTER, Kind.COMMAND]
    assert [target.place for target in found] == [texts[0], "ops@example.com", "/bin/page"]


def test_a_webhook_is_named_by_its_host_and_digits_that_tell_it_from_others():
    texts = [
        "https://user:CANARY@hooks.example.com:8443/T0/CANARY?token=CANARY",
        "https://hooks.example.com:8443/T0/other",
        "https://other:CANARY@hooks.example.com:8443/T0/other",
        "http://[::1]:8080/x",
    ]
    found = targets(texts)
    names = [target.name for target in found]
    assert len(set(names)) == len(texts)
    assert all(name.startswith("https://hooks.example.com:8443#") for name in names[:3])
    assert names[3].startswith("http://[::1]:8080#")
    assert CANARY not in repr(found)


@pytest.mark.parametrize("variable", ["SURESTEP_NOTIFY", "SURESTEP_NOTIFY_OVERDUE"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("hooks.example.com/CANARY", "does not start with https://, http://, mailto: or command:/"),
        ("ftp://hooks.example.com/CANARY", "does not start with"),
        ("https://", "is not a URL with a host"),
        ("https:///CANARY", "is not a URL with a host"),
        ("https://[CANARY", "is not a URL"),
        ("https://hooks.example.com:CANARY/", "is not a URL"),
        ("https://hooks.example.com/CANARY#part", "has a #"),
        ("https://hooks.example.com/CANARY x", "is not a URL with a host"),
        ("mailto:CANARY", "is not mailto: and one plain address"),
        ("mailto:CANARY@example.com?cc=eve@example.com", "is not mailto:"),
        ("mailto:@example.com", "is not mailto:"),
        ("mailto:a@b@CANARY.example.com", "is not mailto:"),
        ("mailto:jüne@example.com", "is not mailto:"),
        ("mailto:CANARY%0Ax@example.com", "is not mailto:"),
        ("command:page CANARY", "needs the absolute path of a program"),
    ],
)
def test_a_wrong_target_is_refused_by_its_number(variable, value, reason):
    message = refusal(**{variable: f"https://good.example.com/CANARY,{value}"})
    assert message.startswith(f"{variable} cannot be used: target 2 {reason}")
    assert "Set it to a value such as" in message
    assert "unset it" in message


@pytest.mark.parametrize(
    "value",
    ["mail.example.com", "http://CANARY@mail.example.com", "smtp://", "smtp://u:CANARY@h:port"],
)
def test_a_wrong_mail_server_is_refused_without_its_password(value):
    message = refusal(SURESTEP_SMTP=value)
    assert message.startswith("SURESTEP_SMTP cannot be used: it does not start with smtp://")


def test_a_mail_target_needs_a_mail_server():
    message = refusal(SURESTEP_NOTIFY_OVERDUE="mailto:ops@example.com")
    assert message.startswith("SURESTEP_NOTIFY_OVERDUE names mailto:ops@example.com, but ")
    assert "SURESTEP_SMTP is not set" in message


def test_an_encryption_that_nobody_knows_is_refused():
    smtp = "smtp://user:CANARY@mail.example.com?tls=maybe"
    message = refusal(SURESTEP_NOTIFY="mailto:ops@example.com", SURESTEP_SMTP=smtp)
    assert message.startswith("SURESTEP_SMTP cannot be used")


def test_a_program_that_cannot_be_run_is_refused(tmp_path: Path):
    path = tmp_path / "page"
    assert "is not a program" in refusal(SURESTEP_NOTIFY=f"command:{path}")
    path.write_text("no program")
    assert "is not a program" in refusal(SURESTEP_NOTIFY=f"command:{path}")
    assert "is not a program" in refusal(SURESTEP_NOTIFY=f"command:{tmp_path}")
    program(path, "exit 0")
    assert len(Channels.of(Settings.from_environment({"SURESTEP_NOTIFY": f"command:{path}"})).usual)


@pytest.mark.parametrize("content", [None, b"", b"CANARY\n", b" " * 100])
def test_a_secret_that_is_none_is_refused(tmp_path: Path, content: bytes | None):
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    message = refusal(SURESTEP_NOTIFY_SECRET=str(path))
    assert message.startswith(f"SURESTEP_NOTIFY_SECRET={str(path)!r} cannot be used: ")
    assert "openssl rand -hex 32" in message


def test_what_can_hold_credentials_is_not_shown_with_the_settings():
    env = {
        "SURESTEP_NOTIFY": "https://user:CANARY@hooks.example.com/CANARY",
        "SURESTEP_NOTIFY_OVERDUE": "https://hooks.example.com/CANARY",
        "SURESTEP_SMTP": "smtp://user:CANARY@mail.example.com",
    }
    assert CANARY not in repr(Settings.from_environment(env))


def test_without_a_second_list_those_of_the_first_are_told_of_silence():
    usual = Channels.of(Settings.from_environment({"SURESTEP_NOTIFY": "https://a.example.com/"}))
    assert usual.overdue == usual.usual
    only = Channels.of(
        Settings.from_environment({"SURESTEP_NOTIFY_OVERDUE": "https://a.example.com/"})
    )
    assert (only.usual, len(only.overdue)) == ((), 1)
