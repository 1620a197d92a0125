"""Hand-made lexical resources in the formats of the real ones, small enough to check by eye."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
LICENCE = "  1 This software and database is a tiny stand-in.  \n"

# (part of speech, type, words, antonyms as (own word number, synset number, its word number))
Synset = tuple[str, str, Sequence[str], Sequence[tuple[int, int, int]]]

SYNSETS: tuple[Synset, ...] = (
    ("n", "n", ["film", "movie", "picture", "moving_picture", "pic"], []),
    ("n", "n", ["film", "celluloid"], []),
    ("n", "n", ["child", "kid"], []),
    ("n", "n", ["glass"], []),
    ("n", "n", ["glasses", "spectacles"], []),
    ("n", "n", ["glass", "drinking_glass", "tumbler"], []),
    ("n", "n", ["Paris", "City_of_Light"], []),
    ("v", "v", ["film", "shoot"], []),
    ("v", "v", ["find", "discover"], []),
    ("v", "v", ["found", "establish"], []),
    ("v", "v", ["begin", "start"], []),
    ("v", "v", ["go", "travel", "move"], []),
    ("v", "v", ["be", "exist"], []),
    ("v", "v", ["have", "possess"], []),
    ("v", "v", ["run", "scat", "hurry"], []),
    ("a", "a", ["good"], [(1, 16, 1)]),
    ("a", "a", ["bad"], [(1, 15, 1)]),
    ("a", "s", ["good", "fine", "ready_to_hand(p)", "enjoyable"], []),
    ("a", "s", ["big", "large", "enormous"], []),
    ("r", "r", ["well", "good"], []),
)
EXCEPTIONS = {
    "n": ["children child", "pics pic"],
    "v": [
        "began begin",
        "begun begin",
        "found find",
        "gone go",
        "went go",
        "ran run",
        "running run",
    ],
    "a": ["best good", "better good", "bigger big", "biggest big"],
    "r": ["best well", "better well"],
}


def write_wordnet(folder: Path, synsets: Sequence[Synset] = SYNSETS) -> Path:
    """A folder of data, index and exception files with true byte offsets."""
    folder.mkdir(parents=True, exist_ok=True)
    size = len(LICENCE)
    starts = dict.fromkeys(FILES, size)
    offsets: list[int] = []
    for synset in synsets:  # offsets have eight digits whatever they are, so lengths are known
        offsets.append(starts[synset[0]])
        starts[synset[0]] += len(_line(synset, [0] * len(synsets), 0))
    for pos, name in FILES.items():
        own = [(s, o) for s, o in zip(synsets, offsets, strict=True) if s[0] == pos]
        lines = [_line(s, offsets, o) for s, o in own]
        (folder / f"data.{name}").write_text(LICENCE + "".join(lines), newline="")
        senses: dict[str, list[int]] = {}
        for synset, offset in own:
            for word in synset[2]:
                senses.setdefault(word.split("(")[0].lower(), []).append(offset)
        index = "".join(
            f"{lemma} {pos} {len(at)} 1 @ {len(at)} 0 {' '.join(f'{o:08d}' for o in at)}  \n"
            for lemma, at in sorted(senses.items())
        )
        (folder / f"index.{name}").write_text(LICENCE + index, newline="")
        (folder / f"{name}.exc").write_text("\n".join(EXCEPTIONS[pos]) + "\n", newline="")
    return folder


def _line(synset: Synset, offsets: Sequence[int], offset: int) -> str:
    pos, kind, words, antonyms = synset
    listed = " ".join(f"{word} 0" for word in words)
    pointers = "".join(
        f" ! {offsets[target]:08d} {pos} {own:02x}{other:02x}" for own, target, other in antonyms
    )
    return f"{offset:08d} 00 {kind} {len(words):02x} {listed} {len(antonyms):03d}{pointers} | gloss  \n"


VECTORS: Mapping[str, tuple[float, float]] = {
    # cosine with `film` (1, 0) is the first component over the length
    "film": (1, 0),
    "movie": (4, 3),  # 0.8
    "picture": (3, 4),  # 0.6
    "pic": (0, 1),  # 0
    "celluloid": (-3, 4),  # -0.6
    "films": (2, 0),
    "movies": (8, 6),  # 0.8
    "pictures": (6, 8),  # 0.6
    "good": (0, 2),
    "fine": (3, 4),  # 0.8
    "enjoyable": (4, 3),  # 0.6
    "bad": (-1, 7),
    "best": (1, 1),
    "finest": (2, 2),
    "found": (1, 2),
    "discovered": (2, 4),
    "established": (2, 3),
    "began": (5, 1),
    "started": (5, 2),
    "begun": (5, 3),
    "children": (1, 5),
    "kids": (2, 5),
    "ran": (7, 1),
    "running": (7, 2),
    "hurried": (7, 3),
    "hurrying": (7, 4),
    "went": (1, 9),
    "traveled": (2, 9),
    "moved": (3, 9),
}


def write_vectors(path: Path, table: Mapping[str, tuple[float, ...]] = VECTORS) -> Path:
    """A text file of vectors, most frequent word first."""
    lines = [" ".join([word, *map(str, vector)]) for word, vector in table.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


TAGS = {
    "the": "DT",
    "a": "DT",
    "film": "NN",
    "movie": "NN",
    "picture": "NN",
    "films": "NNS",
    "glasses": "NNS",
    "children": "NNS",
    "found": "VBD",
    "began": "VBD",
    "begun": "VBN",
    "running": "VBG",
    "went": "VBD",
    "was": "VBD",
    "is": "VBZ",
    "having": "VBG",
    "could": "MD",
    "good": "JJ",
    "fine": "JJ",
    "enjoyable": "JJ",
    "bad": "JJ",
    "best": "JJS",
    "biggest": "JJS",
    "of": "IN",
    ".": ".",
    ",": ",",
}


def write_tagger(path: Path) -> Path:
    """A tagger that knows the words above; others are nouns, or proper names after a capital."""
    weights = {
        "bias": {"NN": 1.0},
        "i suffix ing": {"VBG": 2.0},
        "i pref1 P": {"NNP": 3.0},
        "i-1 tag MD": {"VB": 5.0},
    }
    classes = sorted({*TAGS.values(), "NN", "NNP", "VB", "VBG"})
    path.write_text(json.dumps({"weights": weights, "tagdict": TAGS, "classes": classes}))
    return path


def write_stopwords(path: Path) -> Path:
    """A short list, one word a line."""
    path.write_text("the\na\nof\nis\nwas\nhave\nit\n")
    return path
