"""The perceptron tagger against hand-made weights and an independent reading of its formula."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled.errors import InputError
from unfooled.lexicon.tagger import Tagger, read, universal

WORDS = ["run", "Run", "well-made", "2001", "3", "x", "don't", "it's", "RUNS", ".", "Paris", "-"]
CLASSES = ["NN", "NNP", "VB", "JJ", "RB"]


def _random_table() -> dict[str, object]:
    """Weights for every feature that the words above can give, in tenths so that sums are exact."""
    dice = random.Random(7)
    normal = [
        "run",
        "!HYPHEN",
        "!YEAR",
        "!DIGITS",
        "x",
        "do",
        "n't",
        "it",
        "'s",
        "runs",
        ".",
        "paris",
    ]
    tags = [*CLASSES, "-START-", "-START2-"]
    names = ["bias"]
    names += [f"i suffix {w[-3:]}" for w in [*normal, "UNS", "Run"]]
    names += [f"i pref1 {c}" for c in "rRxdnPi'."]
    names += [f"i-1 tag {t}" for t in tags] + [f"i-2 tag {t}" for t in tags]
    names += [f"i tag+i-2 tag {t} {u}" for t in tags for u in tags]
    names += [f"i-1 tag+i word {t} {w}" for t in tags for w in normal]
    for where in ("i", "i-1", "i-2", "i+1", "i+2"):
        names += [f"{where} word {w}" for w in [*normal, "-END-", "-END2-", "-START2-"]]
    names += [f"i+1 suffix {w[-3:]}" for w in normal] + [f"i-1 suffix {w[-3:]}" for w in normal]
    weights = {n: {c: dice.randint(-8, 8) / 8 for c in CLASSES} for n in dict.fromkeys(names)}
    return {"weights": weights, "tagdict": {"x": "FW"}, "classes": [*CLASSES, "FW"]}


TABLE = _random_table()


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Tagger:
    path = tmp_path_factory.mktemp("tagger") / "tagger.json"
    path.write_text(json.dumps(TABLE))
    return read(path)


def _slow(pieces: list[str]) -> list[str]:
    """The published algorithm, feature by feature, without the treatment of capitals."""

    def normal(w: str) -> str:
        if "-" in w and w[0] != "-":
            return "!HYPHEN"
        if w.isdigit() and len(w) == 4:
            return "!YEAR"
        return "!DIGITS" if w[0].isdigit() else w.lower()

    padded = ["-START-", "-START2-", *map(normal, pieces), "-END-", "-END2-"]
    prev, prev2, tags = "-START-", "-START2-", []
    for i, word in enumerate(pieces, 2):
        here = padded[i]
        active = {"bias", f"i suffix {word[-3:]}", f"i pref1 {word[0]}", f"i word {here}"}
        active |= {f"i-1 tag {prev}", f"i-2 tag {prev2}", f"i tag+i-2 tag {prev} {prev2}"}
        active |= {f"i-1 tag+i word {prev} {here}", f"i-1 word {padded[i - 1]}"}
        active |= {f"i-1 suffix {padded[i - 1][-3:]}", f"i-2 word {padded[i - 2]}"}
        active |= {f"i+1 word {padded[i + 1]}", f"i+1 suffix {padded[i + 1][-3:]}"}
        active |= {f"i+2 word {padded[i + 2]}"}
        scores = dict.fromkeys([*CLASSES, "FW"], 0.0)
        for name in active & set(TABLE["weights"]):  # type: ignore[call-overload]
            for label, weight in TABLE["weights"][name].items():  # type: ignore[index]
                scores[label] += weight
        tag = "FW" if word == "x" else max(scores, key=lambda label: (scores[label], label))
        tags.append(tag)
        prev2, prev = prev, tag
    return tags


@given(st.lists(st.sampled_from(["run", "well-made", "2001", "3", "x", ".", "n't"]), max_size=9))
def test_lower_case_passages_are_tagged_by_the_published_formula(
    tagger: Tagger, words: list[str]
) -> None:
    assert list(tagger.tag(words)) == _slow(words)


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9),
    st.integers(0, 8),
    st.sampled_from(WORDS),
)
def test_a_swapped_word_gets_the_tag_of_the_new_passage(
    tagger: Tagger, words: list[str], position: int, by: str
) -> None:
    position %= len(words)
    new = [*words[:position], by, *words[position + 1 :]]
    fresh = Tagger(tagger.weights, tagger.features, tagger.frequent, tagger.classes)
    assert tagger.tag_swapped(words, position, by=by) == fresh.tag(new)[position]


def test_a_contraction_is_tagged_as_its_first_half(tagger: Tagger) -> None:
    together = tagger.tag(["run", "don't", "run"])
    apart = tagger.tag(["run", "do", "n't", "run"])
    assert together == (apart[0], apart[1], apart[3])


def _capitals(tmp_path: Path) -> Tagger:
    weights = {
        "bias": {"NN": 1},
        "i pref1 G": {"NNP": 9},
        "i word great": {"JJ": 5},
        "i word gina": {"NN": 5},
    }
    path = tmp_path / "tagger.json"
    path.write_text(json.dumps({"weights": weights, "tagdict": {}, "classes": ["NN", "NNP", "JJ"]}))
    return read(path)


def test_the_capital_of_a_first_word_is_no_proof_of_a_name(tmp_path: Path) -> None:
    tagger = _capitals(tmp_path)
    assert tagger.tag(["Great", "fun"]) == ("JJ", "NN")
    assert tagger.tag(["Gina", "Great"]) == ("NNP", "NNP")
    assert tagger.tag(["fun", ".", '"', "Great"])[3] == "JJ"
    assert tagger.tag(["a", "GREAT", "film"])[1] == "JJ"


def test_no_words_no_tags(tagger: Tagger) -> None:
    assert tagger.tag(()) == ()


@pytest.mark.parametrize(
    ("tag", "coarse"),
    [
        *[("NNS", "NOUN"), ("VBG", "VERB"), ("MD", "VERB"), ("JJR", "ADJ"), ("RB", "ADV")],
        *[("PRP$", "PRON"), ("WDT", "DET"), (",", "."), ("``", "."), ("FW", "X"), ("IN", "ADP")],
    ],
)
def test_coarse_tags(tag: str, coarse: str) -> None:
    assert universal(tag) == coarse


@pytest.mark.parametrize("content", ["[]", "{", '{"weights": {}}', '{"weights": 1, "classes": []}'])
def test_a_file_that_is_no_tagger_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"broken\.json is not a tagger"):
        read(path)


@pytest.mark.assets("tagger")
def test_the_real_weights_on_plain_sentences(asset: Callable[[str], Path]) -> None:
    tagger = read(asset("tagger") / "tagger.json")
    words = ["the", "old", "actors", "quickly", "found", "a", "better", "story", "."]
    assert tagger.tag(words) == ("DT", "JJ", "NNS", "RB", "VBD", "DT", "JJR", "NN", ".")
    assert tagger.tag(["They", "refuse", "to", "permit", "us"]) == ("PRP", "VBP", "TO", "VB", "PRP")
