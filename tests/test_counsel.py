"""Similarities and proposals: batched across texts, remembered, and one bad row fails one text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_doubles import Echo, RowEncoder, WordEncoder, similarity_of
from unfooled.companions import Encodes, EncodesRows, Proposal, Proposes
from unfooled.engine import Engine
from unfooled.errors import InputError
from unfooled.program import Program, Proposals, Similarities
from unfooled.space import UNKNOWN, Space
from unfooled.subspaces import window
from victim_doubles import Double, asking, constant, ends, job, linear, scores_of, solve

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def space_of(length: int, name: str = "") -> Space:
    words = [f"{name}{w}" for w in (WORDS * 3)[:length]]
    return Space(" ".join(words), {p: (f"one{p}", f"two{p}") for p in range(length)})


def rows_of(*rows: Any) -> np.ndarray:
    return np.array(rows, dtype=np.int16)


def ask(space: Space, *questions: Any, **options: Any) -> Any:
    """The answers to questions about one text."""
    (result,) = solve(Double(constant()), [job(space, asking(*questions))], **options).values()
    assert result.error is None, result.traceback or result.error
    assert result.queries == result.forwards == 0
    return result.value


def test_the_doubles_keep_the_contract() -> None:
    assert isinstance(WordEncoder(), Encodes)
    assert not isinstance(WordEncoder(), EncodesRows)
    assert isinstance(RowEncoder(), EncodesRows)
    assert isinstance(Echo(), Proposes)


# --- similarities -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [WordEncoder, RowEncoder])
@given(
    length=st.integers(1, 6),
    width=st.none() | st.integers(1, 8),
    batch_rows=st.integers(1, 9),
    data=st.data(),
)
@settings(max_examples=40, deadline=None)
def test_similarities_are_those_of_the_strings(
    kind: type[WordEncoder], length: int, width: int | None, batch_rows: int, data: st.DataObject
) -> None:
    space = space_of(length)
    row = st.lists(st.integers(0, 2), min_size=length, max_size=length)
    rows = rows_of(*data.draw(st.lists(row, min_size=1, max_size=12)))
    reference = rows_of(*[data.draw(row)])[0]
    centre = data.draw(st.integers(0, length - 1))
    question = Similarities(rows, reference, width, centre)
    (found,) = ask(space, question, encoder=kind(batch_rows=batch_rows))
    words = window(length, centre, width=width)

    def cut(one: np.ndarray) -> str:
        return " ".join(space.text(one).words[words.start : words.stop])

    expected = [similarity_of(cut(r), cut(reference)) for r in rows]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_many_texts_share_batches() -> None:
    encoder, spaces = WordEncoder(batch_rows=50), [space_of(5, name) for name in "abcdefghij"]
    jobs = [
        job(s, asking(Similarities(s.neighbours(s.origin), s.origin))) for s in spaces
    ]  # ten rows each, and the original
    results = solve(Double(constant()), jobs, encoder=encoder)
    assert sorted(map(len, encoder.calls)) == [10, 50, 50]
    for space in spaces:
        (found,) = results[str(space.original)].value
        texts = map(str, space.sources(space.neighbours(space.origin)))
        assert found.tolist() == pytest.approx(
            [similarity_of(t, str(space.original)) for t in texts]
        )


def test_texts_of_one_length_go_together() -> None:
    encoder = WordEncoder(batch_rows=60)
    spaces = [space_of(n, name) for name in "ab" for n in (2, 30)]
    jobs = [job(s, asking(Similarities(s.neighbours(s.origin), s.origin))) for s in spaces]
    solve(Double(constant()), jobs, encoder=encoder)
    lengths = [{len(text.split()) for text in call} for call in encoder.calls]
    assert all(len(each) == 1 for each in lengths[:2])


def test_repeated_rows_and_references_are_encoded_once() -> None:
    space, encoder = space_of(3), WordEncoder()
    rows = rows_of([1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 2, 0])
    first = Similarities(rows, space.origin)
    again = Similarities(rows_of([0, 2, 0], [2, 0, 0]), space.origin)
    one, two = ask(space, first, again, encoder=encoder)
    assert encoder.encoded == 4  # the original, and three others
    assert one[0] == one[1] != one[3] == two[0]
    assert one[2] == 1.0


def test_words_outside_the_window_do_not_matter() -> None:
    space, encoder = space_of(9), WordEncoder()
    rows = np.zeros((3, 9), dtype=np.int16)
    rows[1, 8], rows[2, 0] = 1, 1
    (found,) = ask(space, Similarities(rows, space.origin, window=3, centre=0), encoder=encoder)
    assert found[:2].tolist() == [1.0, 1.0]
    assert found[2] < 1
    assert encoder.encoded == 2


def test_each_reference_has_its_own_similarities() -> None:
    space = space_of(2)
    rows, other = rows_of([1, 0], [0, 0]), rows_of([1, 1])[0]
    one, two = ask(
        space, Similarities(rows, space.origin), Similarities(rows, other), encoder=WordEncoder()
    )
    texts = [str(space.text(r)) for r in rows]
    assert one[1] == 1.0
    assert two.tolist() == pytest.approx([similarity_of(t, str(space.text(other))) for t in texts])


def test_alone_means_one_text_in_a_call() -> None:
    space, encoder = space_of(3), RowEncoder(noise=1e-3)
    rows = space.neighbours(space.origin)
    (found,) = ask(space, Similarities(rows, space.origin, alone=True), encoder=encoder)
    assert {len(call) for call in encoder.calls} == {1}
    expected = [similarity_of(str(s), str(space.original)) for s in space.sources(rows)]
    assert found.tolist() == pytest.approx(expected, abs=1e-12)  # no noise: nothing shared a batch


def test_a_tuple_may_mix_kinds() -> None:
    space, encoder, masked = space_of(2), WordEncoder(), Echo()
    rows = rows_of([1, 0], [0, 1])
    asked = (Similarities(rows, space.origin), scores_of((0, 0)), Proposals(space.origin, 1, 2), ())
    victim = Double(linear({"alpha": 2.0}))
    (result,) = solve(
        victim, [job(space, asking(asked[:3]))], encoder=encoder, masked=masked
    ).values()
    close, scores, words = result.value[0]
    assert close.shape == (2,)
    assert scores[0, 1] == 2.0
    assert [p.word for p in words] == ["?0", "?1"]
    assert (result.queries, result.forwards) == (1, 1)


def test_an_empty_question() -> None:
    space = space_of(2)
    empty = Similarities(np.empty((0, 2), dtype=np.int16), space.origin)
    (found,) = ask(space, empty, encoder=WordEncoder())
    assert found.shape == (0,)


def test_pairs_are_compared_on_their_editable_side() -> None:
    space = Space(("a premise", "a good plot"), {1: ("poor",)})
    encoder = WordEncoder()
    (found,) = ask(space, Similarities(rows_of([1]), space.origin), encoder=encoder)
    assert sorted(t for call in encoder.calls for t in call) == ["a good plot", "a poor plot"]
    assert found[0] == pytest.approx(similarity_of("a good plot", "a poor plot"))


def test_an_open_copy_may_grow_between_questions() -> None:
    space = space_of(3).open()
    encoder = RowEncoder()

    def grow() -> Program[Any]:
        first = yield Similarities(rows_of([1, 0, 0]), space.origin)
        choice = space.extend(0, ["fresh"])[0]
        second = yield Similarities(rows_of([1, 0, 0], [choice, 0, 0]), space.origin)
        return first, second

    (result,) = solve(Double(constant()), [job(space, grow())], encoder=encoder).values()
    first, second = result.value
    assert first[0] == second[0]
    assert second[1] == pytest.approx(similarity_of("fresh beta gamma", "alpha beta gamma"))
    assert (encoder.encoded, encoder.prepared) == (3, 2)


@pytest.mark.parametrize("fault", ["raise", "nan", "shape"])
@pytest.mark.parametrize("kind", [WordEncoder, RowEncoder])
def test_a_failing_row_fails_its_text_alone(kind: type[WordEncoder], fault: str) -> None:
    spaces = [space_of(3, name) for name in "abcd"]
    encoder = kind(faults={"calpha": fault}, batch_rows=64)
    jobs = [
        job(s, asking(Similarities(s.neighbours(s.origin), s.origin), scores_of((0, 0, 0))))
        for s in spaces
    ]
    results = solve(Double(constant()), jobs, encoder=encoder)
    for space in spaces:
        result = results[str(space.original)]
        if "calpha" in space.original.words:
            assert result.error.startswith("words failed on 'calpha")
            assert "expected a sentence vector" in result.error
        else:
            assert result.error is None
            assert result.value[0].shape == (6,)


def test_a_row_that_fails_alone() -> None:
    space = space_of(2)
    question = Similarities(rows_of([1, 0]), space.origin, alone=True)
    encoder = WordEncoder(faults={"one0": "raise"})
    (result,) = solve(Double(constant()), [job(space, asking(question))], encoder=encoder).values()
    assert result.error == (
        "words failed on 'one0 beta': RuntimeError: a word without a meaning; "
        "expected a sentence vector"
    )


def test_memory_sets_the_size_of_batches() -> None:
    said: list[str] = []
    encoder, space = WordEncoder(batch_rows=64, limit=4), space_of(10)
    question = Similarities(space.neighbours(space.origin), space.origin)
    (found,) = ask(space, question, encoder=encoder, say=said.append)
    assert found.shape == (20,)
    assert max(map(len, encoder.calls)) <= 4
    assert "words ran out of memory with 21 texts at once: now 10" in said[0]


def test_an_encoder_is_loaded_when_the_first_question_comes() -> None:
    loaded: list[WordEncoder] = []

    def load() -> WordEncoder:
        loaded.append(WordEncoder())
        return loaded[-1]

    space = space_of(2)
    solve(Double(constant()), [job(space, asking(scores_of((0, 0))))], encoder=load)
    assert not loaded
    question = Similarities(rows_of([1, 0]), space.origin)
    ask(space, question, question, encoder=load)
    assert len(loaded) == 1


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Similarities(rows_of([UNKNOWN, 0]), rows_of([0, 0])), "members of the space"),
        (Similarities(rows_of([9, 0]), rows_of([0, 0])), "members of the space"),
        (Similarities(rows_of([1, 0]), rows_of([0, 0])[0], window=3), "not None"),
        (Similarities(rows_of([1, 0]), rows_of([0, 0])[0], window=3, centre=2), "from 0 to 1"),
        (Similarities(rows_of([1, 0]), rows_of([0, 0])[0], window=0, centre=1), "1 word or more"),
        (Proposals(rows_of([0, 0])[0], 2, 5), "outside a text of 2 words"),
        (Proposals(rows_of([0, 0])[0], 0, 0), "1 or more proposals"),
    ],
)
def test_bad_questions_fail_their_text(question: Any, said: str) -> None:
    jobs = [job(space_of(2), asking(question))]
    (result,) = solve(Double(constant()), jobs, encoder=WordEncoder(), masked=Echo()).values()
    assert result.error is not None
    assert InputError.__name__ in result.error
    assert said in result.error


def test_calls_are_counted_apart_from_the_victims() -> None:
    space = space_of(3)
    engine = Engine(Double(constant()), encoder=WordEncoder(), masked=Echo())
    rows = space.neighbours(space.origin)
    program = asking(Similarities(rows, space.origin), Proposals(space.origin, 0, 3))
    list(engine.run([job(space, program)]))
    assert (engine.stats.encoded, engine.stats.proposed) == (7, 1)
    assert (engine.stats.queries, engine.stats.forwards) == (0, 0)


# --- proposals ----------------------------------------------------------------------------------


def test_proposals_of_many_texts_share_batches_and_are_remembered() -> None:
    masked, spaces = Echo(batch_rows=8), [space_of(3, name) for name in "abcdefghijkl"]
    question = Proposals(spaces[0].origin, 2, 2)
    seen = Proposals(spaces[0].origin, 2, 2, masked=False)
    jobs = [job(s, asking(question, question, seen)) for s in spaces]
    results = solve(Double(constant()), jobs, masked=masked)
    assert sum(masked.calls) == 24  # asked three times, twice the same
    assert max(masked.calls) == 8
    assert len(masked.calls) <= 4
    for space in spaces:
        one, two, three = results[str(space.original)].value
        assert one == two == [Proposal("?0", 0.0), Proposal("?1", -1.0)]
        assert [p.word for p in three] == [f"{space.original.words[2]}{i}" for i in range(2)]
        assert one is not two


def test_proposals_are_for_the_row_as_it_is() -> None:
    space = space_of(3)
    row = rows_of([0, 2, 0])[0]
    (found,) = ask(space, Proposals(row, 1, 1, masked=False), masked=Echo())
    assert found == [Proposal("two10", 0.0)]


def test_a_failing_request_fails_its_text_alone() -> None:
    spaces = [space_of(2, name) for name in "abcde"]
    jobs = [job(s, asking(Proposals(s.origin, 0, 1))) for s in spaces]
    results = solve(Double(constant()), jobs, masked=Echo(broken="dalpha", limit=2))
    errors = {key: r.error for key, r in results.items() if r.error}
    assert errors == {"dalpha dbeta": "echo failed on 'dalpha dbeta': RuntimeError: lost for words"}


def test_nobody_asks_for_what_a_text_that_failed_still_wanted() -> None:
    class Strict(Echo):
        def propose(self, requests: Any) -> Any:
            if not requests:
                raise IndexError("no requests")
            return super().propose(requests)

    space = space_of(2, "d")
    both = job(space, asking((Proposals(space.origin, 0, 1), Proposals(space.origin, 1, 1))))
    masked = Strict(broken="dalpha")
    (result,) = solve(Double(constant()), [both], masked=masked).values()
    assert result.error == "echo failed on 'dalpha dbeta': RuntimeError: lost for words"


@pytest.mark.parametrize("answer", [[], [["word"]], [[Proposal("a", 0.0), Proposal("b", 0.0)]]])
def test_what_is_no_proposal_is_refused(answer: Any) -> None:
    masked = Echo()
    masked.propose = lambda requests: answer  # type: ignore[method-assign]
    space = space_of(2)
    jobs = [job(space, asking(Proposals(space.origin, 0, 1)))]
    (result,) = solve(Double(constant()), jobs, masked=masked).values()
    assert "expected for each a list of at most k proposals" in result.error


# --- batches ------------------------------------------------------------------------------------


def climbing(space: Space) -> Program[Any]:
    """Asks similarities and scores in turns, the next question depending on the answers."""
    row = space.origin
    for column in range(len(space.positions)):
        rows = space.at(row, column)
        close = yield Similarities(rows, row, 3, column)
        scores = yield scores_of(*rows[np.argsort(-close, kind="stable")].tolist())
        words = yield Proposals(row, column, 2)
        row = rows[(len(words[0].word) + int(scores[:, 1].argmax())) % len(rows)]
    return row


def test_outcomes_depend_on_neither_batches_nor_company() -> None:
    spaces = [space_of(n, name) for n, name in zip((1, 3, 4, 7, 2, 9), "abcdef", strict=True)]
    weights = {w: float(len(w)) for s in spaces for c in s.candidates for w in c}

    def run(batch: int, in_flight: int, rows: int, kind: type[WordEncoder]) -> Any:
        jobs = [job(s, climbing(s)) for s in spaces]
        encoder, masked = kind(batch_rows=rows), Echo(batch_rows=rows)
        victim = Double(linear(weights))
        return ends(
            solve(victim, jobs, batch=batch, in_flight=in_flight, encoder=encoder, masked=masked)
        )

    expected = run(64, 64, 64, WordEncoder)
    assert all(value[-1] for value in expected.values())
    for batch, in_flight, rows in [(1, 1, 1), (3, 2, 5), (128, 3, 2), (2, 64, 128)]:
        for kind in (WordEncoder, RowEncoder):
            assert run(batch, in_flight, rows, kind) == expected
