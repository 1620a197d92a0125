"""Pre-trained word vectors for the embedding of a word model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unfooled.errors import InputError
from unfooled.models.vocabulary import Vocabulary

EXTRA_WORDS = 50_000
"""Words with a vector that enter a vocabulary although the training texts lack them."""


@dataclass(frozen=True)
class Pretrained:
    """Words, most frequent first, and their vectors (words, dimensions)."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors) or not self.words:
            raise InputError(
                f"{len(self.words)} words do not fit vectors of shape {self.vectors.shape}"
            )

    def table(self, vocabulary: Vocabulary, *, seed: int) -> NDArray[np.float32]:
        """The embedding (entries, dimensions): zero for padding, the mean for unknown.

        A word of the training texts without a vector gets a small random one, different from the
        unknown word's, so that training can move it.
        """
        rng = np.random.default_rng(seed)
        spread = float(self.vectors[:10_000].std())
        shape = (len(vocabulary), self.vectors.shape[1])
        table = rng.normal(0, spread / 2, shape).astype(np.float32)
        table[Vocabulary.padding] = 0
        table[Vocabulary.unknown] = self.vectors.mean(axis=0)
        numbers = np.array(vocabulary.ids(self.words))
        # Backwards, so that of several spellings of a word the most frequent one decides.
        known = np.flatnonzero(numbers != Vocabulary.unknown)[::-1]
        table[numbers[known]] = self.vectors[known]
        return table


def read_vectors(source: str | Path) -> Pretrained:
    """The vectors of an asset (by name), of a folder, or of a text file (word and numbers a line).

    A folder holds vectors.npy and words.txt, one word per row, as the assets do.
    """
    path = Path(source)
    if not path.exists():
        from unfooled import assets

        path = Path(assets.get(str(source)))
    return _read_folder(path) if path.is_dir() else _read_text(path)


def _read_folder(folder: Path) -> Pretrained:
    for name in ("vectors.npy", "words.txt"):
        if not (folder / name).is_file():
            raise InputError(f"{folder} has no word vectors: {name} is missing")
    words = (folder / "words.txt").read_bytes().decode("utf-8").split("\n")
    if words[-1] == "":
        words.pop()
    try:
        vectors = np.load(folder / "vectors.npy", allow_pickle=False)
    except ValueError as error:
        raise InputError(f"{folder / 'vectors.npy'} is not an array of numbers: {error}") from error
    return Pretrained(tuple(words), np.asarray(vectors, dtype=np.float32))


def _read_text(path: Path) -> Pretrained:
    words: list[str] = []
    rows: list[NDArray[np.float32]] = []
    for number, line in _lines(path):
        word, _, rest = line.partition(" ")
        row = np.array(rest.split(), dtype=object)
        if number == 1 and len(row) == 1 and word.isdigit():
            continue  # the count and the dimensions, as word2vec writes them
        try:
            rows.append(row.astype(np.float32))
        except ValueError as error:
            raise InputError(f"{path}, line {number}: expected a word and numbers") from error
        if len(rows[-1]) != len(rows[0]) or not len(rows[0]):
            raise InputError(
                f"{path}, line {number}: {len(rows[-1])} numbers, the first word has {len(rows[0])}"
            )
        words.append(word)
    if not words:
        raise InputError(f"{path} has no word vectors")
    return Pretrained(tuple(words), np.stack(rows))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file of word vectors: it is not UTF-8") from error
