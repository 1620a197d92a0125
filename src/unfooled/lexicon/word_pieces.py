"""Which entries of a tokenizer's vocabulary are whole words, and which word pieces make together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from unfooled.errors import InputError

_MARKS = ("Ġ", "▁")  # what byte-level and SentencePiece vocabularies put before a word


class WordPieces:
    """The vocabulary of a fast tokenizer, read once.

    A whole word is an entry of letters alone that begins a word; special tokens are none.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._backend = tokenizer.backend_tokenizer
        self._tokens: dict[int, str] = {n: t for t, n in tokenizer.get_vocab().items()}
        model = json.loads(self._backend.to_str())["model"]
        # A word piece says that it continues a word; other vocabularies mark where one begins.
        self._inner: str | None = model.get("continuing_subword_prefix") or None
        self._mark = "" if self._inner else _mark(self._tokens.values())
        self.special = frozenset(tokenizer.all_special_ids)
        self.pieces = tuple(sorted(self._tokens.keys() - self.special))
        spelled = ((number, self.word([number])) for number in self.pieces)
        self.words = {number: word for number, word in spelled if word}
        """The whole words by their numbers, in the order of the vocabulary."""
        forms = Counter(word.lower() for word in self.words.values())
        self.most_forms = max(forms.values(), default=1)
        """How many entries differ only in case, at most."""

    def word(self, numbers: Sequence[int]) -> str | None:
        """The one word of letters that the pieces make, or None."""
        tokens = [self._tokens[number] for number in numbers]
        begins = [self._begins(token) for token in tokens]
        if self.special.intersection(numbers) or not begins[0] or any(begins[1:]):
            return None
        if self._inner:
            found = tokens[0] + "".join(t.removeprefix(self._inner) for t in tokens[1:])
        else:
            found = self._backend.decode(list(numbers)).strip()
        return found if found.isalpha() else None

    def spellings(self, word: str) -> frozenset[str]:
        """A word in lower case, as it is and as the tokenizer reads it (without accents, say)."""
        normaliser = self._backend.normalizer
        read = normaliser.normalize_str(word) if normaliser else word
        return frozenset({word.lower(), read.lower()})

    def _begins(self, token: str) -> bool:
        if self._inner:
            return not token.startswith(self._inner)
        return token.startswith(self._mark)


def _mark(tokens: Iterable[str]) -> str:
    found = Counter(token[:1] for token in tokens if token[:1] in _MARKS)
    if not found:
        raise InputError(
            "the tokenizer of the masked language model does not say where words begin: expected "
            "word pieces (##), byte-level or SentencePiece tokens"
        )
    return found.most_common(1)[0][0]
