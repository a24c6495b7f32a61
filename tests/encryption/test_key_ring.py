"""The file of a key ring: read strictly, written safely, read anew when it changes, not shown."""

import stat
from base64 import b64encode
from datetime import date

import pytest

from surestep.encryption.errors import KeyFileError, MissingKey
from surestep.encryption.key_file import new_id, read_keys, write_keys
from surestep.encryption.key_ring import KeyRing
from tests.encryption.rings import FIRST, KEYS, SECOND

GOOD = b64encode(KEYS[FIRST]).decode()
OTHER = b64encode(KEYS[SECOND]).decode()

WRONG = {
    "is not TOML": f'current = "a"\n[keys]\na = {GOOD}',
    "'curent' is unknown here: keep only current": f'curent = "a"\n[keys]\na = "{GOOD}"',
    "current: it must be the id of a key below": f'[keys]\na = "{GOOD}"',
    "current: it must be the id of a key": f'current = "b"\n[keys]\na = "{GOOD}"',
    r"keys: there must be a table \[keys\]": 'current = "a"',
    "keys.a: it is not 32 bytes in base64: .*add FILE": f'current = "a"\n[keys]\na = "{GOOD[:-5]}"',
    "keys.a: it is not 32 bytes": 'current = "a"\n[keys]\na = 7',
    "keys.a: it is not random": f'current = "a"\n[keys]\na = "{b64encode(bytes(32)).decode()}"',
    "keys.a and keys.b are one key": f'current = "a"\n[keys]\na = "{GOOD}"\nb = "{GOOD}"',
    "keys: an id of 44 characters": f'current = "a"\n[keys]\n"{GOOD}" = "a"',
}


@pytest.mark.parametrize("complaint", WRONG)
def test_a_wrong_file_is_refused_with_field_and_remedy_and_without_the_key(complaint, tmp_path):
    path = tmp_path / "ring.toml"
    path.write_text(WRONG[complaint])
    with pytest.raises(KeyFileError, match=complaint) as refused:
        KeyRing.load(path)
    assert str(path) in str(refused.value)
    assert GOOD[:8] not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(KeyFileError, match=r"none\.toml: No such file.*SURESTEP_ENCRYPTION_KEYS"):
        KeyRing.load(tmp_path / "none.toml")


def test_nothing_shows_a_key(ring_file):
    ring = KeyRing.load(ring_file("ring").hold(FIRST, SECOND).path)
    with pytest.raises(MissingKey) as missing:
        ring.cipher("third")
    shown = f"{ring!r} {missing.value!r}"
    assert "ids=['first', 'second'], current='second'" in shown
    assert GOOD[:8] not in shown
    assert OTHER[:8] not in shown


def test_a_file_is_for_its_owner_alone_and_never_overwritten(ring_file):
    file = ring_file("ring").hold(FIRST)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    before = file.path.read_text()
    with pytest.raises(KeyFileError, match="is there already"):
        write_keys(file.path, SECOND, {SECOND: KEYS[SECOND]}, new=True)
    assert file.path.read_text() == before
    assert [one.name for one in file.path.parent.glob(".keys*")] == []


def test_a_file_that_everybody_can_read_is_warned_of(ring_file, caplog):
    file = ring_file("ring").hold(FIRST)
    KeyRing.load(file.path)
    assert caplog.text == ""
    file.path.chmod(0o644)
    KeyRing.load(file.path)
    assert f"{file.path} can be read by everybody on this host" in caplog.text


def test_a_key_that_is_added_is_found_without_a_restart(ring_file):
    file = ring_file("ring").hold(FIRST)
    ring = KeyRing.load(file.path)
    with pytest.raises(MissingKey):
        ring.cipher(SECOND)
    file.hold(FIRST, SECOND)
    assert ring.cipher(SECOND)
    assert ring.current()[0] == SECOND


def test_a_file_that_breaks_while_it_is_used_leaves_the_keys_as_they_were(ring_file, caplog):
    file = ring_file("ring").hold(FIRST)
    ring = KeyRing.load(file.path)
    file.path.write_text("current = ")
    with pytest.raises(MissingKey):
        ring.cipher(SECOND)
    assert ring.cipher(FIRST)
    assert "the keys read before still hold" in caplog.text


def test_ids_differ_although_they_are_made_on_one_day(ring_file):
    assert len({new_id(date(2026, 11, 30)) for _ in range(100)}) == 100
    assert read_keys(ring_file("ring").hold(FIRST, SECOND).path)[0] == SECOND
