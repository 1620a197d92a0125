"""The page about attacks: its numbers are the summary's, its bytes repeat, no text becomes markup."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack_runs import OUTCOMES, attack_run, outcome
from report_runs import CASES, HOSTILE, Page, run

from companion_doubles import WordEncoder
from unfooled import data
from unfooled.errors import InputError, RunError
from unfooled.lexicon.vectors import Vectors
from unfooled.outcomes import Outcomes, read
from unfooled.report import attacks, histograms, write
from unfooled.swaps import study

TRAIN = data.load([("good old good film", "positive"), ("bad or fast times", "negative")])
VECTORS = Vectors(("good", "bad", "fast"), np.array([[1, 0], [1, 1], [0, 1]], dtype=np.float32))


def html(*folders: Path, **more: Any) -> str:
    return write(folders, folders[0] / "page.html", **more).read_bytes().decode()


def shape(page: Page) -> Counter[tuple[str, tuple[str, ...]]]:
    """Elements with the names of their attributes."""
    return Counter((tag, tuple(sorted(attributes))) for tag, attributes in page.elements)


def test_the_cards_are_the_summary(tmp_path: Path) -> None:
    folder, encoder = attack_run(tmp_path / "run"), WordEncoder()
    summary = read(folder)[0].summary(encoder=encoder)
    values = Page(html(folder, encoder=encoder)).values()
    for key, value in summary.items():
        if key not in ("failures", "exhausted", "errors", "mean_forwards"):
            assert float(values[key]) == value, key
    assert {k: int(values[f"failures.{k}"]) for k in summary["failures"]} == summary["failures"]
    # By hand: 8 scored, 7 right, 3 broken, with 1, 3 and 1 swaps.
    assert (summary["clean_accuracy"], summary["accuracy_under_attack"]) == (7 / 8, 4 / 8)
    assert (summary["mean_swaps"], summary["few_swaps"]) == (5 / 3, 2 / 3)
    assert list(summary["failures"].values()) == [1, 0, 1, 1, 1]
    assert "mean_similarity" not in Page(html(folder)).values()


def test_the_training_data_adds_a_table_and_a_figure(tmp_path: Path) -> None:
    folder = attack_run(tmp_path / "run")
    plain, told = (
        Page(html(folder)), Page(html(folder, train=TRAIN, vectors=VECTORS)),
    )  # fmt: skip
    figures = [[tag for tag, _ in page.elements].count("figure") for page in (plain, told)]
    assert figures == [1, 2]
    values = told.values()
    # Swapped: a, good, and, slow, good; in training good occurs twice, the others never.
    assert float(values["original_words.median_occurrences"]) == 0
    assert float(values["original_words.most_frequent_in_true_class"]) == 2 / 5
    assert (
        float(values["attack_words.median_occurrences"]) == 1
    )  # one 0, bad 1, or 1, fast 1, bad 1
    assert float(values["attack_words.unseen"]) == 1 / 5
    assert "because a word has no vector: 3" in told.text
    assert not [key for key in plain.values() if "words." in key]


def test_the_list_has_diffs_and_reasons_in_the_order_of_ids(tmp_path: Path) -> None:
    page = Page(html(attack_run(tmp_path / "run")))
    rows = [a for tag, a in page.elements if tag == "details" and a.get("class") == "text"]
    assert [row["data-kinds"] for row in rows] == [
        "broken", "broken", "intact", "intact", "intact", "intact", "skipped", "error", "broken",
    ]  # fmt: skip
    assert [row["data-swaps"] for row in rows] == ["3", "1", *[""] * 6, "1"]
    for shown in (
        "not broken: no candidates", "not broken: out of budget", "not broken: search found none",
        "not broken: not similar enough", "3 swaps", "positive → negative", "nothing to fool",
        "VictimError: it fell", "good bad and or slow fast plot", "unfooled attack greedy",
    ):  # fmt: skip
        assert shown in page.text, shown


def test_the_page_repeats_and_is_whole(tmp_path: Path) -> None:
    folder = attack_run(tmp_path / "run")
    more: dict[str, Any] = {"train": TRAIN, "vectors": VECTORS}
    content = html(folder, folder, **more)
    assert content == html(folder, folder, **more)
    page = Page(content)
    assert page.open == []
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert [tag for tag, _ in page.elements].count("script") == 1
    (policy,) = (a["content"] for _, a in page.elements if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_are_words(tmp_path: Path, hostile: str) -> None:
    def page(word: str, name: str) -> Page:
        found = [
            outcome("x:1", "a fine film", words=[word]),
            outcome(f"x:2{word}", "a fine film too", "error", error=word),
        ]
        folder = attack_run(
            tmp_path / name, found, attack=word, victim=word, labels=[word, f"not {word}"], command=[word],
            fingerprints={"victim": word},
        )  # fmt: skip
        train = data.load([(word, 0), ("a fine film", 1)], labels=[word, f"not {word}"])
        vectors = Vectors(("a", word.lower()), np.eye(2, dtype=np.float32))
        return Page(html(folder, folder, train=train, vectors=vectors))

    tame, wild = page("tame", "tame"), page(hostile, "wild")
    assert shape(wild) == shape(tame)
    assert hostile in wild.text
    assert not [a for _, a in wild.elements if any(name.startswith("on") for name in a)]


@pytest.mark.parametrize(
    "found",
    [
        pytest.param([], id="empty"),
        pytest.param([OUTCOMES[7]], id="all skipped"),
        pytest.param([OUTCOMES[8]], id="all errors"),
        pytest.param([OUTCOMES[6]], id="not broken"),
        pytest.param([outcome("t", ("a man sleeps", "a man rests"), words=["one"])], id="a pair"),
        pytest.param([outcome("t", "", "failed", positions=0)], id="no words"),
    ],
)
def test_small_runs_have_a_page(tmp_path: Path, found: list[Any]) -> None:
    folder = attack_run(tmp_path / "run", found)
    page = Page(html(folder, folder, train=TRAIN, vectors=VECTORS, encoder=WordEncoder()))
    assert page.open == []
    assert page.values()["texts"] == str(len(found))
    assert "None" not in page.text
    assert "nan" not in page.text.lower().split()


def test_several_attacks_are_compared(tmp_path: Path) -> None:
    first, second = (
        attack_run(tmp_path / "a", attack="greedy"),
        attack_run(tmp_path / "b", OUTCOMES[:1], attack="beam"),
    )
    text = Page(html(first, second)).text
    assert "2 runs side by side" in text
    assert "greedy on toy, beam on toy" in text
    lines = text.split("\n")
    assert "Success rate42.9 %100.0 %" in lines
    assert "Mean swaps1.671" in lines


def test_a_run_that_is_not_finished_says_so(tmp_path: Path) -> None:
    text = Page(html(attack_run(tmp_path / "run", OUTCOMES[:2], texts=5))).text
    assert "3 more texts were asked for" in text


def test_bars_are_counts(tmp_path: Path) -> None:
    found = Outcomes("greedy", OUTCOMES)
    drawn = histograms.by_swaps(found, name="x")
    assert drawn is not None
    assert 'aria-label="Broken texts by number of swaps, 1 to 3"' in drawn
    assert histograms.by_swaps(Outcomes("greedy", OUTCOMES[3:]), name="x") is None
    swapped = study(OUTCOMES, labels=["negative", "positive"], vectors=VECTORS)
    near = histograms.by_cosine(swapped, name="x")
    assert near is not None
    assert "median 0.71, of 2 swaps" in near
    assert histograms.by_cosine(study([], labels=[], vectors=VECTORS), name="x") is None


def test_wrong_runs_are_told(tmp_path: Path) -> None:
    audit, attack = run(tmp_path / "audit", CASES), attack_run(tmp_path / "attack")
    with pytest.raises(InputError, match="about audits or about attacks"):
        write([audit, attack])
    with pytest.raises(InputError, match="are for runs of attacks"):
        write([audit], train=TRAIN)
    with pytest.raises(RunError, match="is a run of audit, not of an attack"):
        attacks.read(audit)
