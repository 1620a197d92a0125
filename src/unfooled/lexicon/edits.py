"""Edits of single characters: how many part two words, which keys and letters are easily confused.

The tables are small and our own: keys are found from the rows of a keyboard, and a homoglyph is a
letter of another alphabet that is printed like a Latin one.
"""

from __future__ import annotations

from functools import cache

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SHIFTS = (0.0, 0.25, 0.75)  # how far each row stands to the right of the top one, in keys

# No digits and no accented letters, which a reader would notice. Some capitals of these do not look
# alike, so the table is for small letters only.
HOMOGLYPHS: dict[str, str] = {
    "a": "\N{CYRILLIC SMALL LETTER A}",
    "c": "\N{CYRILLIC SMALL LETTER ES}",
    "d": "\N{CYRILLIC SMALL LETTER KOMI DE}",
    "e": "\N{CYRILLIC SMALL LETTER IE}",
    "h": "\N{CYRILLIC SMALL LETTER SHHA}",
    "i": "\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}",
    "j": "\N{CYRILLIC SMALL LETTER JE}",
    "o": "\N{CYRILLIC SMALL LETTER O}",
    "p": "\N{CYRILLIC SMALL LETTER ER}",
    "q": "\N{CYRILLIC SMALL LETTER QA}",
    "s": "\N{CYRILLIC SMALL LETTER DZE}",
    "v": "\N{CYRILLIC SMALL LETTER IZHITSA}",
    "w": "\N{CYRILLIC SMALL LETTER WE}",
    "x": "\N{CYRILLIC SMALL LETTER HA}",
    "y": "\N{CYRILLIC SMALL LETTER U}",
}
"""Small Latin letters and the Cyrillic ones that are printed like them."""


def distance(one: str, other: str) -> int:
    """The least insertions, deletions and substitutions of characters (Levenshtein 1966).

    >>> distance("kitten", "sitting"), distance("film", "flim")
    (3, 2)
    """
    if len(one) < len(other):
        one, other = other, one
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        diagonal, row[0] = row[0], i
        for j, against in enumerate(other, start=1):
            least = min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != against))
            diagonal, row[j] = row[j], least
    return row[-1]


def beside(letter: str) -> str:
    """The letters on the keys that touch a letter's key (QWERTY), in the order of the rows.

    >>> beside("g")
    'tyfhvb'
    """
    return _keys().get(letter, "")


@cache
def _keys() -> dict[str, str]:
    places = {
        letter: (row, column + shift)
        for row, (letters, shift) in enumerate(zip(_ROWS, _SHIFTS, strict=True))
        for column, letter in enumerate(letters)
    }
    return {
        letter: "".join(other for other, key in places.items() if _touch(place, key))
        for letter, place in places.items()
    }


def _touch(one: tuple[int, float], other: tuple[int, float]) -> bool:
    rows, columns = abs(one[0] - other[0]), abs(one[1] - other[1])
    return columns == 1 if rows == 0 else rows == 1 and columns < 1
