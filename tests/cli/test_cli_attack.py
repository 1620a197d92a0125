"""`unfooled attack`: the table, the run folder, options of the attack, JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_desk import Desk

import unfooled as uf
from companion_doubles import Echo
from unfooled import registry
from unfooled.cli import printing
from unfooled.cli.printing import default_folder
from unfooled.records import read


def figures(out: str) -> dict[str, str]:
    """The table under the word diffs."""
    rows = re.findall(r"^([a-z/ ]+?)  +(\S.*?) *$", out, re.MULTILINE)
    return dict(rows)


def test_the_table(desk: Desk) -> None:
    done = desk.attack("--out", "run")
    assert (done.code, done.err) == (0, "")
    shown = figures(done.out)
    assert float(shown.pop("texts/s")) > 0
    assert shown == {
        "attack": "greedy",
        "texts": "5",
        "clean accuracy": "80.0 %",
        "accuracy under attack": "20.0 %",
        "success rate": "75.0 %",
        "mean swaps": "1.3",
        "at most two swaps": "100.0 %",
        "words swapped": "38.9 %",
        "characters edited": "4.7",
        "queries per text": "5.8",
        "forwards per text": "4.8",
        "search found none": "1",
    }
    assert done.out.splitlines()[-1] == "run run"


def test_word_diffs(desk: Desk) -> None:
    out = desk.attack("--out", "run").out
    assert "pos → neg  1 swap\na [good → ok] film\n" in out
    assert "neg → pos  1 swap\na [bad → nice] film\n" in out
    assert "pos → neg  2 swaps\na [fine → ok] [good → ok] film\n" in out
    shown = desk.attack("--out", "run", "--show", "1").out
    assert shown.count("→ neg") + shown.count("→ pos") == 1
    assert "→" not in desk.attack("--out", "run", "--show", "0").out


def test_json_is_one_object_and_the_summary(desk: Desk) -> None:
    shown = desk.attack("--out", "run", "--json").json
    assert shown.pop("seconds") > 0
    assert shown == {
        "run": "run",
        "texts": 5,
        "clean_accuracy": 0.8,
        "accuracy_under_attack": 0.2,
        "success_rate": 0.75,
        "mean_swaps": pytest.approx(4 / 3),
        "mean_swapped_share": pytest.approx(7 / 18),
        "few_swaps": 1.0,
        "mean_edits": pytest.approx(14 / 3),
        "mean_queries": 5.75,
        "mean_forwards": 4.75,
        "failures": {"no_candidates": 0, "no_swaps": 0, "budget": 0, "constraint": 0, "search": 1},
        "exhausted": 0,
        "errors": 0,
    }


def test_a_victim_that_prints_does_not_spoil_the_json(desk: Desk) -> None:
    done = desk.attack("--json", victim="noisy")
    assert done.json["texts"] == 5
    assert "scoring 12" in done.err


def test_the_same_command_goes_on_and_claims_no_speed_for_what_was_there(desk: Desk) -> None:
    first = desk.attack()
    again = desk.attack()
    [folder] = Path("runs").iterdir()
    assert first.out.splitlines()[-1] == again.out.splitlines()[-1] == f"run {folder}"
    assert figures(again.out).pop("texts/s") == "–"
    assert len(read(folder).done) == 5


def test_another_question_gets_another_folder(desk: Desk) -> None:
    data = desk.write("split.csv", "text,label,split,body\na good film,pos,a,bad\nbad,neg,b,bad\n")
    other = desk.write("table2.json", '{"good": ["ok"]}')
    questions: list[tuple[dict, tuple[str, ...]]] = [
        ({}, ()),
        ({"name": "beam"}, ()),
        ({"name": "beam"}, ("--width", "8")),
        ({"victim": "turned"}, ()),
        ({"data": data}, ()),
        ({"data": data}, ("--split", "a")),
        ({"data": data}, ("--text-column", "body")),
        ({}, ("--seed", "1")),
        ({}, ("--limit", "2")),
        ({}, ("--max-swaps", "1")),
        ({}, ("--max-rate", "0.5")),
        ({}, ("--max-queries", "5")),
        ({}, ("--max-queries", "5x")),
        ({}, ("--max-candidates", "1")),
        ({}, ("--target", "neg")),
        ({}, ("--candidates", f"table:{other}")),
        ({}, ("--shard", "1/2")),
    ]
    for given, more in questions:
        done = desk.attack(*more, "--show", "0", **given)
        assert done.code == 0, done.err
    assert len(list(Path("runs").iterdir())) == len(questions)


def test_folder_names_are_readable_and_short() -> None:
    folder = default_folder("beam", "python:/a/b/my model.py:score", "/c/reviews.csv", {"seed": 0})
    assert re.fullmatch(r"runs/beam-my-model.py-score-reviews.csv-[0-9a-f]{8}", str(folder))
    assert default_folder("beam", "hf:owner/name", "mr", {}).name.startswith("beam-name-mr-")
    assert len(default_folder("beam", "v" * 300, "d" * 300, {}).name) < 100
    one, other = (default_folder("beam", "v", "d", {"seed": s}) for s in (0, 1))
    assert one != other
    assert one == default_folder("beam", "v", "d", {"seed": 0})


def test_queries_per_word_and_first_candidates(desk: Desk) -> None:
    # Greedy needs 6, 5, 8, 1 and 4 queries for texts of 3, 3, 4, 3 and 3 words.
    assert figures(desk.attack("--max-queries", "1x").out)["out of budget"] == "4"
    assert figures(desk.attack("--max-queries", "2x").out).get("out of budget") is None
    assert desk.attack("--max-candidates", "1", "--json").json["success_rate"] == 0.25


@pytest.mark.assets("minilm")
def test_a_least_similarity(desk: Desk) -> None:
    shown = desk.attack("--min-similarity", "1", "--window", "15", "--json").json
    assert shown["success_rate"] == 0
    angular = ("--min-similarity", "0", "--similarity", "angular", "--encoder", "minilm")
    assert desk.attack(*angular, "--json").json["success_rate"] == 0.75


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-queries", "many"), "such as 50x for 50 queries per word, or KxL, not many"),
        (
            ("--similarity", "dot"),
            "similarity of the limits cannot be 'dot': Input should be 'cosine' or 'angular'",
        ),
        (("--min-similarity", "-0.5", "--similarity", "angular"), "from 0 to 1, not -0.5"),
        (("--min-similarity", "0.5", "--encoder", "nonsense"), "no sentence encoder 'nonsense'"),
    ],
)
def test_limits_that_make_no_sense(desk: Desk, options: tuple[str, ...], said: str) -> None:
    done = desk.attack(*options)
    assert done.code == 2
    assert said in " ".join(done.err.split())


@pytest.mark.parametrize("place", range(4))
def test_options_of_the_attack_may_stand_anywhere(desk: Desk, place: int) -> None:
    words = ["beam", desk.victim(), desk.data]
    for width in (["--width", "8"], ["--width=8"]):
        args = [*words[:place], *width, *words[place:]]
        done = desk.run("attack", *args, *desk.candidates, "--out", "run", "--json")
        assert (done.code, done.err) == (0, "")
    assert read("run").manifest["options"]["attack"] == {"width": 8}


def test_options_of_the_command_may_stand_before_the_name(desk: Desk) -> None:
    words = ["--out", "run", "-q", "beam", desk.victim(), "--width", "8", desk.data]
    assert desk.run("attack", *words, *desk.candidates, "--json").json["texts"] == 5
    assert desk.run("attack", "-q", "beam", "--widht", "8", *words[4:]).err.startswith(
        "unfooled: neither unfooled attack nor beam has an option --widht"
    )


@pytest.mark.parametrize(
    ("editable", "shown"),
    [
        ("second", "so good,\nmy [good → ok] film\n"),
        ("first", "so [good → ok],\nmy good film\n"),
        ("both", "so [good → ok],\nmy [good → ok] film\n"),
    ],
)
def test_diffs_of_pairs(capsys: pytest.CaptureFixture[str], editable: Any, shown: str) -> None:
    text = uf.Text.pair("so good,", "my good film", editable=editable)
    swaps = {i: "ok" for i, word in enumerate(text.words) if word == "good"}
    changes = tuple((i, "good", "ok") for i in swaps)
    outcome = uf.Outcome("x", "success", text, 1, text.swap(swaps), changes, scores=(1.0, 0.0))
    found = uf.Outcomes("beam", (outcome,))
    printing.outcomes(found, ["neg", "pos"], folder=Path("run"), show=1)
    assert f"pos → neg  {len(swaps)} swap" in capsys.readouterr().out.splitlines()[0]
    printing.outcomes(found, ["neg", "pos"], folder=Path("run"), show=1)
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("target", ["pos", "POS", "1"])
def test_a_target_by_name_or_number(desk: Desk, target: str) -> None:
    shown = desk.attack("--target", target, "--json", "--out", "run").json
    assert (shown["clean_accuracy"], shown["success_rate"]) == (0.8, 1.0)
    assert shown["accuracy_under_attack"] == pytest.approx(0.6)
    assert read("run").manifest["options"]["target"] == 1


def test_labels_in_another_order(desk: Desk) -> None:
    shown = desk.attack("--json", victim="turned").json
    assert (shown["clean_accuracy"], shown["success_rate"]) == (0.8, 0.75)


def test_help_says_what_similarity_is_compared_with(desk: Desk) -> None:
    told = " ".join(desk.run("attack", "--help").out.replace("│", " ").split())
    assert "--min-similarity compares with the original text." in told
    assert "finished texts may drift away from the original" in told
    able = [
        name
        for name in registry.names("attacks")
        if "step_similarity" in {o.name for o in registry.options(registry.get("attacks", name))}
    ]
    assert f"The attacks {', '.join(able[:-1])} and {able[-1]} compare step by step" in told


@pytest.mark.assets("minilm")
def test_a_reference_on_the_command_line(desk: Desk) -> None:
    """With a least similarity it is the limit's, else the attack's own."""
    asked = ("--out", "one", "--min-similarity", "0.5", "--reference", "previous", "--json")
    assert desk.attack(*asked, name="textfooler").json["texts"] == 5
    options = read("one").manifest["options"]
    assert (options["min_similarity"], options["reference"]) == (0.5, "previous")
    assert options["attack"] == {
        "step_similarity": 0.5, "step_window": None, "reference": "previous",
    }  # fmt: skip
    assert desk.attack("--out", "two", "--reference", "previous", name="textfooler").code == 0
    options = read("two").manifest["options"]
    assert "min_similarity" not in options
    assert options["attack"]["reference"] == "previous"
    assert options["attack"]["step_similarity"] == 0.8776


def test_own_candidates_are_listed_and_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = " ".join(desk.run("attack", "--list").out.split())
    assert "masked_lm:k=48" in listed
    monkeypatch.setattr("unfooled.attacks.greedy.Greedy.source", desk.candidates[1])
    done = desk.run("attack", "greedy", desk.victim(), desk.data)
    assert done.code == 0
    assert done.err.startswith(f"greedy searches the candidates {desk.candidates[1]}\n")
    assert "searches the candidates" not in desk.attack().err


def test_bae_says_that_it_asks_at_every_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = " ".join(desk.run("attack", "--list").out.split())
    assert "--proposals 50" in listed
    monkeypatch.setattr("unfooled.attacks.bae.BAE.source", desk.candidates[1])
    asked = ("attack", "bae", desk.victim(), desk.data, "--step-similarity", "none", "--out")
    with pytest.MonkeyPatch.context() as patch:
        prints = "unfooled.lexicon.masked_networks.fingerprint"
        patch.setattr("unfooled.lexicon.masked_lm.load", lambda name, device: Echo())
        patch.setattr(prints, lambda name: f"sha256:{name}")
        done = desk.run(*asked, "one", "--masked", "my-bert")
    assert done.code == 0, done.err
    assert done.err.startswith("bae asks the masked language model at every step; which words may")
    options = read("one").manifest["options"]
    assert (options["attack"]["proposals"], options["masked"]) == (50, "my-bert")
    assert options["masked_fingerprint"] == "sha256:my-bert"
    lost = desk.run(*asked, "lost", "--masked", "no-such-model")
    assert (lost.code, Path("lost").exists()) == (2, False)  # before any text is attacked
    assert "no-such-model" in lost.err
    searched = desk.run(*asked, "two", "--proposals", "0")
    assert searched.err.startswith("bae searches the candidates ")
    assert desk.run(*asked, "three", *desk.candidates).code == 0
    assert read("three").manifest["options"]["attack"]["proposals"] == 0


def test_a_masked_model_that_nobody_asks_is_refused(desk: Desk) -> None:
    for name in ("bert-attack", "bae"):
        done = desk.attack("--masked", "my-bert", name=name)
        assert done.code == 2
        assert f"{name} with these options asks no masked language model" in done.err
        assert "--candidates masked_lm:model=my-bert" in done.err


COMMANDS = {
    "attack": ("attack", "greedy"), "audit": ("audit",), "certify": ("certify", "exhaustive"),
    "estimate": ("estimate",), "sweep": ("sweep", "greedy"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("labels", ["neg, pos", "2"])
def test_labels_on_the_command_line(desk: Desk, command: str, labels: str) -> None:
    bare = desk.write("bare.py", "def score(texts):\n    return [[0.0, len(t)] for t in texts]\n")
    if labels == "2":
        desk.write("data.csv", "text,label\na good film,1\na bad film,0\n")
    over = ("--over", "max-rate=0.5") if command == "sweep" else ()
    asked = (*COMMANDS[command], f"python:{bare}:score", desk.data, *desk.candidates, *over, "-q")
    refused = desk.run(*asked)
    assert refused.code == 2
    assert "name them: --labels bad,good" in refused.err
    assert desk.run(*asked, "--labels", labels, "--out", "run").code == 0
    unlike = desk.run(*asked, "--labels", "a,a", "--out", "other")
    assert (unlike.code, unlike.err) == (2, "unfooled: labels name a class twice: a, a\n")


def test_columns_splits_and_limits(desk: Desk) -> None:
    rows = ["a good film\tpos\ttest", "a bad film\tneg\ttest", "a great film\tpos\ttrain"]
    data = desk.write("d.tsv", "\n".join(["body\tgold\tsplit", *rows]))
    more = ("--text-column", "body", "--label-column", "gold", "--split", "test", "--json")
    assert desk.attack(*more, data=data).json["success_rate"] == 1.0
    assert desk.attack(*more, "--limit", "1", data=data).json["texts"] == 1


def test_pairs(desk: Desk) -> None:
    lines = [{"premise": "A man.", "hypothesis": "a good film", "label": "pos"}]
    data = desk.write("pairs.jsonl", "\n".join(map(json.dumps, lines)))
    out = desk.attack("--out", "run", victim="reads_pairs", data=data).out
    assert "pos → neg  1 swap\nA man.\na [good → ok] film\n" in out
    assert read("run").records()[0]["text"]["hypothesis"] == "a ok film"


def test_one_bad_text_is_shown_and_the_others_go_on(desk: Desk) -> None:
    done = desk.attack("--out", "run", victim="touchy")
    assert done.code == 0
    assert figures(done.out)["errors"] == "1"
    shown = " ".join(done.out.split())
    assert "error in data:4: python:" in shown
    assert "failed on 'a great film': RuntimeError: too [/great] for words" in shown
    assert desk.attack("--out", "run", "--json", victim="touchy").json["errors"] == 1


def test_the_budget_is_told(desk: Desk) -> None:
    assert figures(desk.attack("--max-queries", "4").out)["out of budget"] == "3"


def test_listing_the_attacks(desk: Desk) -> None:
    done = desk.run("attack", "--list")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^beam .*--width 4 *$", done.out, re.MULTILINE)
    assert re.search(r"^greedy .*– *$", done.out, re.MULTILINE)


def test_progress_goes_to_standard_error(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unfooled.watch._EVERY", 0.0)
    done = desk.attack("--out", "a")
    assert re.search(
        r"^greedy on python:\S+: \d of 5 texts, \S+ texts/s, \S+ forwards/s$", done.err, re.M
    )
    assert "forwards/s" not in done.out
    assert desk.attack("--out", "b", "--quiet").err == ""
    assert desk.attack("--out", "c", "--json").err == ""
