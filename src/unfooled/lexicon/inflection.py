"""Putting a dictionary form into the form of the word it replaces: `movie` for `films` is `movies`.

Irregular forms come from WordNet's exception lists read backwards. Those lists do not say which
form is the past tense and which the participle, nor name verbs that never change; the table here
does, for the verbs where it matters.
"""

from __future__ import annotations

import re

from unfooled.lexicon.wordnet import Pos, WordNet

INFLECTED: dict[str, Pos] = {
    "NNS": "n",
    "VBD": "v",
    "VBN": "v",
    "VBG": "v",
    "VBZ": "v",
    "JJR": "a",
    "JJS": "a",
    "RBR": "r",
    "RBS": "r",
}
"""Penn tags whose word is not a dictionary form."""

_VERBS = """
arise arose arisen, awake awoke awoken, be was been, bear bore borne, beat beat beaten,
become became become, begin began begun, bet bet bet, bid bid bid, bite bit bitten,
blow blew blown, break broke broken, broadcast broadcast broadcast, burst burst burst,
cast cast cast, choose chose chosen, come came come, cost cost cost, cut cut cut, do did done,
draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen,
fly flew flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven,
forsake forsook forsaken, freeze froze frozen, get got gotten, give gave given, go went gone,
grow grew grown, hide hid hidden, hit hit hit, hurt hurt hurt, know knew known, let let let,
lie lay lain, put put put, quit quit quit, read read read, rid rid rid, ride rode ridden,
ring rang rung, rise rose risen, run ran run, see saw seen, set set set, shake shook shaken,
shed shed shed, show showed shown, shrink shrank shrunk, shut shut shut, sing sang sung,
sink sank sunk, slay slew slain, speak spoke spoken, split split split, spread spread spread,
spring sprang sprung, steal stole stolen, stink stank stunk, strike struck struck,
strive strove striven, swear swore sworn, swell swelled swollen, swim swam swum, take took taken,
tear tore torn, throw threw thrown, thrust thrust thrust, tread trod trodden, upset upset upset,
wake woke woken, wear wore worn, weave wove woven, wed wed wed, write wrote written
"""
_PAST = {lemma: (past, done) for lemma, past, done in (v.split() for v in _VERBS.split(","))}
_SHORT = re.compile(r"^(?:qu|[^aeiou])*[aeiou][bdgklmnprtz]$")  # one syllable, one vowel
_PREFIXES = ["be", "for", "fore", "mis", "out", "over", "par", "re", "un", "under", "up", "with"]


def inflect(lemma: str, tag: str, *, wordnet: WordNet) -> tuple[str, ...]:
    """The forms of a lemma for a Penn tag, likeliest first; several where spelling varies.

    A phrase inflects its first word as a verb and its last as a noun. Empty: no one-word form
    (most adjectives of several syllables have no `-er`).
    """
    pos = INFLECTED.get(tag)
    if pos is None:
        return (lemma,)
    first, space, rest = lemma.partition(" ") if pos == "v" else ("", "", "")
    if space:
        return tuple(f"{form} {rest}" for form in inflect(first, tag, wordnet=wordnet))
    head, space, last = lemma.rpartition(" ")
    forms = (_verb if pos == "v" else _other)(last, tag, wordnet=wordnet)
    return tuple(dict.fromkeys(head + space + form for form in forms))


def is_form(word: str, lemma: str, *, tag: str, wordnet: WordNet) -> bool:
    """Whether a word is that form of the lemma."""
    return word in inflect(lemma, tag, wordnet=wordnet)


def _other(lemma: str, tag: str, *, wordnet: WordNet) -> tuple[str, ...]:
    listed = wordnet.irregular(lemma, INFLECTED[tag])
    if tag == "NNS":
        return (*listed, *_plural(lemma))
    ending = "er" if tag in ("JJR", "RBR") else "est"
    # The lists give better and best, bigger and biggest alike; the last letters tell them apart.
    listed = tuple(f for f in listed if f.endswith("st") == (ending == "est"))
    # The list also names what is no comparative, by mapping it to itself: `archer archer`.
    others = wordnet.exceptions(INFLECTED[tag])
    return listed or tuple(f for f in _graded(lemma, ending) if lemma in others.get(f, (lemma,)))


def _verb(lemma: str, tag: str, *, wordnet: WordNet) -> tuple[str, ...]:
    listed = wordnet.irregular(lemma, "v")
    if tag == "VBZ":
        return (*(f for f in listed if f.endswith("s")), *_with_s(lemma))
    if tag == "VBG":
        return (*(f for f in listed if f.endswith("ing")), _with_ing(_doubled(lemma)))
    past = tuple(f for f in listed if not f.endswith(("ing", "s")))
    known = _principal_parts(lemma, past)
    if known:
        return (known[tag == "VBN"],)
    return (*past, _with_ed(_doubled(lemma)))


def _principal_parts(lemma: str, past: tuple[str, ...]) -> tuple[str, str] | None:
    """Past tense and participle by the table, for `undergo` by way of `go`."""
    if lemma in _PAST:
        return _PAST[lemma]
    for prefix in _PREFIXES:
        stem = lemma[len(prefix) :]
        if lemma.startswith(prefix) and stem in _PAST:
            first, second = _PAST[stem]
            # The list must agree, so that `relet` follows `let` but `outlie` does not follow `lie`.
            if prefix + first in past or first == stem:
                return prefix + first, prefix + second
    return None


def _doubled(lemma: str) -> str:
    """`hop` becomes `hopp` before an ending, or its forms would be those of `hope`."""
    return lemma + lemma[-1] if _SHORT.match(lemma) else lemma


def _plural(lemma: str) -> tuple[str, ...]:
    if lemma in ("corps", "means", "series", "species"):
        return (lemma,)
    if lemma.endswith("sis"):
        return (lemma[:-2] + "es",)
    if re.search(r"(?<!hu)(?<!ger)(?<!ro)(?<!sha)(?<!talis)(?<!otto)(?<!cai)man$", lemma):
        return (lemma[:-2] + "en",)  # not listed, since morphy has a rule for it
    return _with_s(lemma)


def _with_s(lemma: str) -> tuple[str, ...]:
    if re.search(r"(s|x|z|ch|sh)$", lemma):
        return (lemma + "es",)
    if re.search(r"[^aeiou]y$", lemma):
        return (lemma[:-1] + "ies",)
    if re.search(r"[^aeiou]o$", lemma):
        return lemma + "es", lemma + "s"  # heroes, pianos
    return (lemma + "s",)


def _with_ing(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if re.search(r"[^eoy]e$", lemma) and len(lemma) > 2:
        return lemma[:-1] + "ing"
    return lemma + "ing"


def _with_ed(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ied"
    return lemma + "ed"


def _graded(lemma: str, ending: str) -> tuple[str, ...]:
    syllables = len(re.findall(r"[aeiouy]+", lemma[:-1] if lemma.endswith("e") else lemma))
    if re.search(r"[^aeiou]y$", lemma) and syllables <= 2 and not lemma.endswith("ly"):
        return (lemma[:-1] + "i" + ending,)
    if syllables > 1:
        return ()
    if lemma.endswith("e"):
        return (lemma + ending[1:],)
    # Bigger, hotter and sadder are listed; `setter` and `upper` are something else.
    return () if _SHORT.match(lemma) else (lemma + ending,)
