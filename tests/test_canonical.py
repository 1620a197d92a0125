from __future__ import annotations

import enum
import json
import math
from pathlib import PurePosixPath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.canonical import canonical, digest, dumps, loads, plain
from unfooled.errors import InputError

# Every code point, lone surrogates too, but not a character split into its two surrogates.
strings = st.text(st.characters()).filter(
    lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | strings,
    lambda inner: st.lists(inner) | st.dictionaries(strings, inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(values)
def test_any_value_comes_back_and_is_one_ascii_line(value: object) -> None:
    line = dumps(value)
    assert loads(line) == value
    assert line.isascii()
    assert line.splitlines() == [line]
    assert json.loads(line) == value  # the standard reader agrees


@settings(deadline=None)
@given(st.dictionaries(strings, values, max_size=6), st.randoms())
def test_canonical_text_does_not_depend_on_order(value: dict[str, object], random: object) -> None:
    items = list(value.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    assert canonical(dict(items)) == canonical(value)
    assert digest(dict(items)) == digest(value)


def test_numpy_becomes_numbers_and_lists() -> None:
    value = {
        "flag": np.bool_(True),
        "count": np.int16(-3),
        "score": np.float32(0.1),
        "rows": np.array([[0, 2]], dtype=np.int16),
        "scores": (np.array(0.5), np.longdouble(0.25)),
        "word": np.str_("film"),
        "none": np.zeros((0, 3)),
    }
    found = plain(value)
    assert found == {
        "flag": True,
        "count": -3,
        "score": 0.10000000149011612,
        "rows": [[0, 2]],
        "scores": [0.5, 0.25],
        "word": "film",
        "none": [],
    }
    assert type(found["flag"]) is bool
    assert type(found["word"]) is str
    assert type(found["scores"][1]) is float


def test_infinity_is_a_string_that_float_reads() -> None:
    line = dumps({"upper": math.inf, "lower": np.float32(-math.inf), "a": np.array([math.inf])})
    assert line == '{"upper":"inf","lower":"-inf","a":["inf"]}'
    assert float(loads(line)["upper"]) == math.inf


class Colour(str, enum.Enum):  # noqa: UP042 - the older kind, whose str() is not its value
    RED = "red"


def test_subclasses_and_paths_become_strings() -> None:
    assert dumps([Colour.RED, PurePosixPath("a/b")]) == '["red","a/b"]'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1.0, math.nan]}, r"record\.a\[1\] is NaN"),
        ({"a": np.array([math.nan])}, r"record\.a\[0\] is NaN"),
        ({"a": {1: 2}}, r"record\.a has the key 1, but JSON keys are strings"),
        ({"a": {3, 4}}, r"record\.a is a set, which JSON cannot hold"),
        ({"a": 1j}, r"record\.a is a complex"),
        ({"a": b"x"}, r"record\.a is a bytes"),
        ({"a": "\ud83d\ude00"}, r"record\.a has a character split into two surrogates"),
        ({"\ud83d\ude00": 1}, r"record has a character split into two surrogates"),
        ({"a": 10**5000}, r"record cannot be written as JSON"),
    ],
)
def test_what_json_cannot_hold_is_refused_by_name(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dumps(value, "record")


@pytest.mark.parametrize(
    "line", ["NaN", "[Infinity]", '{"a": -Infinity}', "", "{", b"\xff\xfe\xfd", "[" * 10**6]
)
def test_only_standard_json_is_read(line: str | bytes) -> None:
    with pytest.raises(ValueError):
        loads(line)


def test_values_that_python_holds_equal_are_told_apart() -> None:
    assert len({digest(1), digest(1.0), digest(True), digest("1"), digest([1])}) == 5
