from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfooled.errors import InputError
from unfooled.keys import Shard, record_key, rng_for

WORK = {"example": "mr/7", "method": "greedy", "options": {"b": 1, "a": [0.5]}, "victim": "v"}


def test_a_key_is_a_hash_of_sorted_json() -> None:
    text = json.dumps(WORK, sort_keys=True, separators=(",", ":"))
    assert record_key(**WORK) == hashlib.sha256(text.encode()).hexdigest()[:24]
    reordered = WORK | {"options": {"a": (np.float64(0.5),), "b": np.int8(1)}}
    assert record_key(**reordered) == record_key(**WORK)


@pytest.mark.parametrize(
    "change", [{"example": "mr/8"}, {"method": "beam"}, {"options": {"b": 1}}, {"victim": "w"}]
)
def test_every_part_of_the_work_enters_the_key(change: dict[str, object]) -> None:
    assert record_key(**(WORK | change)) != record_key(**WORK)


def test_keys_and_randomness_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "from unfooled.keys import *; k = record_key(example='e', method='m', "
        "options={'x': 1, 'y': 2}, victim='v'); print(k, rng_for(3, k).integers(10**9), "
        "Shard(1, 2).takes(k))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(answers) == 1


def test_randomness_follows_seed_and_key_alone() -> None:
    first = rng_for(1, "a").integers(2**63, size=4)
    rng_for(1, "b").integers(2**63, size=100)
    assert (rng_for(1, "a").integers(2**63, size=4) == first).all()
    assert (rng_for(np.int64(1), "a").integers(2**63, size=4) == first).all()
    starts = {int(rng_for(seed, key).integers(2**63)) for seed in (-1, 0, 1, 11) for key in "ab1"}
    assert len(starts) == 12
    with pytest.raises(TypeError):
        rng_for(1.5, "a")  # type: ignore[arg-type]


@settings(deadline=None)
@given(st.lists(st.text(), unique=True), st.integers(1, 12))
def test_shards_partition_the_keys(keys: list[str], count: int) -> None:
    shards = [Shard(index, count) for index in range(1, count + 1)]
    taken = Counter(key for shard in shards for key in keys if shard.takes(key))
    assert taken == Counter(keys)


def test_shards_are_of_even_size() -> None:
    keys = [record_key(**(WORK | {"example": str(number)})) for number in range(4000)]
    sizes = [sum(map(Shard(index, 8).takes, keys)) for index in range(1, 9)]
    assert sum((size - 500) ** 2 / 500 for size in sizes) < 24.3  # chi-square, 7 df, p = 0.001


def test_a_shard_is_written_as_it_is_read() -> None:
    assert Shard.parse(" 2/8 ") == Shard(2, 8)
    assert str(Shard.parse("2/8")) == "2/8"


@pytest.mark.parametrize("text", ["", "2", "0/8", "9/8", "-1/8", "1/0", "a/b", "1/2/3", "٢/٨"])
def test_a_bad_shard_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"a shard is i/n with 1 <= i <= n, such as 2/8, not"):
        Shard.parse(text)
