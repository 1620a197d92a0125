"""Token ids of the stretches between spaces, which a tokenizer cuts one by one.

A tokenizer that splits at white space before anything else makes of a text what it makes of its
stretches, each with the space before it. So ids are looked up per stretch ("unit") and joined.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from unfooled.victims.frames import ITEM, pack

_ANCHOR = (
    "a"  # stands before a unit while it is cut, so that it is not taken for the start of a text
)
_MOST = 500_000  # units remembered; then the memory starts afresh

Before = tuple[str, bool]
"""What stands before a word: the gap, and whether nothing else does."""


class Units:
    """What a tokenizer makes of units, each cut once; None for one whose ids depend on its neighbours."""

    def __init__(self, backend: Any, *, specials: Iterable[str]) -> None:
        self._backend = backend
        self._specials = tuple(s for s in specials if s)
        self._known: dict[Before, dict[str, bytes | None]] = {}
        self._count = 0
        self._probes: dict[tuple[str, bool], bytes | None] = {}
        self._holds: dict[tuple[str, str], bool] = {}
        self.usable = self._splits_at_spaces() and not any(
            map(str.isspace, "".join(self._specials))
        )
        anchor = backend.encode(_ANCHOR, add_special_tokens=False).ids if self.usable else []
        self._anchor: list[int] = anchor

    def _splits_at_spaces(self) -> bool:
        """Whether pieces never cross a space: known only where a pre-tokenizer says so."""
        splitter = self._backend.pre_tokenizer
        if splitter is None:
            return False
        sample = "ab cd"
        if self._backend.normalizer is not None:
            sample = self._backend.normalizer.normalize_str(sample)
        pieces = [piece for piece, _ in splitter.pre_tokenize_str(sample)]
        return not any("b" in piece and "c" in piece for piece in pieces)

    def learn(
        self, words: Iterable[str], *, gap: str, first: bool = False
    ) -> dict[str, bytes | None]:
        """The ids of units by their words: a table that holds at least these words after that gap.

        `first` for those that open a text.
        """
        known = self._known.setdefault((gap, first), {})
        missing = set(words).difference(known)
        if not missing:
            return known
        if self._count > _MOST:  # new tables: whoever holds an old one may still look there
            self._known, self._count = {}, 0
            return self.learn(words, gap=gap, first=first)
        self._count += len(missing)
        safe = [word for word in missing if self._is_safe(gap + word)]
        known.update(dict.fromkeys(missing))
        self._backend.no_truncation()
        # Some tokenizers say of a space alone that it ends where it begins: it goes by itself.
        row = [] if first else [word for word in safe if word.strip()]
        known.update(zip(row, self._in_a_row([gap + word for word in row]), strict=True))
        for word in safe:
            if known[word] is None:
                known[word] = self._by_itself(gap + word, first=first)
        return known

    def _in_a_row(self, units: Sequence[str]) -> list[bytes | None]:
        """The ids of units in one string, which is cut sooner than many; None where pieces cross."""
        row = self._backend.encode(_ANCHOR + "".join(units), add_special_tokens=False)
        begins, ends = [0, *(b for b, _ in row.offsets)], [0, *(e for _, e in row.offsets)]
        borders = list(accumulate(map(len, units), initial=len(_ANCHOR)))
        cuts = [bisect_left(begins, border, lo=1) for border in borders]
        whole = [ends[cut - 1] <= border for cut, border in zip(cuts, borders, strict=True)]
        ids = pack(row.ids)
        return [
            ids[(a - 1) * ITEM : (b - 1) * ITEM] if left and right else None
            for (a, b), (left, right) in zip(pairwise(cuts), pairwise(whole), strict=True)
        ]

    def _by_itself(self, unit: str, *, first: bool) -> bytes | None:
        """The ids of one unit; None where it changes what stands before it."""
        lead, anchor = ("", []) if first else (_ANCHOR, self._anchor)
        ids = self._backend.encode(lead + unit, add_special_tokens=False).ids
        return pack(ids[len(anchor) :]) if ids[: len(anchor)] == anchor else None

    def _is_safe(self, unit: str) -> bool:
        """Whether the ids of a unit are its own affair, whatever stands around it."""
        body = unit.lstrip(" \t\n\r")
        if not body:
            return True
        # Other white space is white to Python but not to every tokenizer. A mark could combine
        # with the space before it. Control characters may vanish, and join what they kept apart.
        if body[0].isspace() or body[-1].isspace():
            return False
        if unicodedata.category(body[0])[0] in "MC" or unicodedata.category(body[-1])[0] == "C":
            return False
        if not body.isascii() and any("\ud800" <= letter <= "\udfff" for letter in body):
            return False  # half a character: no tokenizer reads it
        return not any(special in body for special in self._specials)

    def probe(self, unit: str, *, first: bool = False) -> bytes | None:
        """The ids of a unit with the stand-in for an unknown word, which is a special token."""
        key = unit, first
        if key not in self._probes:
            if len(self._probes) > _MOST:
                self._probes.clear()
            self._backend.no_truncation()
            self._probes[key] = self._by_itself(unit, first=first)
        return self._probes[key]

    def probes_hold(self, unknown: str, gaps: Iterable[str]) -> bool:
        """Whether units after the stand-in for an unknown word have their usual ids.

        Tokenizers cut texts at special tokens, and some then take what follows for a beginning.
        """
        return all(self._holds_after(unknown, gap) for gap in set(gaps))

    def _holds_after(self, unknown: str, gap: str) -> bool:
        if (unknown, gap) not in self._holds:
            self._backend.no_truncation()
            lead, usual = self.probe(unknown, first=True), self.learn(("", _ANCHOR), gap=gap)
            after = {
                "": usual[""],
                _ANCHOR: usual[_ANCHOR],
                unknown: self.probe(gap + unknown),
            }
            self._holds[unknown, gap] = lead is not None and all(
                ids is not None and self.whole(unknown + gap + word) == lead + ids
                for word, ids in after.items()
            )
        return self._holds[unknown, gap]

    def whole(self, text: str) -> bytes | None:
        """The ids of a whole text, before truncation; None for what no tokenizer reads."""
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            return None
        self._backend.no_truncation()
        return pack(self._backend.encode(text, add_special_tokens=False).ids)


def tokens(ids: bytes | None) -> int:
    """How many token ids there are; 0 where they are not known."""
    return len(ids) // ITEM if ids else 0
