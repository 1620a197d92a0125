"""A pickle may hold containers and nothing else."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled.assets.pickles import containers
from unfooled.errors import AssetError

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(), inner) | st.sets(st.text()) | st.tuples(inner)
    ),
    max_leaves=10,
)


@given(PLAIN, st.sampled_from([0, 2, 3, 4, 5]))
def test_plain_containers_come_back(value: object, protocol: int) -> None:
    try:
        content = pickle.dumps(value, protocol=protocol)
    except UnicodeEncodeError:  # lone surrogates
        return
    assert containers(content, origin="x") == value


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_malicious_pickle_is_refused_and_does_nothing(tmp_path: Path, protocol: int) -> None:
    content = pickle.dumps(({}, {}, Evil(tmp_path / "owned")), protocol=protocol)
    with pytest.raises(AssetError, match=r"evil\.pickle: refused a pickle that asks for .*system"):
        containers(content, origin="evil.pickle")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("name", ["builtins eval", "builtins getattr", "builtins __import__"])
def test_other_builtins_are_refused(name: str) -> None:
    with pytest.raises(AssetError, match="refused"):
        containers(b"c" + name.replace(" ", "\n").encode() + b"\n.", origin="x")


def test_python_2_sets_are_read() -> None:
    assert containers(b"\x80\x02c__builtin__\nset\n]U\x02NNa\x85R.", origin="x") == {"NN"}


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps([1, 2])[:-2]])
def test_broken_pickles_are_named(content: bytes) -> None:
    with pytest.raises(AssetError, match="x is not a readable pickle"):
        containers(content, origin="x")
