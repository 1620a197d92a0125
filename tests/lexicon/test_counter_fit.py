"""Counter-fitting: gradient against finite differences, neighbours by brute force, what moves."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiny_lexicon import write_wordnet
from unfooled.errors import InputError
from unfooled.lexicon import counter_fit_asset, vectors
from unfooled.lexicon.constraints import constraints
from unfooled.lexicon.counter_fit import (
    CounterFit,
    Terms,
    fit,
    neighbours,
    normalised,
    objective,
    stepped,
)
from unfooled.lexicon.vectors import Vectors


def random_terms(rng: np.random.Generator, rows: int, count: int) -> Terms:
    pairs = np.array([rng.choice(rows, size=2, replace=False) for _ in range(count)])
    return Terms(
        pairs[:, 0],
        pairs[:, 1],
        rng.choice([-1.0, 1.0], size=count).astype(np.float32),
        rng.uniform(0, 1, size=count).astype(np.float32),
        rng.uniform(0.1, 1, size=count).astype(np.float32),
    )


def plain_loss(matrix: np.ndarray, terms: Terms) -> float:
    """The objective pair by pair, for rows of any length."""
    total = 0.0
    for a, b, sign, limit, weight in zip(
        terms.first, terms.second, terms.sign, terms.limit, terms.weight, strict=True
    ):
        u, w = matrix[a], matrix[b]
        distance = 1 - u @ w / (np.linalg.norm(u) * np.linalg.norm(w))
        total += float(weight) * max(0.0, float(sign) * (distance - float(limit)))
    return total


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_the_gradient_is_that_of_finite_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = normalised(rng.normal(size=(6, 4)))
    terms = random_terms(rng, 6, 12)
    slope = objective(matrix, terms)
    assert slope.loss == pytest.approx(plain_loss(matrix, terms), rel=1e-9)
    step = 1e-6
    for row in range(6):
        for column in range(4):
            nudge = np.zeros_like(matrix)
            nudge[row, column] = step
            rise = plain_loss(matrix + nudge, terms) - plain_loss(matrix - nudge, terms)
            assert slope.gradient[row, column] == pytest.approx(rise / (2 * step), abs=1e-5)


def test_only_violated_pairs_count_and_a_step_is_their_mean() -> None:
    # Rows at 0, 60 and 90 degrees. The antonyms 0-1 are 0.5 apart and should be 1 apart; 0-2 are
    # 1 apart already. So row 0 moves against (cos 60 u - w) = (0, -0.866) by 0.1 of it.
    matrix = np.array([[1, 0], [0.5, 0.75**0.5], [0, 1]])
    ones = np.ones(2, dtype=np.float32)
    terms = Terms(np.array([0, 0]), np.array([1, 2]), -ones, ones, 0.1 * ones)
    slope = objective(matrix, terms)
    assert slope.loss == pytest.approx(0.05)
    assert slope.violated.tolist() == [1, 1, 0]
    assert slope.gradient[0] == pytest.approx([0, 0.1 * 0.75**0.5])
    new = stepped(matrix, [slope])
    assert new[0] == pytest.approx(normalised(np.array([[1, -0.1 * 0.75**0.5]]))[0])
    assert new[2].tolist() == [0, 1]


def test_parts_are_averaged_apart() -> None:
    # Row 0 has one pair in one part and two equal ones in another: as if each part had one.
    matrix = np.array([[1.0, 0.0], [0.0, 1.0]])

    def terms(pairs: int, sign: float, limit: float) -> Terms:
        same = np.ones(pairs, dtype=np.float32)
        ends = np.zeros(pairs, dtype=np.int64)
        return Terms(ends, ends + 1, sign * same, limit * same, 0.1 * same)

    one, many = (
        [objective(matrix, terms(n, 1, 0)), objective(matrix, terms(1, -1, 2))] for n in (1, 5)
    )
    assert many[0].loss == pytest.approx(5 * one[0].loss)
    assert stepped(matrix, many) == pytest.approx(stepped(matrix, one))
    assert stepped(matrix, many) == pytest.approx(matrix)  # the two parts ask for opposite things


def test_neighbours_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(1)
    matrix = normalised(rng.normal(size=(1100, 3)))  # more than two blocks
    one, two, distance = neighbours(matrix, 0.01)
    found = dict(zip(zip(one.tolist(), two.tolist(), strict=True), distance, strict=True))
    cosines = matrix @ matrix.T
    expected = {(i, j) for i, j in combinations(range(1100), 2) if 1 - cosines[i, j] <= 0.01}
    assert len(expected) > 500
    assert set(found) == expected
    assert all(found[i, j] == pytest.approx(1 - cosines[i, j], abs=1e-12) for i, j in expected)


def toy() -> Vectors:
    rng = np.random.default_rng(5)
    base = rng.normal(size=(40, 30))
    base[1] = base[0] + 0.1 * rng.normal(size=30)  # w0 and w1: antonyms that lie together
    base[4] = base[0] + 0.1 * rng.normal(size=30)  # a neighbour of both
    return Vectors(tuple(f"w{i}" for i in range(40)), (3 * base).astype(np.float32))


PAIRS = constraints([("w2", "w3"), ("w5", "w6"), ("w0", "w1")], [("w0", "w1"), ("w7", "gone")])


def test_antonyms_go_apart_synonyms_together_and_the_rest_stays() -> None:
    before = toy()
    fitted = fit(before, PAIRS, options=CounterFit(epochs=60))
    after = fitted.vectors
    assert fitted.pairs == {"antonyms": 1, "synonyms": 2, "preserved": 2}  # w0-w4 and w1-w4
    assert before.cosine("w0", "w1") > 0.9
    assert after.cosine("w0", "w1") < 0.3
    for pair in (("w2", "w3"), ("w5", "w6")):
        assert after.cosine(*pair) > max(0.95, before.cosine(*pair))
    assert np.linalg.norm(after.matrix, axis=1) == pytest.approx(np.ones(40), abs=1e-6)
    still = [row for row in range(40) if row not in (0, 1, 2, 3, 4, 5, 6)]
    assert (after.matrix[still] == normalised(before.matrix)[still]).all()


def test_the_objective_falls() -> None:
    losses = fit(toy(), PAIRS).losses
    assert len(losses) == 21
    assert all(later < earlier for earlier, later in pairwise(losses))
    assert losses[-1] < 0.3 * losses[0]


def test_preserving_takes_a_neighbour_along() -> None:
    drawn_away = constraints([("w4", "w9")], [])
    held, free = (
        fit(toy(), drawn_away, options=CounterFit(preserve=weight)).vectors for weight in (0.1, 0.0)
    )
    assert held.cosine("w0", "w4") > free.cosine("w0", "w4") + 0.1
    assert (free.matrix[0] == normalised(toy().matrix)[0]).all()
    assert held.cosine("w4", "w9") > toy().cosine("w4", "w9")


def test_seeds_decide_batches_and_nothing_else() -> None:
    def run(**options: int) -> bytes:
        return fit(toy(), PAIRS, options=CounterFit(epochs=3, **options)).vectors.matrix.tobytes()

    assert run(seed=1) == run(seed=2)  # one batch: nothing is drawn
    assert run(batches=3, seed=1) == run(batches=3, seed=1)
    assert run(batches=3, seed=1) != run(batches=3, seed=2)


def test_rare_words_take_part_only_through_constraints() -> None:
    table = toy()
    fitted = fit(table, PAIRS, options=CounterFit(vocabulary=2))
    assert fitted.pairs["preserved"] == 0  # w4 is not among the two most frequent words
    assert (fitted.vectors.matrix[4] == normalised(table.matrix)[4]).all()
    assert fitted.vectors.cosine("w5", "w6") > table.cosine("w5", "w6")


def test_no_constraints_and_zero_vectors() -> None:
    table = Vectors(("a", "b", "nil"), np.array([[2, 0], [0, 3], [0, 0]], dtype=np.float32))
    fitted = fit(table, constraints([("a", "nil")], []))
    assert np.isfinite(fitted.vectors.matrix).all()
    assert fit(table, constraints([], [])).vectors.matrix.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_progress_is_told() -> None:
    heard: list[tuple[str, float]] = []
    fit(toy(), PAIRS, options=CounterFit(epochs=2), told=lambda *news: heard.append(news))
    assert heard == [("neighbours", 1.0), ("epochs", 0.5), ("epochs", 1.0)]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"epochs": 0}, "epochs is at least 1, not 0"),
        ({"batches": 0}, "batches is at least 1, not 0"),
        ({"rho": 1.5}, "rho is at least 0 and less than 1, not 1.5"),
    ],
)
def test_bad_options(options: dict[str, float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        CounterFit(**options)


def test_the_recipe_writes_a_folder_that_can_be_read(tmp_path) -> None:
    table, folder = tmp_path / "glove", write_wordnet(tmp_path / "wordnet")
    (folder / "LICENSE").write_text("take it")
    table.mkdir()
    words = ["good", "bad", "film", "movie", "films", "movies"]
    rows = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
    rows[1] = rows[0] + 0.01
    np.save(table / "vectors.npy", rows)
    (table / "words.txt").write_text("\n".join(words) + "\n")
    content = counter_fit_asset.make({"glove-50": table, "wordnet": folder}, shown=False)
    assert sorted(content) == ["LICENSE.wordnet", "fit.json", "vectors.npy", "words.txt"]
    made = tmp_path / "made"
    made.mkdir()
    for name, data in content.items():
        (made / name).write_bytes(data)
    before, after = vectors.read(table), vectors.read(made)
    assert after.words == tuple(words)
    assert after.cosine("good", "bad") < before.cosine("good", "bad")
    for pair in (("film", "movie"), ("films", "movies")):
        assert after.cosine(*pair) > before.cosine(*pair)


@pytest.mark.slow
@pytest.mark.assets("glove-50", "wordnet")
def test_the_real_asset(asset) -> None:
    before, after = vectors.read(asset("glove-50")), vectors.read(asset("glove-50-counter-fitted"))
    assert after.words == before.words
    for apart in (("good", "bad"), ("cheap", "expensive"), ("loved", "hated")):
        assert before.cosine(*apart) > 0.5
        assert after.cosine(*apart) < 0.35
    for near in (("film", "movie"), ("terrible", "dreadful")):
        assert after.cosine(*near) > before.cosine(*near)
