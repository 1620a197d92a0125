"""audit, certify, estimate, report and check on the command line, and parts of them merged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_desk import Desk, Done

import unfooled as uf
from unfooled.records import read


def audit(desk: Desk, *more: str, victim: str = "score") -> Done:
    return desk.run("audit", desk.victim(victim), desk.data, *desk.candidates, *more)


def test_an_audit_prints_its_figures_and_writes_its_report(desk: Desk) -> None:
    done = audit(desk, "--attacks", "pdp,greedy", "--out", "run", "-q")
    assert (done.code, done.err) == (0, "")
    shown = " ".join(done.out.split())
    assert "texts 5, 1 misclassified from the start" in shown
    assert "least fooling swaps known exactly 100.0 %" in shown
    assert "1 50.0 % 50.0 % 0.0 %" in shown, "two of four texts are fooled by one swap"
    assert done.out.splitlines()[-1] == "report run/report.html"
    assert "m = 2 exactly" in Path("run/report.html").read_text()


def test_progress_begins_with_the_size_of_the_proofs(desk: Desk) -> None:
    said = audit(desk, "--out", "run").err
    assert "2 proofs, at most" in said
    few = audit(desk, "--radius", "2", "--max-queries", "3", "--out", "few").err
    assert "beyond --max-queries 3" in few
    assert "raise --max-queries or lower --radius" in few


def test_an_audit_as_json_resumes(desk: Desk) -> None:
    first = audit(desk, "--out", "run", "--json").json
    kept = read("run").done
    again = audit(desk, "--out", "run", "--json").json
    assert read("run").done == kept
    assert first["exact"] == again["exact"] == 1.0
    assert first["proved"] == {"1": 0.5, "2": 0.25, "3": 0.25, "4": 0.25}
    assert first["report"] == "run/report.html"


@pytest.mark.parametrize(
    "command",
    [
        ("audit",),
        ("certify", "exhaustive"),
        ("estimate",),
    ],
)
def test_parts_are_the_whole(desk: Desk, command: tuple[str, ...]) -> None:
    def run(*more: str) -> Done:
        return desk.run(*command, desk.victim(), desk.data, *desk.candidates, "--json", *more)

    whole = run("--out", "whole").json
    for i in (1, 2, 3):
        assert run("--shard", f"{i}/3", "--out", f"part-{i}").code == 0
    done = desk.run("merge", "part-1", "part-2", "part-3", "-o", "joined", "--json")
    assert (done.code, done.err) == (0, "")
    joined = done.json
    for figures in (whole, joined):
        for name in ("run", "report"):
            figures.pop(name, None)
        for cost in figures.get("costs", {}).values():
            del cost["seconds"]
    assert joined == whole
    assert read("joined").done == read("whole").done


def test_parts_without_a_folder_of_their_own(desk: Desk) -> None:
    for i in (1, 2):
        assert audit(desk, "--shard", f"{i}/2", "-q").code == 0
    names = sorted(p.name for p in Path("runs").iterdir())
    assert [name[-7:] for name in names] == ["-1-of-2", "-2-of-2"]


def test_a_run_is_checked_with_the_victim_that_it_names(desk: Desk) -> None:
    assert audit(desk, "--out", "run", "-q").code == 0
    spot, full = desk.run("check", "run", "--json"), desk.run("check", "run", "--full", "--json")
    assert (spot.code, full.code) == (0, 0)
    assert spot.json["spot_checked"] == 2
    assert full.json["spot_checked"] == 0
    assert full.json["checked"] == spot.json["checked"] + 2
    named = desk.run("check", "run", desk.victim("turned"))
    assert named.code == 2, "another victim"
    assert "another victim" in named.err


def test_a_tampered_run_is_refused_with_exit_code_1(desk: Desk) -> None:
    assert audit(desk, "--out", "run", "-q").code == 0
    path = Path("run/records.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line.get("verdict") == "certified":
            line["certificate"]["least_margin"] += 0.5
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = desk.run("check", "run")
    assert done.code == 1
    assert "the least margin is said to be" in done.out


def test_data_and_candidates_are_compared_and_what_is_not_is_listed(desk: Desk) -> None:
    assert audit(desk, "--out", "run", "-q").code == 0
    alone = desk.run("check", "run", "--json")
    assert alone.code == 0
    assert any("data set" in line for line in alone.json["not_checked"])
    assert not any("candidates" in line for line in alone.json["not_checked"]), "the run names them"
    given = desk.run("check", "run", "--data", desk.data, "--candidates", "none")
    assert given.code == 0
    assert "not checked: whether the candidates are those of" in given.out
    assert "data set" not in given.out
    fewer = desk.run("check", "run", "--data", desk.data, "--limit", "2")
    assert fewer.code == 1
    assert "data that was given" in fewer.out


def test_a_victim_made_in_python_must_be_named(desk: Desk) -> None:
    victim = uf.victim(lambda texts: [[0.0, 1.0] for _ in texts], ["neg", "pos"], name="mine")
    uf.audit(victim, [("a good film", 1)], candidates={"good": ["fine"]}, out="run")
    done = desk.run("check", "run")
    assert done.code == 2
    assert "made in Python with the victim mine" in done.err
    assert done.err.count("\n") == 1


def test_certify_and_estimate_print_small_tables(desk: Desk) -> None:
    options = (desk.victim(), desk.data, *desk.candidates, "-q")
    proved = desk.run("certify", "exhaustive", *options, "--radius", "1")
    shown = " ".join(proved.out.split())
    assert proved.code == 0
    assert "certified 2 falsified 2 unknown 1" in shown
    assert "near-tie" in shown
    guessed = desk.run("estimate", *options, "--radius", "1")
    assert guessed.code == 0
    assert "counted exactly 4" in " ".join(guessed.out.split())


MIXED = "text,label\na good film,pos\na great film,neg\na great film,pos\na bad film,pos\n"


def test_misclassified_texts_are_counted_apart(desk: Desk) -> None:
    data = desk.write("mixed.csv", MIXED)
    options = (desk.victim(), data, *desk.candidates, "--radius", "1")
    proved = desk.run("certify", "exhaustive", *options, "--json").json
    assert proved["misclassified"] == 2
    assert (proved["falsified"], proved["certified"]) == (1, 1)
    assert proved["radius"] == {"0": 1, "1": 1}
    told = " ".join(desk.run("certify", "exhaustive", *options, "-q").out.split())
    assert "certified 1 falsified 1 misclassified 2" in told
    guessed = desk.run("estimate", *options, "--json").json
    assert (guessed["texts"], guessed["misclassified"], guessed["errors"]) == (4, 2, 0)
    assert guessed["mean_pr"] == pytest.approx((3 / 4 + 1) / 2)  # of the two that are right
    assert guessed["pr_above_0.9"] == 0.5
    told = " ".join(desk.run("estimate", *options, "-q").out.split())
    assert "texts 4, 2 misclassified from the start mean PR 0.875" in told


def test_texts_that_fail_are_named_with_the_reason(desk: Desk) -> None:
    options = (desk.victim("touchy"), desk.data, *desk.candidates, "-q")
    for command in (("audit",), ("estimate",)):
        shown = " ".join(desk.run(*command, *options).out.split())
        assert "error in data:4: " in shown
        assert "RuntimeError: too [/great] for words" in shown


def test_an_audit_prints_widths_quartiles_and_accuracy(desk: Desk) -> None:
    figures = audit(desk, "--radius", "1", "--out", "run", "--json").json
    values = [3 / 4, 2 / 3, 1.0, 1.0]  # by hand: good and bad films; two swaps are needed; never
    assert figures["mean_pr"] == pytest.approx(sum(values) / 4)
    assert figures["pr_quartiles"] == pytest.approx([2 / 3 + 1 / 16, 0.875, 1.0])
    shown = " ".join(audit(desk, "--radius", "1", "--out", "run", "-q").out.split())
    assert "PR quartiles 0.729 / 0.875 / 1.000" in shown
    assert "mean least swaps, broken texts 1.33 mean bracket width, broken texts 0.00" in shown
    assert "mean least swaps if any (MMWS) 1.33" in shown
    assert "accuracy under attack 20.0 %" in shown  # only the great film, of five texts


def test_narrow_terminals_break_no_word(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = audit(desk, "--out", "run", "-q").out.splitlines()
    words = {word.strip(",:") for line in lines for word in line.split()}
    assert {"queries", "forwards", "seconds", "exhaustive", "unknown"} <= words
    assert not any("…" in word for word in words)


def test_a_report_compares_runs(desk: Desk) -> None:
    for name in ("score", "noisy"):
        assert audit(desk, "--out", name, "-q", victim=name).code == 0
    done = desk.run("report", "score", "noisy", "-o", "both.html")
    assert done.code == 0
    assert "Mean least swaps of broken texts" in Path("both.html").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ("audit", "VICTIM", "DATA", "--attacks", "pdq"),
            "no attack named 'pdq'; did you mean 'pdp'",
        ),
        (("audit", "VICTIM", "DATA", "--attacks", ","), "attacks is a list of names"),
        (("audit", "VICTIM", "DATA", "--epsilon", "2"), "epsilon"),
        (("certify", "exhaustion", "VICTIM", "DATA"), "did you mean 'exhaustive'"),
        (("estimate", "VICTIM", "DATA", "--radius", "1", "--rate", "0.5"), "radius"),
        (("estimate", "VICTIM", "DATA", "--method", "guess"), "guess"),
        (("report", "nowhere"), "nowhere"),
        (("check", "nowhere"), "nowhere"),
        (("merge", "nowhere", "-o", "out"), "nowhere"),
    ],
)
def test_bad_input_is_one_sentence(desk: Desk, command: tuple[str, ...], said: str) -> None:
    real = {"VICTIM": desk.victim(), "DATA": desk.data}
    done = desk.run(*(real.get(word, word) for word in command))
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
