"""Limits that hold for any attack: similarity, candidates, queries per word."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_doubles import Echo, WordEncoder, similarity_of
from runner_toys import DATA, Counted, Proposes, attack, told, victim
from unfooled.errors import InputError
from unfooled.limits import Limits
from unfooled.outcomes import Outcome
from unfooled.program import Attack, Program, Proposals, Similarities
from unfooled.similarity import cosine_to_angular
from unfooled.text import Text

ORIGINAL, NICE, OK = "a good film", "a nice film", "a ok film"


# --- similarity ---------------------------------------------------------------------------------


def test_every_attack_stays_similar() -> None:
    encoder = WordEncoder()
    for name in ("greedy", "beam", "random", "pdp"):
        for least in (-1.0, 0.5, 0.8, 0.95, 1.0):
            found = attack(name, min_similarity=least, encoder=encoder)
            for outcome in found:
                if outcome.status == "success":
                    close = similarity_of(str(outcome.text), str(outcome.original))
                    assert close >= least - 1.1e-6


def test_refused_texts_are_counted_and_never_reach_the_victim() -> None:
    function = Counted()
    (outcome,) = attack(
        who=victim(function), data=DATA[:1], min_similarity=1.0, encoder=WordEncoder()
    )
    assert outcome.status == "failed"
    assert outcome.refused == 3  # nice, ok, movie
    assert set(function.seen) == {ORIGINAL, "a [UNK] film", "a good [UNK]"}
    assert outcome.queries == 4
    assert Outcome.from_record(json.loads(json.dumps(outcome.record()))) == outcome
    (free,) = attack(data=DATA[:1])
    assert free.refused == 0


def test_records_of_before_are_read() -> None:
    (outcome,) = attack(data=DATA[:1])
    old = {key: value for key, value in outcome.record().items() if key != "refused"}
    assert Outcome.from_record(old) == outcome


def test_what_is_claimed_without_asking_is_judged_too() -> None:
    """The caller verifies: a row that no question was about is compared before it counts."""
    row, close = [2, 0], similarity_of(OK, ORIGINAL)
    for least, status in [(close - 0.01, "success"), (min(1.0, close + 0.01), "failed")]:
        (found,) = attack(Proposes(row), data=DATA[:1], min_similarity=least, encoder=WordEncoder())
        assert found.status == status


def test_angular_is_the_same_limit_in_other_numbers() -> None:
    close = similarity_of(OK, ORIGINAL)
    for shift in (-0.01, 0.01):
        least = min(1.0, close + shift)
        one = attack(data=DATA[:1], min_similarity=least, encoder=WordEncoder())
        two = attack(
            data=DATA[:1],
            min_similarity=float(cosine_to_angular(least)),
            similarity="angular",
            encoder=WordEncoder(),
        )
        assert told(one) == told(two)


def test_windows_look_at_the_swapped_words() -> None:
    """In a long text one word matters little; in its window it matters much."""
    long = " ".join(["so"] * 30 + ["good", "film"])
    encoder = WordEncoder()
    whole, near = similarity_of(long, long.replace("good", "ok")), similarity_of("good", "ok")
    assert near < whole
    least = (near + whole) / 2
    data = [(long, "pos")]
    assert attack(data=data, min_similarity=least, encoder=encoder)[0].status == "success"
    assert attack(data=data, min_similarity=least, encoder=encoder, window=1)[0].status == "failed"


@pytest.mark.parametrize("shape", [{"in_flight": 1}, {"batch": 1}, {"in_flight": 2, "batch": 3}])
def test_outcomes_do_not_depend_on_batches(shape: dict[str, int]) -> None:
    least = similarity_of(OK, ORIGINAL) + 1e-6  # on the edge
    expected = told(attack(data=DATA * 3, min_similarity=least, encoder=WordEncoder()))
    noisy = WordEncoder(noise=1e-6, batch_rows=5)
    assert told(attack(data=DATA * 3, min_similarity=least, encoder=noisy, **shape)) == expected


def test_an_encoder_that_fails_costs_one_text() -> None:
    found = attack(min_similarity=0.0, encoder=WordEncoder(faults={"bad": "raise"}))
    assert [o.status for o in found].count("error") == 1
    assert "words failed on 'a bad film'" in str(found[1].error)


def test_runs_know_their_encoder(tmp_path: Path) -> None:
    first = attack(min_similarity=0.2, encoder=WordEncoder(), out=tmp_path / "run")
    again = attack(min_similarity=0.2, encoder=WordEncoder(), out=tmp_path / "run")
    assert again.resumed == len(DATA)
    assert told(again) == told(first)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    options = manifest["options"]
    assert options["encoder_fingerprint"] == "words:1"
    assert (options["min_similarity"], options["encoder"]) == (0.2, "words")


def test_without_a_limit_the_configuration_is_what_it_was() -> None:
    old = {"max_rate": None, "max_swaps": None, "max_queries": None, "target": None}
    assert Limits().config() == old
    assert Limits(max_candidates=3).config() == {**old, "max_candidates": 3}
    assert Limits(min_similarity=0.8, window=15).config() == {
        **old,
        "min_similarity": 0.8,
        "similarity": "cosine",
        "encoder": "minilm",
        "window": 15,
        "reference": "original",
    }


@dataclass(frozen=True)
class Curious(Attack):
    """Asks the companions and finds nothing."""

    words: bool = False

    def search(self, space: Any, goal: Any, rng: Any) -> Program[Any]:
        if self.words:
            found = yield Proposals(space.origin, 0, 2)
            assert [p.word for p in found] == ["?0", "?1"]
        else:
            found = yield Similarities(space.neighbours(space.origin), space.origin)
            assert found.shape == (3,)


def test_searches_may_ask_the_companions_themselves() -> None:
    (one,) = attack(Curious(), data=DATA[:1], encoder=WordEncoder())
    (two,) = attack(Curious(words=True), data=DATA[:1], masked=Echo())
    assert (one.status, two.status) == ("failed", "failed")
    with pytest.raises(InputError, match="'no such model' is not the name of a hub model"):
        attack(Curious(words=True), data=DATA[:1], masked="no such model")


def test_unknown_encoders() -> None:
    with pytest.raises(InputError, match=r"no sentence encoder 'minilmm'.*did you mean 'minilm'"):
        attack(min_similarity=0.5, encoder="minilmm")
    assert attack(encoder="minilmm")[0].status == "success"  # nobody asked for it


# --- candidates and queries -----------------------------------------------------------------------


def test_only_the_first_candidates() -> None:
    found = attack(max_candidates=1)
    assert [o.status for o in found] == ["failed", "success", "failed", "skipped", "failed"]
    assert told(attack(max_candidates=2)) == told(attack())


@pytest.mark.parametrize(
    ("asked", "words", "expected"),
    [(None, 3, None), (50, 3, 50), ("50", 3, 50), ("50x", 3, 150), ("2xL", 7, 14), ("9x", 0, 1)],
)
def test_queries_of_a_text(asked: Any, words: int, expected: int | None) -> None:
    assert Limits(max_queries=asked).queries(Text.parse("w " * words)) == expected


def test_queries_may_follow_the_candidates() -> None:
    limits = Limits(max_queries="KxL", max_candidates=8)
    assert limits.queries(Text.parse("a good film")) == 24
    for outcome in attack("beam", max_queries="KxL", max_candidates=1):
        assert outcome.queries <= len(outcome.original)


@given(st.integers(1, 6))
@settings(deadline=None)
def test_queries_per_word_are_kept(times: int) -> None:
    for outcome in attack("beam", max_queries=f"{times}x"):
        assert outcome.queries <= times * len(outcome.original)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"max_queries": "x"}, "50x"),
        ({"max_queries": "0x"}, "1 or more"),
        ({"max_queries": "2.5x"}, "50x"),
        ({"max_queries": -3}, "1 or more"),
        ({"max_queries": "KxL"}, "max_candidates for each word, which is not given"),
        ({"window": 5}, "how min_similarity compares, which is not given"),
        ({"similarity": "angular"}, "how min_similarity compares, which is not given"),
        ({"word_vectors": "mine.txt"}, "are for min_word_cosine, which is not given"),
        ({"max_candidates": 0}, "max_candidates is 1 or more, not 0"),
        ({"window": 0}, "window is 1 or more, not 0"),
        ({"min_similarity": 1.2}, "from -1 to 1, not 1.2"),
        ({"min_similarity": -0.2, "similarity": "angular"}, "from 0 to 1, not -0.2"),
        ({"similarity": "dot"}, "cosine or angular"),
        ({"reference": "previous"}, "how min_similarity compares, which is not given"),
        ({"reference": "first"}, "reference is original or previous, not 'first'"),
    ],
)
def test_bad_limits(limit: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Limits(**limit)
