"""Token ids of the stretches between spaces, which a tokenizer cuts one by one.

A tokenizer that splits at white space before anything else makes of a text what it makes of its
stretches, each with the space before it. So ids are looked up per stretch ("unit") and joined.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from unfooled.victims.frames import ITEM, pack

_ANCHOR = (
    "a"  # stands before a unit while it is cut, so that it is not taken for the start of a text
)
_MOST = 500_000  # units remembered; then the memory starts afresh


class Units:
    """What a tokenizer makes of units, each cut once; None for one whose ids depend on its neighbours."""

    def __init__(self, backend: Any, *, specials: Iterable[str]) -> None:
        self._backend = backend
        self._specials = tuple(s for s in specials if s)
        self._known: dict[bool, dict[str, bytes | None]] = {False: {}, True: {}}  # by `first`
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

    def learn(self, units: Iterable[str], *, first: bool = False) -> dict[str, bytes | None]:
        """A table that holds at least these units; `first` for those that open a text."""
        known = self._known[first]
        missing = [unit for unit in dict.fromkeys(units) if unit not in known]
        if not missing:
            return known
        if len(known) > _MOST:  # a new table: whoever holds the old one may still look there
            self._known[first] = {}
            return self.learn(units, first=first)
        safe = [unit for unit in missing if self._is_safe(unit)]
        known.update(dict.fromkeys(missing))
        lead, anchor = ("", []) if first else (_ANCHOR, self._anchor)
        self._backend.no_truncation()
        encoded = self._backend.encode_batch_fast(
            [lead + unit for unit in safe], add_special_tokens=False
        )
        for unit, found in zip(safe, encoded, strict=True):
            ids = found.ids
            if ids[: len(anchor)] == anchor:
                known[unit] = pack(ids[len(anchor) :])
        return known

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
            lead, anchor = ("", []) if first else (_ANCHOR, self._anchor)
            self._backend.no_truncation()
            ids = self._backend.encode(lead + unit, add_special_tokens=False).ids
            self._probes[key] = pack(ids[len(anchor) :]) if ids[: len(anchor)] == anchor else None
        return self._probes[key]

    def probes_hold(self, unknown: str, gaps: Iterable[str]) -> bool:
        """Whether units after the stand-in for an unknown word have their usual ids.

        Tokenizers cut texts at special tokens, and some then take what follows for a beginning.
        """
        return all(self._holds_after(unknown, gap) for gap in set(gaps))

    def _holds_after(self, unknown: str, gap: str) -> bool:
        if (unknown, gap) not in self._holds:
            self._backend.no_truncation()
            lead, usual = self.probe(unknown, first=True), self.learn((gap, gap + _ANCHOR))
            after = {
                gap: usual[gap],
                gap + _ANCHOR: usual[gap + _ANCHOR],
                gap + unknown: self.probe(gap + unknown),
            }
            self._holds[unknown, gap] = lead is not None and all(
                ids is not None and self.whole(unknown + unit) == lead + ids
                for unit, ids in after.items()
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
