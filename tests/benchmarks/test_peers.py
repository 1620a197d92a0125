"""Compatible searches against results worked out by hand, and against a search over lists of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.peers.__main__ import figures, recall, remember
from benchmarks.peers.compare import Difference, Tally, found_by_us, tally
from benchmarks.peers.compatible import probabilities
from benchmarks.peers.exchange import Case, plain, word_positions
from benchmarks.peers.page import page
from benchmarks.peers.process import Found
from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.text import Example, Text
from victim_doubles import Double, linear

WEIGHTS = {"really": 0.1, "good": 1.0, "fine": 0.6, "poor": -0.5, "film": 0.8, "movie": 0.3}
WEIGHTS |= {"flick": -0.4, "okay": 0.0}
TEXT = "really good film ."


def case(text: str = TEXT, *, most: int = 9, label: int = 1) -> Case:
    """Scores 0.1 + 1.0 + 0.8; `really` has no candidates."""
    found = {"good": ("fine", "okay", "poor"), "film": ("flick", "movie")}
    words = tuple(w for w in text.split() if w.isalpha())
    return Case("t", text, label, words, tuple(found.get(w, ()) for w in words), most)


def ended(search: str, given: Case, victim: Double | None = None) -> Found:
    (found,) = found_by_us(search, victim or Double(linear(WEIGHTS)), [given])
    return found


# --- what is exchanged --------------------------------------------------------------------------


def test_punctuation_is_no_word() -> None:
    assert word_positions(Text.parse("a well-made film , isn't it ?")) == [0, 1, 2, 4, 5]


def test_candidates_are_one_word_to_everybody() -> None:
    assert plain(["motion picture", "films", "film", "café", "x-ray", "film"]) == ("film", "films")


def test_a_case_has_every_word_and_the_limit() -> None:
    example = Example(Text.parse("one , two three four five"), 1, "7")
    space = Space(example.text, {2: ("too", "to"), 3: ("3",)})
    found = Case.of(example, space, rate=0.4)
    assert found.words == ("one", "two", "three", "four", "five")
    assert found.candidates == ((), ("to", "too"), (), (), ())
    assert (found.most, found.id, found.label) == (2, "7", 1)
    assert Case.of(example, space, rate=0.1).most == 1  # a limit of none would be no limit there
    assert Case.of(example, space, rate=None).most == 5


def test_every_word_has_a_column() -> None:
    given = case("film , really good .")
    space = given.space()
    columns = given.columns(space)
    assert [space.original.words[space.positions[c]] for c in columns] == list(given.words)
    probes = space.probes(space.origin, UNKNOWN)[columns]
    assert [str(space.text(p)).split().index("[UNK]") for p in probes] == [0, 2, 3]
    gone = space.probes(space.origin, DELETED)[columns]
    assert [str(space.text(p)).strip() for p in gone] == [
        ", really good .",
        "film , good .",
        "film , really .",
    ]


def test_probabilities_are_rounded() -> None:
    found = probabilities(np.array([[0.0, np.log(3.0)], [1000.0, 0.0], [1e-12, 0.0]]))
    assert found.tolist() == [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]


# --- worked examples ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search", "queries"),
    [
        ("unk", 1 + 3 + 3 + 2),  # the original, three words unknown, those of good, those of film
        ("delete", 1 + 3 + 3 + 2),
        ("weighted-saliency", 1 + 3 + (3 + 2) + 3 + 2),  # candidates twice
        ("greedy", 1 + 5 + 2),  # every swap; with poor, those of film
        ("beam", 1 + 5 + (2 + 3 + 2 + 3)),  # of poor, flick, okay, movie; poor flick comes twice
    ],
)
def test_worked_example(search: str, queries: int) -> None:
    """good -> poor leaves 0.4; film -> flick leaves -0.8: fooled after two swaps."""
    assert ended(search, case()) == Found("success", "really poor flick .", queries)


@pytest.mark.parametrize(
    ("search", "queries"), [("unk", 7), ("delete", 7), ("weighted-saliency", 12), ("greedy", 6)]
)
def test_at_the_limit_the_best_text_is_the_end(search: str, queries: int) -> None:
    assert ended(search, case(most=1)) == Found("failure", "really poor film .", queries)


@pytest.mark.parametrize("search", ["unk", "delete", "weighted-saliency", "greedy", "beam"])
def test_a_misclassified_text_is_skipped_after_one_query(search: str) -> None:
    assert ended(search, case(label=0)) == Found("skipped", TEXT, 1)


def test_a_beam_ends_with_its_last_step_and_a_ranking_does_not() -> None:
    """x alone and y alone help, both together harm."""
    table = {"a b": 2.0, "x b": 1.0, "a y": 1.5, "x y": 3.0}
    victim = Double(lambda words: (0.0, table.get(" ".join(words), 1.7)))
    given = Case("t", "a b", 1, ("a", "b"), (("x",), ("y",)), 2)
    assert ended("greedy", given, victim) == Found("failure", "x y", 1 + 2 + 1)
    # Both unknown words leave 1.7: a tie, and the first goes first. y is asked about and not taken.
    assert ended("unk", given, victim) == Found("failure", "x b", 1 + 2 + 1 + 1)


def test_ties_go_by_the_alphabet_of_texts() -> None:
    """Any swap has the same effect; `a z` is before `b a`."""
    given = Case("t", "b z", 1, ("b", "z"), (("a", "c"), ("a",)), 2)
    victim = Double(lambda words: (0.0, 1.0 if words == ("b", "z") else -1.0))
    assert ended("greedy", given, victim).text == "a z"


# --- an independent search ----------------------------------------------------------------------

Score = Callable[[Sequence[str]], float]


def doubt(score: Score, words: Sequence[str]) -> float:
    """1 - p of class 1."""
    return float(1 - np.round(1 / (1 + np.exp(-score(words))), 9))


def single(words: list[str], given: Case, places: Sequence[int]) -> list[list[str]]:
    """Lists of words with one more swapped, by text."""
    swapped = [a != b for a, b in zip(words, given.words, strict=True)]
    if sum(swapped) >= given.most:
        return []
    found = [
        [*words[:i], new, *words[i + 1 :]]
        for i in places
        if not swapped[i]
        for new in given.candidates[i]
    ]
    return sorted(found, key=" ".join)


def ranked_by_hand(given: Case, score: Score) -> tuple[str, int]:
    words, queries = list(given.words), 1 + len(given.words)
    now = doubt(score, words)
    losses = [doubt(score, [*words[:i], "?", *words[i + 1 :]]) for i in range(len(words))]
    for i in np.argsort(-np.array(losses)):
        tried = single(words, given, [int(i)])
        queries += len(tried)
        values = [doubt(score, t) for t in tried]
        if values and max(values) > now:
            words, now = tried[values.index(max(values))], max(values)
        if now > 0.5:
            break
    return " ".join(words), queries


def beamed_by_hand(given: Case, score: Score, width: int) -> tuple[str, int]:
    beam, queries, best = [list(given.words)], 1, list(given.words)
    while doubt(score, best) <= 0.5:
        tried = [t for words in beam for t in single(words, given, range(len(words)))]
        if not tried:
            break
        queries += len(tried)
        values = [doubt(score, t) for t in tried]
        best = tried[values.index(max(values))]
        beam = [tried[i] for i in np.argsort(-np.array(values))[:width]]
    return " ".join(best), queries


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.lists(st.integers(-20, 20), min_size=30, max_size=30),
    st.integers(1, 4),
)
@settings(max_examples=80, deadline=None)
def test_as_a_search_over_lists_of_words(counts: list[int], values: list[int], most: int) -> None:
    letters = "abcd"
    words = tuple(f"w{letters[i]}" for i in range(len(counts)))
    candidates = tuple(
        tuple(f"c{letters[i]}{letters[k]}" for k in range(n)) for i, n in enumerate(counts)
    )
    names = [*words, *(c for found in candidates for c in found)]
    weights: Mapping[str, float] = {w: v / 8 for w, v in zip(names, values, strict=False)}
    bias = 3.0625  # no sum of eighths makes it zero: a tie fools here and does not in the oracle
    given_case = Case("t", " ".join(words), 1, words, candidates, most)

    def score(found: Sequence[str]) -> float:
        return bias + sum(weights.get(w, 0.0) for w in found)

    assume(doubt(score, words) < 0.5)  # others are skipped
    victim = Double(linear(weights, bias))
    one = ended("unk", given_case, victim)
    assert (one.text, one.queries) == ranked_by_hand(given_case, score)
    for name, width in (("greedy", 1), ("beam", 4)):
        other = ended(name, given_case, victim)
        assert (other.text, other.queries) == beamed_by_hand(given_case, score, width)


# --- counting and the page ----------------------------------------------------------------------


@pytest.fixture
def counted() -> Tally:
    """One of each: fooled, not fooled, skipped, other words, another count of queries."""
    ours = [
        Found("success", "really poor flick .", 9),
        Found("failure", "really good film .", 9),
        Found("skipped", TEXT, 1),
        Found("failure", TEXT, 9),
        Found("success", "really poor flick .", 9),
    ]
    theirs = [*ours[:3], Found("other words", "real ly good film", 0), Found("success", "x", 8)]
    return tally("unk", [case()] * 5, ours=ours, theirs=theirs)


def test_tally(counted: Tally) -> None:
    assert (counted.texts, counted.equal, counted.fooled, counted.failed) == (5, 2, 1, 1)
    assert (counted.skipped, counted.queries) == (1, 9 + 9 + 1 + 9)
    assert len(counted.left_out) == 1
    assert counted.differences == (
        Difference(case(), Found("success", "really poor flick .", 9), Found("success", "x", 8)),
    )


def test_what_was_found_is_kept_for_the_same_texts_only(tmp_path: Path) -> None:
    path, found = tmp_path / "bilstm-1" / "unk.json", [Found("failure", TEXT, 9)]
    assert recall(path, "key") is None
    remember(path, "key", {"ours": found, "theirs": found})
    assert recall(path, "key") == {"ours": found, "theirs": found}
    assert recall(path, "another") is None


def test_figures_are_those_of_all_models(counted: Tally) -> None:
    found = figures({"bilstm": [counted], "cnn": [counted]})
    assert (found["equal_unk"], found["equal_beam"]) == (4, 0)
    assert (found["differences"], found["left_out"]) == (2, 2)


def test_the_page_shows_what_agrees_and_what_does_not(counted: Tally) -> None:
    versions = {"numpy": "2.4", "torch": "2.13"}
    text = page({"cnn": [counted]}, rate=0.25, versions=versions, command="python -m it")
    assert "| cnn | word importance, word unknown | 5 | 3 | 2 | 1 | 1 | 28 | 1 |" in text
    assert "9 queries: really poor flick . | success, 8 queries: x |" in text
    assert "| t | `` really `` | `` real `` `` ly `` |" in text
    assert "`python -m it`" in text
