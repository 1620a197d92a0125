"""The page: its numbers are the summary's, its bytes repeat, and no text becomes markup."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_runs import CASES, HOSTILE, Case, Page, run

from runner_toys import DATA, TABLE, victim
from unfooled.auditing import read
from unfooled.errors import InputError, RunError
from unfooled.proofs import certify
from unfooled.report import write


def html(*folders: Path) -> str:
    return write(folders, folders[0] / "page.html").read_bytes().decode()


def shape(page: Page) -> Counter[tuple[str, tuple[str, ...]]]:
    """Elements with the names of their attributes."""
    return Counter((tag, tuple(sorted(attributes))) for tag, attributes in page.elements)


def test_the_cards_are_the_summary(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", CASES)
    summary = read(folder)[0].summary()
    values = Page(html(folder)).values()
    for key in ("texts", "clean_accuracy", "exact", "pr_above_0.9"):
        assert float(values[key]) == summary[key], key
    assert [float(v) for v in values["mean_minimum"].split()] == summary["mean_minimum"]
    assert {r: float(values[f"proved.{r}"]) for r in "123"} == summary["proved"]
    # By hand: of 6 audited texts 3 are exact (m = 1, m = 2, whole), 2 are proved to radius 3.
    assert (summary["exact"], summary["proved"]["3"]) == (3 / 6, 2 / 6)
    assert values["clean_accuracy"] == str(6 / 7)


def test_the_page_repeats_byte_by_byte(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", CASES)
    assert html(folder) == html(folder)
    assert html(folder, folder) == html(folder, folder)


def test_the_page_is_whole_and_asks_for_nothing(tmp_path: Path) -> None:
    content = html(run(tmp_path / "run", CASES))
    page = Page(content)
    assert page.open == []
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    links = [
        a.get(name) for _, a in page.elements for name in ("href", "src", "xlink:href") if name in a
    ]
    assert all(link is not None and link.startswith(("#", "data:")) for link in links)
    assert not [a for tag, a in page.elements if tag == "use" and a["xlink:href"][1:] not in ids]  # type: ignore[index]
    assert set(re.findall(r"url\(#([^)]+)\)", content)) <= set(ids)
    assert not re.findall(r"https?://(?!www\.w3\.org/(?:2000/svg|1999/xlink))", content)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_are_texts(tmp_path: Path, hostile: str) -> None:
    def pages(word: str, name: str) -> Page:
        cases = [
            Case("a fine film", (1, 2), proved=0, words=(word, word)),
            Case("a fine film too", "error", error=word),
        ]
        attacks = (word or "first", "second")
        folder = run(
            tmp_path / name, cases, victim=word, attacks=attacks, labels=[word, word],
            command=[word], fingerprints={"victim": word},
        )  # fmt: skip
        return Page(html(folder, folder))

    tame, wild = pages("tame", "tame"), pages(hostile, "wild")
    assert shape(wild) == shape(tame)
    assert hostile in wild.text
    assert not [a for _, a in wild.elements if any(name.startswith("on") for name in a)]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_source_is_shown_as_it_is(tmp_path: Path, hostile: str) -> None:
    as_long = " ".join(["word"] * len(Case(hostile).text.words))
    tame = Page(html(run(tmp_path / "tame", [Case(as_long, "skipped")])))
    wild = Page(html(run(tmp_path / "wild", [Case(hostile, "skipped")])))
    assert shape(wild) == shape(tame)
    assert hostile in wild.text


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(source=st.text(st.characters(exclude_characters="\r"), max_size=40))
def test_any_text_is_shown_and_adds_no_element(tmp_path: Path, source: str) -> None:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    page = Page(html(run(folder, [Case(source, "skipped")])))
    shown = source.encode("utf-8", "backslashreplace").decode()
    candidates = bool(Case(source).text.words)  # folded away where there are any
    assert shown in page.text
    assert [tag for tag, _ in page.elements].count("details") == 1 + 4 + candidates


def test_a_lone_surrogate_is_shown_as_its_escape(tmp_path: Path) -> None:
    assert (
        "half \\ud83d a"
        in Page(html(run(tmp_path / "run", [Case("half \ud83d a", "skipped")]))).text
    )


def test_nothing_runs_but_our_script(tmp_path: Path) -> None:
    page = Page(html(run(tmp_path / "run", CASES)))
    (policy,) = (a["content"] for _, a in page.elements if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert [tag for tag, _ in page.elements].count("script") == 1


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param([], id="empty"),
        pytest.param([CASES[6]], id="all skipped"),
        pytest.param([CASES[7]], id="all failed"),
        pytest.param([CASES[4]], id="one text, proved whole"),
        pytest.param([CASES[0]], id="one text, broken"),
        pytest.param([CASES[5]], id="one text, not broken"),
        pytest.param([Case("no pr at all", (1, 1))], id="no PR"),
        pytest.param([Case("", "skipped")], id="a text without words"),
        pytest.param([Case(("a man sleeps", "a man rests"), (1, 1), proved=0)], id="a pair"),
    ],
)
def test_small_audits_have_a_page(tmp_path: Path, cases: list[Case]) -> None:
    folder = run(tmp_path / "run", cases)
    page = Page(html(folder, folder))
    assert page.open == []
    assert page.values()["texts"] == str(len(cases))
    assert "None" not in page.text.replace("“None”", "")
    assert "nan" not in page.text.lower().split()
    assert Page(html(run(tmp_path / "bare", cases, costs=False))).values()["texts"] == str(
        len(cases)
    )


def test_the_texts_carry_bracket_evidence_and_candidates(tmp_path: Path) -> None:
    text = Page(html(run(tmp_path / "run", CASES))).text
    for shown in (
        "m = 1 exactly", "m = 2 exactly", "2 ≤ m ≤ 3", "m ≥ 4, not broken", "no swap fools it",
        "m ≥ 1, not broken", "No text within 3 swaps fools the victim: proved by exhaustive",
        "A text with 3 swaps fools the victim: found by pdp.", "Candidates at 6 positions",
        "swapped, other", "VictimError: it fell", "between 0.480 and 0.520 with confidence 99.5 %",
        "unfooled audit 'a victim' mr", "sha256:f00d",
    ):  # fmt: skip
        assert shown in text, shown
    assert "robust" not in text.replace("robustness to word swaps", "")


def test_several_runs_are_compared(tmp_path: Path) -> None:
    first = run(tmp_path / "a", CASES, victim="first")
    second = run(tmp_path / "b", CASES[:2], victim="second", radius=2)
    text = Page(html(first, second)).text
    assert "2 runs side by side" in text
    assert "first, second: robustness" in text
    line = next(part for part in text.split("\n") if part.startswith("Known exactly"))
    assert line == "Known exactly50.0 %100.0 %"
    assert next(p for p in text.split("\n") if p.startswith("Proved within 3")).endswith("33.3 %–")


def test_the_page_goes_where_it_was_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run(tmp_path / "run", CASES)
    monkeypatch.chdir(tmp_path)
    assert write([folder]) == folder / "report.html"
    assert write([folder, folder]) == Path("report.html")
    assert write([str(folder)], tmp_path) == tmp_path / "report.html"
    made = write([folder], tmp_path / "new" / "page.html")
    assert made.read_bytes() == (folder / "report.html").read_bytes()
    assert not list(tmp_path.rglob("*.new"))


def test_wrong_arguments_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="runs is a list of run folders"):
        write([])
    with pytest.raises(InputError, match="runs is a list of run folders"):
        write("runs/audit")
    with pytest.raises(RunError):
        write([tmp_path / "nowhere"])
    folder = run(tmp_path / "run", [])
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write the report to"):
        write([folder], tmp_path / "file" / "page.html")


def test_runs_of_one_victim_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    text = Page(html(run(tmp_path / "before", CASES), run(tmp_path / "after", CASES))).text
    assert "1 toy, before" in text
    assert "2 toy, after" in text
    assert str(tmp_path) not in text


def test_a_run_of_a_certifier_is_told_where_a_report_comes_from(tmp_path: Path) -> None:
    certify("exhaustive", victim(), DATA, candidates=TABLE, radius=1, out=tmp_path / "run")
    with pytest.raises(InputError, match=r"unfooled audit \.\.\. --certifiers exhaustive"):
        write([tmp_path / "run"])
