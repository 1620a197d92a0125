"""Agreement with people, by hand and by scipy's definition of ranks."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from unfooled.errors import InputError
from unfooled.lexicon.simlex import Rated, agreement, read
from unfooled.lexicon.vectors import Vectors

HEAD = "word1\tword2\tPOS\tSimLex999\tSD(SimLex)\n"


def on_a_circle(*degrees: float) -> Vectors:
    angles = np.radians(degrees)
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    return Vectors(tuple(f"w{i}" for i in range(len(degrees))), matrix)


def test_the_correlation_by_hand() -> None:
    vectors = on_a_circle(0, 10, 40, 80, 170)
    rated = [Rated("w0", f"w{i}", rating) for i, rating in [(1, 9.0), (2, 3.0), (3, 7.0), (4, 1.0)]]
    # Ranks of the cosines 4 3 2 1, of the ratings 4 2 3 1: 1 - 6 (0 + 1 + 1 + 0) / (4 (16 - 1)).
    found = agreement(vectors, [*rated, Rated("w0", "unknown", 5.0)])
    assert found.correlation == pytest.approx(0.8)
    assert (found.pairs, found.of) == (4, 5)


def test_the_published_form_plain_and_compressed(tmp_path: Path) -> None:
    lines = HEAD + "old\tnew\tA\t1.58\t0.41\nSmart\tintelligent\tA\t9.2\t0.67\n"
    plain, packed = tmp_path / "s.txt", tmp_path / "s.txt.gz"
    plain.write_text(lines)
    packed.write_bytes(gzip.compress(lines.replace("\n", "\r\n").encode()))
    expected = [Rated("old", "new", 1.58), Rated("smart", "intelligent", 9.2)]
    assert read(plain) == read(packed) == expected


def test_bad_files_and_too_few_pairs(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text("old new 1.58\n")
    with pytest.raises(InputError, match="is not SimLex-999: its first line must name"):
        read(path)
    path.write_text(HEAD + "old\tnew\tA\thigh\t0\n")
    with pytest.raises(InputError, match="line 2 must be two words and a rating"):
        read(path)
    with pytest.raises(InputError, match="only 1 of 2 rated pairs have vectors"):
        agreement(on_a_circle(0, 1), [Rated("w0", "w1", 1.0), Rated("a", "b", 2.0)])
