"""Synonyms of dictionary forms, put into the form and the order that a text needs.

This is the recipe of the PDP paper for any thesaurus: the word's part of speech in context picks
its senses, their words become candidates in the same inflected form, cosine ranks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from unfooled.candidates._source import Candidate, Row, passages
from unfooled.lexicon.inflection import INFLECTED, inflect, is_form
from unfooled.lexicon.stopwords import is_stop
from unfooled.lexicon.tagger import Tagger
from unfooled.lexicon.vectors import Vectors
from unfooled.lexicon.wordnet import Pos, WordNet, morphy
from unfooled.text import Text, is_word

_POS: dict[str, Pos] = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}
_NAMES: dict[Pos, str] = {"n": "noun", "v": "verb", "a": "adjective", "r": "adverb"}
_AUXILIARIES = frozenset({"be", "have", "do"})


class Thesaurus(Protocol):
    """Anything with the synonyms of a lemma in a part of speech."""

    def synonyms(self, word: str, pos: Pos) -> tuple[str, ...]: ...
    def knows(self, word: str, pos: Pos) -> bool: ...


class Verdict(NamedTuple):
    """What a word with a tag gets: candidates with reasons, or the reason that it gets none."""

    candidates: tuple[Candidate, ...] = ()
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Recipe:
    """The loaded resources and options; verdicts are remembered per word and tag."""

    thesaurus: Thesaurus
    wordnet: WordNet  # for its lists of irregular forms
    tagger: Tagger
    vectors: Vectors | None  # None: the thesaurus's own order
    stop: frozenset[str]
    k: int
    min_similarity: float
    same_pos: bool
    names: bool
    phrases: bool
    _verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict, repr=False)

    def rows(self, text: Text) -> list[Row]:
        """A row for each word of the text."""
        rows = []
        for start, words in passages(text):
            for position, (word, tag) in enumerate(
                zip(words, self.tagger.tag(words), strict=True), start
            ):
                verdict = self.verdict(word.lower(), tag)
                rows.append(Row(position, word, tag, verdict.candidates, verdict.reason))
        return rows

    def verdict(self, word: str, tag: str) -> Verdict:
        """What a lower-case word gets when it has that tag."""
        found = self._verdicts.get((word, tag))
        if found is None:
            found = self._verdicts[word, tag] = self._judge(word, tag)
        return found

    def _judge(self, word: str, tag: str) -> Verdict:
        reason = self._closed(word, tag)
        if reason:
            return Verdict(reason=reason)
        parts = (_POS[tag[:2]],) if self.same_pos else tuple(_NAMES)
        readings = [(r, pos) for pos in parts for r in self._readings(word, tag, pos=pos)]
        if not readings:
            kind = _NAMES[parts[0]] if self.same_pos else "word"
            return Verdict(reason=f"not in the thesaurus as a {kind}".replace("a a", "an a"))
        if any(r.lemma in _AUXILIARIES and pos == "v" for r, pos in readings):
            return Verdict(reason="auxiliary verb")
        if self.vectors is not None and self.vectors.unit(word) is None:
            return Verdict(reason="no vector to compare with")
        judged: dict[str, Candidate] = {}
        for reading, pos in readings:
            for synonym in self.thesaurus.synonyms(reading.lemma, pos):
                candidate = self._considered(word, synonym, form=reading.form)
                # The same word may come from several senses; one that fits is enough.
                if candidate and (candidate.word not in judged or not candidate.rejected):
                    judged[candidate.word] = candidate
        return Verdict(self._best(list(judged.values())), "" if judged else "no synonyms")

    def _closed(self, word: str, tag: str) -> str:
        """Why a word gets no candidates whatever the thesaurus says."""
        if not is_word(word):
            return "punctuation"
        if is_stop(word, self.stop):
            return "stop word"
        if len(word) == 1:
            return "single letter"  # an initial is not a unit of measurement
        if tag in ("NNP", "NNPS") and not self.names:
            return "proper name"
        if tag == "MD":
            return "modal verb"
        return "" if tag[:2] in _POS else "not a noun, verb, adjective or adverb"

    def _readings(self, word: str, tag: str, *, pos: Pos) -> Iterator[_Reading]:
        """The lemmas that a word may be a form of, and the form it then is."""
        lemmas = morphy(
            word,
            pos,
            known=lambda form: self.thesaurus.knows(form, pos),
            exceptions=self.wordnet.exceptions(pos),
        )
        inflected = INFLECTED.get(tag) == pos
        for lemma in lemmas:
            if lemma == word:
                # `found` as a past tense is not the lemma of `to found`; `glasses` is one.
                if not inflected or is_form(word, lemma, tag=tag, wordnet=self.wordnet):
                    yield _Reading(lemma, tag if inflected else "")
                elif pos == "n" or len(lemmas) == 1:
                    yield _Reading(lemma, "")
            elif inflected or word not in lemmas:
                likely = [t for t, p in INFLECTED.items() if p == pos]
                likely.sort(key=lambda t: t != tag)  # the tagger may confuse VBD and VBN
                form = (t for t in likely if is_form(word, lemma, tag=t, wordnet=self.wordnet))
                first = next(form, None)
                if first:
                    yield _Reading(lemma, first)

    def _considered(self, word: str, synonym: str, *, form: str) -> Candidate | None:
        """A synonym in the form asked for, with its similarity or the reason to reject it."""
        if not (self.phrases or synonym.isalpha() or len(Text.parse(synonym)) == 1):
            return Candidate(synonym, rejected="more than one word")  # o.k. is four
        if synonym != synonym.lower():
            return Candidate(synonym, rejected="a name")
        if any(map(str.isdigit, synonym)):
            return Candidate(synonym, rejected="has a digit")
        forms = inflect(synonym, form, wordnet=self.wordnet)
        if not forms:
            return Candidate(synonym, rejected=f"has no form {form} of one word")
        chosen = self._commonest(forms)
        if chosen == word:
            return None
        if is_stop(chosen, self.stop):
            return Candidate(chosen, rejected="stop word")
        if self.vectors is None:
            return Candidate(chosen)
        similarity = self.vectors.cosine(word, chosen)
        if similarity is None:
            return Candidate(chosen, rejected="no vector")
        if similarity < self.min_similarity:
            return Candidate(chosen, similarity, f"similarity below {self.min_similarity:g}")
        return Candidate(chosen, similarity)

    def _commonest(self, forms: tuple[str, ...]) -> str:
        # stadiums or stadia, admitted or admited: vectors are listed by frequency.
        index = self.vectors.index if self.vectors else {}
        return min(forms, key=lambda form: index.get(form, len(index)))

    def _best(self, judged: list[Candidate]) -> tuple[Candidate, ...]:
        """All candidates, the kept ones first and in order, those beyond the k-th rejected."""
        kept = [c for c in judged if not c.rejected]
        if self.vectors is not None:
            kept.sort(key=lambda c: (-round(c.similarity or 0.0, 12), c.word))
        late = [replace(c, rejected=f"not among the best {self.k}") for c in kept[self.k :]]
        return (*kept[: self.k], *late, *(c for c in judged if c.rejected))


class _Reading(NamedTuple):
    lemma: str
    form: str  # the tag of the form that candidates must take; empty: as listed
