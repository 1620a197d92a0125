"""The embedding of a word model, filled with pre-trained word vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unfooled.errors import InputError
from unfooled.lexicon.vectors import Vectors
from unfooled.models.vocabulary import Vocabulary

EXTRA_WORDS = 50_000
"""Words with a vector that enter a vocabulary although the training texts lack them."""

_FREQUENT = 10_000  # enough words to know how large the numbers of the vectors are


def embedding_table(vectors: Vectors, vocabulary: Vocabulary, *, seed: int) -> NDArray[np.float32]:
    """The embedding (entries, dimensions): zero for padding, the mean vector for unknown.

    A word of the training texts without a vector gets a small random one, different from the
    unknown word's, so that training can move it.
    """
    if not len(vectors):
        raise InputError("the word vectors are empty: there is nothing to fill an embedding with")
    rng = np.random.default_rng(seed)
    spread = float(vectors.matrix[:_FREQUENT].std())
    shape = (len(vocabulary), vectors.matrix.shape[1])
    table = rng.normal(0, spread / 2, shape).astype(np.float32)
    table[Vocabulary.padding] = 0
    table[Vocabulary.unknown] = vectors.matrix.mean(axis=0, dtype=np.float64)
    numbers = np.array(vocabulary.ids(vectors.words))
    # Backwards, so that of several spellings of a word the most frequent one decides.
    known = np.flatnonzero(numbers != Vocabulary.unknown)[::-1]
    table[numbers[known]] = vectors.matrix[known]
    return table
