"""Ids, keys, canonical JSON and hashes: the same on every machine, for years."""

import os
import subprocess
import sys
from hashlib import sha256
from uuid import UUID

import pytest
from pydantic import SecretBytes, SecretStr

from surestep.errors import InvalidArguments, InvalidStepId
from surestep.identity import (
    NAME_LIMIT,
    STEP_ID_LIMIT,
    action_id,
    as_uuid,
    canonical,
    check_name,
    check_step_id,
    input_hash,
    step_id,
    token,
    undo_id,
    wire_key,
)

LIGATURE, SMILE, LONE = "\ufb01", "\U0001f600", "\ud800"
SHORTEST_DATABASE_COLUMN = 255


@pytest.mark.parametrize("good", ["refund/order-7781", "run-42/3", "a", "A.b_c:d/e@f+g=h-i", "7"])
def test_a_step_id_of_header_safe_ascii_is_taken_as_it_is(good):
    assert check_step_id(good) == good


@pytest.mark.parametrize(
    "bad",
    ["", " ", "a b", "a\n", "\na", "a\r\nX: y", "é", "заказ", SMILE, "a\x00", "a~2", "/a", "-a",
     "=a", "a,b", 'a"b', "a%20b", "a\tb", "a" * (STEP_ID_LIMIT + 1), None, 7, b"a", ["a"]],
)  # fmt: skip
def test_a_step_id_that_cannot_be_a_key_is_refused_with_what_to_change(bad):
    with pytest.raises(InvalidStepId, match=r"step_id\("):
        check_step_id(bad)


@pytest.mark.parametrize("bad", ["", "a/b", "a b", "a~2", "é", "-a", "a\n", "a:b", None, 3])
def test_an_action_name_that_cannot_be_a_key_is_refused(bad):
    with pytest.raises(InvalidStepId, match="action name"):
        check_name(bad)


def test_an_action_name_may_be_as_long_as_the_limit_and_no_longer():
    assert check_name("a" * NAME_LIMIT)
    with pytest.raises(InvalidStepId, match=str(NAME_LIMIT)):
        check_name("a" * (NAME_LIMIT + 1))


def test_undo_is_reserved():
    with pytest.raises(InvalidStepId, match="reserved"):
        check_name("undo")


def test_the_longest_key_fits_every_database():
    longest = action_id("s" * STEP_ID_LIMIT, "n" * NAME_LIMIT)
    assert len(wire_key(undo_id(longest), 99)) <= SHORTEST_DATABASE_COLUMN


def test_an_action_id_is_step_and_name():
    assert action_id("refund/order-7781", "refund") == "refund/order-7781/refund"
    assert undo_id("refund/order-7781/refund") == "refund/order-7781/refund/undo"


def test_the_first_key_generation_is_the_action_id_itself():
    assert wire_key("s/a", 1) == "s/a"
    assert wire_key("s/a", 2) == "s/a~2"


def test_no_step_id_can_be_mistaken_for_a_later_generation_of_another_key():
    with pytest.raises(InvalidStepId):
        check_step_id("refund/order-7781~2")


def test_step_id_keeps_texts_that_are_valid_readable():
    assert step_id("refund", "order-7781") == "refund/order-7781"
    assert step_id("run", 42) == "run/42"


AWKWARD = [
    ("",), ("é",), ("\u0435",), ("a b",), ("a-b",), ("a  b",), ("a\n",), ("x" * 300,), ("x" * 301,),
    ("é" * 600,), (SMILE,), (LIGATURE,), ("fi",), (LONE,), ("/a",), ("a~2",), ("a", ""), ("a",),
]  # fmt: skip


@pytest.mark.parametrize("parts", AWKWARD)
def test_step_id_makes_a_valid_id_of_any_text(parts):
    assert check_step_id(step_id(*parts)) == step_id(*parts)


@pytest.mark.parametrize("text", ["_é", "_private thing", "__init__ x"])
def test_step_id_makes_a_valid_id_of_a_text_that_begins_with_an_underscore(text):
    check_step_id(step_id(text))


def test_step_id_makes_distinct_ids_of_distinct_texts():
    assert len({step_id(*parts) for parts in AWKWARD}) == len(AWKWARD)


def test_step_id_keeps_apart_parts_that_join_to_the_same_text():
    assert step_id("a/b", "c") != step_id("a", "b/c")


def test_step_id_is_the_same_every_time():
    assert step_id("Größe", 3) == step_id("Größe", 3)


@pytest.mark.parametrize("number", [1, 1.0])
def test_equal_numbers_have_one_spelling(number):
    assert canonical({"cents": number}) == '{"cents":1}'


def test_negative_zero_is_zero():
    assert canonical({"a": -0.0}) == canonical({"a": 0}) == '{"a":0}'


def test_true_is_not_one():
    assert len({input_hash({"a": value}) for value in (True, 1, "1", "true")}) == 4
    assert len({input_hash({"a": value}) for value in (False, 0, None, "")}) == 4


@pytest.mark.parametrize("number", [2**53 + 1, 9007199254740993, -(2**63), 10**30])
def test_big_integers_stay_exact(number):
    assert canonical({"a": number}) == f'{{"a":{number}}}'


def test_a_big_integer_and_its_rounded_neighbour_are_different_requests():
    assert input_hash({"a": 9007199254740993}) != input_hash({"a": 9007199254740992})
    assert input_hash({"a": 2**53 + 1}) != input_hash({"a": float(2**53 + 1)})


@pytest.mark.parametrize(("a", "b"), [(8.03, 8.029999), (0.1 + 0.2, 0.3), (1e-7, 1.1e-7)])
def test_different_amounts_are_different_requests(a, b):
    assert input_hash({"a": a}) != input_hash({"a": b})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
        ({LIGATURE: 1, SMILE: 2, "z": 3}, {SMILE: 2, "z": 3, LIGATURE: 1}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
    ],
)
def test_the_order_of_keys_never_matters(one, other):
    assert canonical(one) == canonical(other)
    assert input_hash(one) == input_hash(other)


def test_the_order_of_a_list_matters():
    assert input_hash({"a": [1, 2]}) != input_hash({"a": [2, 1]})


NOT_JSON = [
    (float("nan"), "no JSON form"),
    (float("inf"), "no JSON form"),
    (float("-inf"), "no JSON form"),
    ({1, 2}, "set"),
    (frozenset("ab"), "set"),
    (SecretStr("s3cret"), "secret"),
    (SecretBytes(b"s3cret"), "secret"),
    (f"a{LONE}b", "surrogate"),
    ({1: "a"}, "string"),
    ({1: "a", "1": "b"}, "string"),
    ({1: "a", "b": "c"}, "string"),
    ({None: "a"}, "string"),
    ({True: "a"}, "string"),
    ({f"a{LONE}": 1}, "surrogate"),
]


@pytest.mark.parametrize(("value", "words"), NOT_JSON)
def test_what_has_no_single_json_form_is_refused_with_its_path(value, words):
    with pytest.raises(InvalidArguments, match=words) as refused:
        canonical({"items": [0, {"rate": value}]})
    assert str(refused.value).startswith("items[1].rate")
    assert "s3cret" not in str(refused.value)


VECTORS = {
    "{}": {},
    '{"cents":2500,"order":"7781"}': {"order": "7781", "cents": 2500.0},
    '{"a":[true,false,null,-1,0.5]}': {"a": [True, False, None, -1, 0.5]},
    '{"a":{"b":[],"c":{}}}': {"a": {"c": {}, "b": ()}},
}


@pytest.mark.parametrize("text", VECTORS)
def test_the_hash_is_sha_256_over_the_canonical_bytes_with_its_version(text):
    assert canonical(VECTORS[text]) == text
    assert input_hash(VECTORS[text]) == "v1:" + sha256(text.encode()).hexdigest()


def test_hashes_recorded_years_ago_are_still_the_same():
    assert input_hash({"order": "7781", "cents": 2500}) == (
        "v1:a1291ff7456544e2efd84e7e058b3e71acfe01c5536fd8e1f6d22af9c93dfefc"
    )
    assert input_hash({LIGATURE: 1, SMILE: 2}) == (
        "v1:6b8490ef19a691f4698c5889821e5bf2e1e8fb35de82a2493261f0f4cfcb7c22"
    )


HASHES = """
from surestep.identity import as_uuid, input_hash, step_id, token
names = {f"k{n}" for n in range(50)}
print(input_hash({name: name for name in names}), step_id("é"), token("a"), as_uuid("a"))
"""


def test_two_processes_with_other_hash_seeds_agree():
    def told(seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", HASHES]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout

    assert told("1") == told("2") != ""


def test_a_uuid_of_a_key_is_a_valid_custom_uuid_and_always_the_same():
    made = UUID(as_uuid("refund/order-7781/refund"))
    assert made.version == 8
    assert made.variant == "specified in RFC 4122"
    assert str(made) == "3d7f6d8c-2832-8758-bed3-954c528a0356"


@pytest.mark.parametrize("length", [16, 32, 64])
def test_a_token_has_the_length_that_the_service_wants(length):
    made = token("refund/order-7781/refund", length)
    assert len(made) == length
    assert set(made) <= set("0123456789abcdef")


@pytest.mark.parametrize("length", [0, 15, 65, -1])
def test_a_token_that_is_too_short_to_be_distinct_or_longer_than_the_hash_is_refused(length):
    with pytest.raises(ValueError, match="16 to 64"):
        token("a", length)


def test_uuids_and_tokens_of_distinct_keys_are_distinct():
    keys = [f"step/{number}" for number in range(500)] + ["step/1~2", "step/1/undo"]
    assert len({as_uuid(key) for key in keys}) == len({token(key, 16) for key in keys}) == 502
