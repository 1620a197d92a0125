"""What was swapped for what: how common the words are in the training data, how near to each other.

The analysis of Hauser et al. (BERT is Robust!), appendices C and D. Where an attack puts rare words in
the place of frequent ones, it takes the text away from what the victim was trained on.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from unfooled import assets, data
from unfooled.alignment import aligned
from unfooled.data import Dataset
from unfooled.lexicon import vectors as lexicon
from unfooled.lexicon.vectors import Vectors
from unfooled.metrics import successes
from unfooled.outcomes import Outcome
from unfooled.text import Text, is_word

BINS: Final = 20  # of the histogram of cosines, from -1 to 1


class Swap(NamedTuple):
    """A word that was replaced in a text that fooled the victim, and the text's true class."""

    label: int
    old: str
    new: str


class Usage(NamedTuple):
    """The words on one side of the swaps, as the training data knows them; None: no swaps."""

    median: float | None  # occurrences in the training data
    in_class: float | None  # the share that is most frequent, relatively, in the true class
    unseen: float | None  # the share that never occurs

    def figures(self) -> dict[str, float | None]:
        """They as JSON values."""
        return {
            "median_occurrences": self.median,
            "most_frequent_in_true_class": self.in_class,
            "unseen": self.unseen,
        }


@dataclass(frozen=True)
class Swapped:
    """All swaps of a run with what is known of their words.

    `old` and `new` are None without training data, `cosines` are None for words without a vector.
    """

    swaps: tuple[Swap, ...]
    old: Usage | None = None
    new: Usage | None = None
    cosines: tuple[float | None, ...] = ()

    @property
    def known(self) -> list[float]:
        """The cosines of those swaps of which both words have a vector."""
        return [value for value in self.cosines if value is not None]

    def histogram(self) -> list[int]:
        """How many cosines lie in each of the equal bins from -1 to 1; 1 itself is in the last."""
        found = Counter(min(int((value + 1) * BINS / 2), BINS - 1) for value in self.known)
        return [found[i] for i in range(BINS)]

    def summary(self) -> dict[str, Any]:
        """The figures as JSON values; a figure of nothing is None."""
        known = self.known
        quartiles = statistics.quantiles(known, n=4, method="inclusive") if len(known) > 1 else None
        return {
            "swaps": len(self.swaps),
            "original_words": None if self.old is None else self.old.figures(),
            "attack_words": None if self.new is None else self.new.figures(),
            "mean_cosine": statistics.fmean(known) if known else None,
            "cosine_quartiles": quartiles or known * 3 or None,
            "without_vector": len(self.cosines) - len(known),
            "cosine_histogram": self.histogram(),
        }


class Counts:
    """How often each word occurs in each class of a data set, in any case, punctuation left out."""

    def __init__(self, dataset: Dataset) -> None:
        self.classes = [Counter[str]() for _ in dataset.labels]
        for example in dataset:
            self.classes[example.label].update(_words(example.text))
        self.totals = [max(sum(words.values()), 1) for words in self.classes]

    def by_class(self, word: str) -> list[int]:
        """The occurrences in each class; of a phrase those of its rarest word, which bound them."""
        parts = list(_words(Text.parse(word))) or [word.lower()]
        return [min(words[part] for part in parts) for words in self.classes]

    def is_typical(self, word: str, label: int) -> bool:
        """Whether its relative frequency is higher in this class than in every other."""
        rates = [n / total for n, total in zip(self.by_class(word), self.totals, strict=True)]
        return all(rates[label] > rate for i, rate in enumerate(rates) if i != label)

    def usage(self, words: Sequence[tuple[str, int]]) -> Usage:
        """The figures of words, each with the true class of its text."""
        if not words:
            return Usage(None, None, None)
        occurrences = [sum(self.by_class(word)) for word, _ in words]
        typical = sum(self.is_typical(word, label) for word, label in words)
        unseen = sum(n == 0 for n in occurrences)
        return Usage(statistics.median(occurrences), typical / len(words), unseen / len(words))


def study(
    outcomes: Sequence[Outcome],
    *,
    labels: Sequence[str],
    train: Dataset | None = None,
    vectors: str | Vectors | None = "glove-50",
) -> Swapped:
    """What is known of the words that were swapped in the texts that fooled the victim.

    `labels` are the victim's classes, `train` is the data it was trained on, `vectors` are an asset, a
    file or loaded ones; None: no cosines. Every swap counts, also where a word occurs in several.

    Differs from the paper: a word that never occurs in the training data, or equally often in two
    classes, is most frequent in no class.
    """
    swaps = tuple(Swap(o.label, old, new) for o in successes(outcomes) for _, old, new in o.changes)
    old = new = None
    if train is not None:
        counts = Counts(aligned(train, labels, owner="the victim of the run"))
        old = counts.usage([(swap.old, swap.label) for swap in swaps])
        new = counts.usage([(swap.new, swap.label) for swap in swaps])
    cosines: tuple[float | None, ...] = ()
    if vectors is not None:
        known = lexicon.load(vectors) if isinstance(vectors, str) else vectors
        cosines = tuple(known.cosine(swap.old.lower(), swap.new.lower()) for swap in swaps)
    return Swapped(swaps, old, new, cosines)


def training(
    spec: str,
    *,
    split: str | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
) -> Dataset:
    """The training data that `spec` names: of an asset the split `train`, of a file all rows."""
    if split is None and spec in assets.names():
        split = "train"
    return data.load(spec, split=split, text_column=text_column, label_column=label_column)


def _words(text: Text) -> Iterator[str]:
    """The words of a text, or of both sides of a pair, in lower case."""
    fixed = () if text.other is None else Text.parse(text.other).words
    return (word.lower() for word in (*text.words, *fixed) if is_word(word))
