"""Words, rows, radii and figures against values worked out by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path

import matplotlib
import pytest
from report_runs import CASES, Case, run

from unfooled.audited import Audit
from unfooled.auditing import audit as run_audit
from unfooled.auditing import read
from unfooled.estimates import Estimated
from unfooled.evidence import Bracket
from unfooled.report import figures, minima, radii, svg, texts, wording
from unfooled.report.page import origin
from unfooled.space import Space
from unfooled.text import Example, Text
from victim_doubles import Double, linear

START = Bracket.original()


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return read(run(tmp_path / "run", CASES))[0]


@pytest.mark.parametrize(
    ("bracket", "said"),
    [
        (START.attacked(2, "pdp").proved(1, "exhaustive"), "m = 2 exactly"),
        (START.attacked(5, "pdp").proved(2, "exhaustive"), "3 ≤ m ≤ 5"),
        (START.withstood("pdp").proved(4, "exhaustive"), "m ≥ 5, not broken"),
        (START.withstood("pdp").proved(math.inf, "exhaustive"), "no swap fools it"),
    ],
)
def test_brackets_in_words(bracket: Bracket, said: str) -> None:
    assert wording.bracket(bracket) == said


def test_both_sides_name_who_says_so() -> None:
    found = START.attacked(5, "pdp").proved(2, "exhaustive", detail="17 texts scored")
    assert wording.below(found) == (
        "No text within 2 swaps fools the victim: proved by exhaustive (17 texts scored)."
    )
    assert wording.above(found) == "A text with 5 swaps fools the victim: found by pdp."
    assert "proved by" not in wording.below(START)
    assert wording.above(START.withstood("pdp")).startswith(
        "Not broken: pdp (not broken). More swaps"
    )
    assert "whole space" in wording.above(START.proved(math.inf, "exhaustive"))


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), (3, "3"), (12345.0, "12,345"), (1.955, "1.96"), (0.0123, "0.012"), (math.inf, "∞"),
     (2609.06, "2,609")],
)  # fmt: skip
def test_numbers_are_short(value: float | None, said: str) -> None:
    assert wording.number(value) == said


def test_intervals_and_confidences() -> None:
    assert wording.interval(1.5, 2.25) == "1.50 to 2.25"
    assert wording.interval(2, 2) == "2"
    assert wording.interval(None, None) == "–"
    assert wording.confidence(1e-4) == "99.99 %"


@pytest.mark.parametrize(
    ("value", "low", "exact", "said"),
    [
        (1.0, 1.0, True, "PR 1.000"),
        (0.5, 0.48, False, "PR 0.500"),
        (1.0, 0.9812, False, "PR > 0.981"),  # every sample kept the label, which proves nothing
        (0.9996, 0.97, False, "PR > 0.970"),
        (0.99991, 0.99991, True, "PR > 0.999"),
        (None, 0.0, False, ""),
    ],
)
def test_only_a_certain_pr_is_shown_as_one(
    value: float | None, low: float, exact: bool, said: str
) -> None:
    found = Estimated("a", Text.parse("x"), 0, value, low, 1.0, exact=exact)
    assert wording.pr_short(found) == said
    assert wording.pr_short(None) == ""


def test_pr_says_what_it_rests_on() -> None:
    def pr(**fields: object) -> str:
        return wording.pr(Estimated("a", Text.parse("x"), 0, **fields), delta=0.005)  # type: ignore[arg-type]

    assert pr(value=1.0, exact=True, method="proved").startswith("1 exactly: the whole radius")
    assert pr(value=0.25, exact=True, method="exact").startswith("0.2500 exactly: every text")
    cut = {"value": 0.515, "low": 0.152, "high": 0.879, "samples": 9, "method": "exact"}
    assert pr(**cut, size=1033) == (
        "0.515, between 0.152 and 0.879 for certain, 9 of 1,033 texts scored"
    )
    assert pr(**cut).endswith("for certain, 9 texts scored")  # of an older run
    assert pr(error="out of queries") == "not measured: out of queries"
    assert wording.pr(None, delta=0.1) == "not measured"


def test_the_paragraphs_keep_proof_attack_and_estimate_apart(tmp_path: Path) -> None:
    audit, manifest = read(run(tmp_path / "run", CASES))
    said = dict(wording.paragraphs(audit, manifest))
    assert "Of 8 texts, 1 it misclassifies" in said["Asked"]
    assert "on 1 it failed, and 6 were audited" in said["Asked"]
    assert said["Proved"].startswith("For 2 of 6 texts (33.3 %) the certifier (exhaustive)")
    assert "For 1 of 6 texts (16.7 %) no number of swaps does." in said["Proved"]
    assert "For 2 of 6 texts (33.3 %) m is known exactly" in said["Proved"]
    assert "not excluded: 1 of 6 texts" in said["Only attacked"]
    assert "not proved as a whole: 2 of 6 texts" in said["Only attacked"]
    # Sampled: three by the estimator and one at 0.9995; exact: one scored, one proved.
    assert "exact for 2 texts and was sampled for 4 texts" in said["Estimated"]


def test_the_filters_of_each_text(audit: Audit) -> None:
    assert [texts.kinds(item) for item in audit] == [
        ("exact", "broken"),
        ("exact", "broken"),
        ("broken", "undecided"),
        ("intact", "undecided"),
        ("exact", "whole"),
        ("intact", "undecided"),
        ("skipped",),
        ("error",),
    ]
    assert {kind for item in audit for kind in texts.kinds(item)} == set(texts.KINDS)


def test_the_diff_is_cut_at_the_swaps_and_loses_nothing() -> None:
    text = Text.parse("  It 's a  good, well-made film. ")
    (side,) = texts.sides(text, {3: "fine", 0: "There"})
    assert [p for p in side.pieces if p.new] == [("It", "There"), ("good", "fine")]
    assert "".join(p.old for p in side.pieces) == str(text)
    assert "".join(p.old if p.new is None else p.new for p in side.pieces) == str(
        text.swap({3: "fine", 0: "There"})
    )


@pytest.mark.parametrize("editable", ["first", "second", "both"])
def test_pairs_show_both_sides(editable: str) -> None:
    text = Text.pair("a man sleeps .", " he rests", editable=editable)  # type: ignore[arg-type]
    last = len(text.words) - 1
    sides = texts.sides(text, {0: "NEW", last: "END"})
    assert [side.name for side in sides] == ["premise", "hypothesis"]
    assert tuple("".join(p.old for p in side.pieces) for side in sides) == text.source
    swapped = [side.name for side in sides for p in side.pieces if p.new is not None]
    expected = {
        "first": ["premise"] * 2,
        "second": ["hypothesis"] * 2,
        "both": ["premise", "hypothesis"],
    }
    assert swapped == expected[editable]
    assert [side.fixed for side in sides] == [editable == "second", editable == "first"]


def test_rows_survive_labels_that_the_manifest_does_not_name(audit: Audit) -> None:
    assert texts.row(audit[0], labels=["no", "yes"], delta=0.1).label == "yes"
    assert texts.row(audit[0], labels=[], delta=0.1).label == "1"


def test_candidates_stand_beside_the_word_they_replace(audit: Audit) -> None:
    places = texts.row(audit[1], labels=[], delta=0.1).places
    assert places[0] == (1, "a", "swapped, other")
    assert len(places) == 5
    assert len(texts.row(audit[0], labels=[], delta=0.1).places) == 5  # one swap fools it: no proof


def test_found_certified_and_unknown_by_radius(audit: Audit) -> None:
    table = radii.by_radius(audit)
    assert [(r.found.texts, r.certified.texts, r.unknown.texts) for r in table] == [
        (1, 4, 1), (2, 2, 2), (3, 2, 1),
    ]  # fmt: skip
    summary = audit.summary()
    assert {str(r.radius): r.found.share for r in table} == summary["broken"]
    assert {str(r.radius): r.certified.share for r in table} == summary["proved"]
    # Each attack asked 5 and forwarded 4 per text at 2 s / 20; the prover 30 and 10.
    assert table[0].found[2:] == pytest.approx((10, 0.8))
    assert table[0].certified[2:] == pytest.approx((30, 1.0))


def test_no_text_has_no_share(tmp_path: Path) -> None:
    audit, _ = read(run(tmp_path / "run", [CASES[6]]))
    (line, *_) = radii.by_radius(audit)
    assert line.found == (0, None, None, None)
    assert figures.survival(audit, name="f") is None
    assert figures.violin(audit, name="f") is None
    assert figures.scatter(audit, ("pdp", "greedy"), name="f") is None
    assert figures.compared([audit, audit], name="f") is None


def test_the_bands_are_those_of_the_brackets(audit: Audit) -> None:
    shares = figures.bands(figures.brackets(audit), 3)
    assert shares.proved == [1, 4 / 6, 2 / 6, 2 / 6]
    assert shares.broken == [0, 1 / 6, 2 / 6, 3 / 6]
    assert [sum(column) for column in zip(*shares, strict=True)] == pytest.approx([1, 1, 1, 1])


def test_a_scatter_counts_texts_and_gives_failures_a_lane(tmp_path: Path) -> None:
    cases = [Case("a b c d", (1, 2))] * 2 + [
        Case("a b c d", (2, None)),
        Case("a b c d", (None, None)),
    ]
    cases = [Case(f"{c.source} {i}", c.swaps) for i, c in enumerate(cases)]
    audit, _ = read(run(tmp_path / "run", cases))
    drawn = figures.scatter(audit, ("pdp", "greedy"), name="f")
    assert drawn is not None
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert labels[-2:] == ["2", "1"]
    assert labels.count("none") == 2
    assert {"swaps, pdp", "swaps, greedy"} <= set(labels)


def test_figures_follow_the_theme_and_share_no_id(audit: Audit) -> None:
    first, second = (figures.survival(audit, name=name) for name in ("one", "two"))
    assert first is not None
    assert second is not None
    assert not re.findall(r"#[0-9a-f]{6}", first)
    assert "var(--proved)" in first
    assert "font-family" not in first
    assert "<style" not in first
    ids = [set(re.findall(r' id="([^"]+)"', drawn)) for drawn in (first, second)]
    assert all(ids)
    assert not ids[0] & ids[1]


def test_names_in_figures_are_plain_ascii() -> None:
    assert svg.plain("pdp") == "pdp"
    assert svg.plain("naïve\n\U0001f600") == "na?ve??"
    assert len(svg.plain("x" * 100)) == 24
    with svg.drawing("f", title='a "title" <b>') as drawn:
        drawn.axes.set_xlabel("<b>$x$</b>")
    assert "&lt;b&gt;$x$&lt;/b&gt;" in drawn.svg
    assert 'aria-label="a &quot;title&quot; &lt;b&gt;"' in drawn.svg


def test_equal_values_have_dots_but_no_density(tmp_path: Path) -> None:
    cases = [Case(f"text {i} x", (1, 1), pr=0.5) for i in range(3)]
    drawn = figures.violin(read(run(tmp_path / "run", cases))[0], name="f")
    assert drawn is not None
    assert "FillBetween" not in drawn
    assert drawn.count("var(--estimated)") >= 3


def test_the_origin_names_everything(tmp_path: Path) -> None:
    _, manifest = read(run(tmp_path / "run", CASES))
    entry = {"created": "later", "command": ["unfooled", "again"], "versions": {}}
    groups = {title: dict(pairs) for title, pairs in origin({**manifest, "resumed": [entry]})}
    assert groups["Run"]["command"] == "unfooled audit 'a victim' mr"
    assert groups["Run"]["seed"] == "7"
    assert groups["Run"]["resumed later"] == "unfooled again"
    assert groups["Options"]["pr.delta"] == "0.005"
    assert groups["Fingerprints"] == {"victim": "sha256:f00d", "data": "sha256:da7a"}
    assert "unfooled" in groups["Versions"]


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    said = dict(wording.paragraphs(*read(run(tmp_path / "part", CASES, texts=20))))
    assert "holds 8 of 20 texts" in said["Asked"]
    said = dict(wording.paragraphs(*read(run(tmp_path / "whole", CASES, texts=8))))
    assert "holds" not in said["Asked"]


def test_the_users_own_settings_change_nothing(audit: Audit) -> None:
    plain = figures.survival(audit, name="f")
    with matplotlib.rc_context({"lines.linewidth": 9, "figure.dpi": 30, "font.size": 30}):
        assert figures.survival(audit, name="f") == plain
        assert matplotlib.rcParams["font.size"] == 30


def test_labels_of_runs_do_not_lie_on_each_other() -> None:
    assert figures.apart({0: 0.5, 1: 0.1, 2: 0.5}, 0.1) == {1: 0.1, 0: 0.5, 2: pytest.approx(0.6)}
    assert figures.apart({}) == {}


def test_the_candidates_of_a_real_audit_are_those_of_its_space(tmp_path: Path) -> None:
    victim = Double(linear({"good": 2.0, "film": 1.0}, bias=0.5))
    space = Space("a good film", {1: ["fine", "great"], 2: ["movie"]})
    label = int(victim.scores(["a good film"])[0].argmax())
    example = Example(space.original, label, "one")
    found = run_audit(victim, [example], candidates=[space], radius=2, out=tmp_path / "run")
    for item in (found[0], read(tmp_path / "run")[0][0]):
        assert texts.row(item, labels=[], delta=0.1).places == [
            (2, "good", "fine, great"), (3, "film", "movie"),
        ]  # fmt: skip


def test_least_swaps_beside_an_attack(tmp_path: Path) -> None:
    cases = [
        Case("one two three four", (1, 1)),
        Case("five six seven eight", (3, 2), proved=1),  # greedy met the proof, pdp did not
        Case("nine ten eleven twelve", (4, None), proved=1),  # not exact
    ]
    found = read(run(tmp_path / "run", cases))[0]
    assert [(item.id, m) for item, m in minima.decided(found)] == [("t:0", 1), ("t:1", 2)]
    (example,) = minima.examples(found)
    assert (example.attack, example.swaps, example.minimum) == ("pdp", 3, 2)
    assert [piece.new for piece in example.least[0].pieces if piece.new] == ["swapped"] * 2
    assert [piece.new for piece in example.original[0].pieces if piece.new] == []
    assert "1 to 3" in str(minima.histogram(found, name="least"))
    assert "on 2 texts" in str(minima.increments(found, name="more"))
    shares = dict(minima.shares(found))
    assert shares == {
        "1": "66.7 %",
        "2": "0.0 % to 33.3 %",
        "3": "0.0 % to 33.3 %",
        "any number": "0.0 %",
    }


def test_no_least_swaps_where_nothing_is_decided(tmp_path: Path) -> None:
    found = read(run(tmp_path / "run", [Case("one two", (None, None))]))[0]
    assert minima.histogram(found, name="least") is None
    assert minima.increments(found, name="more") is None
    assert minima.examples(found) == []
