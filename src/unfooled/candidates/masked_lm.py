"""Words that a masked language model would put in the place of a word of the original text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from unfooled.candidates._source import Candidate, Row, Source, at_least
from unfooled.companions import Proposal, Request
from unfooled.lexicon import stopwords
from unfooled.lexicon.stopwords import is_stop
from unfooled.text import Text, is_word


@dataclass(frozen=True)
class MaskedLM(Source):
    """The k words that fit best in context, opposites included (BERT-Attack, Li et al. 2020).

    The model reads the original text once, with nothing masked; or, `masked`, once for each word
    with that word masked, so that it does not know what it replaces. Rows show the probability.
    Differs from the authors: k counts whole words; a smaller model by default; punctuation and
    words with a digit keep their place.
    """

    k: int = 48
    model: str = "minilm"  # or a Hugging Face masked language model: its folder or hub name
    masked: bool = False
    stopwords: str | None = "stopwords"  # words to leave alone: an asset, a file, or none

    def __post_init__(self) -> None:
        at_least(self.k, 1, option="k")

    def rows(self, text: Text) -> list[Row]:
        from unfooled.lexicon import masked_lm

        reasons = [self._closed(word) for word in text.words]
        open_ = [position for position, reason in enumerate(reasons) if not reason]
        requests = [Request(text, position, self.k, self.masked) for position in open_]
        proposed = masked_lm.load(self.model).propose(requests) if requests else []
        found = dict(zip(open_, map(self._judged, proposed), strict=True))
        return [
            Row(
                i, text.words[i], "", found.get(i, ()), reason or ("" if found[i] else "none found")
            )
            for i, reason in enumerate(reasons)
        ]

    def positions(self, text: Text) -> tuple[int, ...]:
        return tuple(i for i, word in enumerate(text.words) if not self._closed(word))

    def keep(self, text: Text, position: int, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(word for word in words if not is_stop(word, self._stop))

    def resources(self) -> dict[str, str]:
        from unfooled.lexicon.masked_networks import files

        used = {part: str(path) for part, path in files(self.model).items()}
        return used | ({"stopwords": self.stopwords} if self.stopwords else {})

    def _closed(self, word: str) -> str:
        if not is_word(word):
            return "punctuation"
        if is_stop(word, self._stop):
            return "stop word"
        return "has a digit" if any(map(str.isdigit, word)) else ""

    def _judged(self, proposals: list[Proposal]) -> tuple[Candidate, ...]:
        judged = [
            Candidate(p.word, math.exp(p.score), "stop word" if is_stop(p.word, self._stop) else "")
            for p in proposals
        ]
        return tuple(sorted(judged, key=lambda c: bool(c.rejected)))

    @cached_property
    def _stop(self) -> frozenset[str]:
        return stopwords.load(self.stopwords) if self.stopwords else frozenset()


SOURCE = MaskedLM
