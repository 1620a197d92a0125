"""Functions as victims, and how `python:` finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unfooled.errors import InputError, VictimError
from unfooled.runner import attack
from unfooled.space import UNKNOWN, Space
from unfooled.text import Text
from unfooled.victims import load, victim
from unfooled.victims.base import Part
from unfooled.victims.callables import CallableVictim, named


def exclaims(texts: list[str]) -> list[list[int]]:
    return [[1, text.count("!")] for text in texts]


def test_scores_of_strings_and_pairs() -> None:
    made = victim(exclaims, ["flat", "happy"])
    assert made.labels == ("flat", "happy")
    assert made.name == "exclaims"
    assert made.fingerprint is None
    assert made.scores(["no", "yes!!"]).tolist() == [[1, 0], [1, 2]]
    assert made.scores([]).shape == (0, 2)
    pairs = victim(lambda found: [[len(a), len(b)] for a, b in found], 2, name="lengths")
    assert pairs.scores([("a", "bcd")]).tolist() == [[1, 3]]
    assert (pairs.labels, pairs.name) == (("0", "1"), "lengths")


def test_rows_are_spelled_out_in_order() -> None:
    made = victim(exclaims, 2)
    spaces = [Space("good film", {0: ("fine!",)}), Space("oh dear", {1: ("my", "no!!")})]
    parts = [
        Part(made.prepare(spaces[0]), np.array([[0], [1]], dtype=np.int16)),
        Part(made.prepare(spaces[1]), np.array([[2], [UNKNOWN]], dtype=np.int16)),
    ]
    assert made.submit(parts)()[:, 1].tolist() == [0, 1, 2, 0]


def test_pairs_reach_the_function_as_pairs() -> None:
    seen: list[Any] = []
    made = victim(lambda texts: seen.extend(texts) or [[0, 1]] * len(texts), 2)
    space = Space(Text.pair("premise", "good film"), {0: ("fine",)})
    made.submit([Part(made.prepare(space), np.array([[1]], dtype=np.int16))])()
    assert seen == [("premise", "fine film")]


@pytest.mark.parametrize(
    "answer",
    [[[1, 2, 3]] * 2, [[1, 2]], [1, 2], None, [["a", "b"]] * 2, [[1, 2], [1]], "scores"],
)
def test_wrong_answers_say_what_was_expected(answer: Any) -> None:
    made = victim(lambda texts: answer, 2, name="broken")
    with pytest.raises(VictimError, match="broken"):
        made.scores(["one", "two"])


@pytest.mark.parametrize("how", ["sys.exit(3)", "raise SystemExit('no')", "quit()"])
def test_a_function_that_wants_to_end_the_program_fails_on_its_text(
    how: str, tmp_path: Path
) -> None:
    code = f"import sys\nLABELS = ['a', 'b']\ndef f(texts):\n    if 'bad' in texts[0]: {how}\n"
    (tmp_path / "v.py").write_text(code + "    return [[0.0, 1.0]] * len(texts)\n")
    (tmp_path / "ends.py").write_text(f"import sys\n{how}\n")
    made = load(f"python:{tmp_path / 'v.py'}:f")
    with pytest.raises(VictimError, match=r"v\.py:f raised SystemExit"):
        made.scores(["bad"])
    found = attack("greedy", made, [("good", 1), ("bad", 1)], candidates={"good": ["fine"]})
    assert [outcome.status for outcome in found] == ["failed", "error"]
    with pytest.raises(InputError, match=r"importing .*ends\.py failed: SystemExit"):
        load(f"python:{tmp_path / 'ends.py'}:f")


def test_the_functions_own_exceptions_pass_through() -> None:
    def fails(texts: list[str]) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        victim(fails, 2).scores(["x"])


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (1, "two classes"),
        (["a"], "two classes"),
        (["a", "a"], "twice"),
        ("ab", "list"),
        (2.5, "list"),
        (True, "list"),
    ],
)
def test_bad_labels(labels: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        named(labels)


def test_what_is_no_victim() -> None:
    with pytest.raises(InputError, match="needs the class names"):
        victim(exclaims)
    with pytest.raises(InputError, match=r"load\("):
        victim("hf:name", 2)
    made = victim(exclaims, 2)
    assert victim(made) is made


SOURCE = """
LABELS = ["no", "yes"]
def model(texts):
    return [[0, len(t)] for t in texts]
def own(texts):
    return [[0, 0, len(t)] for t in texts]
own.labels = ("a", "b", "c")
class Box:
    method = staticmethod(model)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "toy_classifier_module.py").write_text(SOURCE)
    (tmp_path / "broken_classifier_module.py").write_text("import toy_missing_package")
    (tmp_path / "failing_classifier_module.py").write_text("1 / 0")
    (tmp_path / "bare.py").write_text("def model(texts): return [[1, 2]] * len(texts)")
    return tmp_path


def test_functions_by_module_and_by_file(here: Path) -> None:
    by_name = load("python:toy_classifier_module:model")
    assert (by_name.labels, by_name.name) == (("no", "yes"), "python:toy_classifier_module:model")
    assert by_name.scores(["abc"]).tolist() == [[0, 3]]
    by_file = load(f"python:{here / 'toy_classifier_module.py'}:own")
    assert by_file.labels == ("a", "b", "c")
    assert load("python:toy_classifier_module.py:Box.method").labels == ("no", "yes")
    assert load("python:bare.py:model", labels=["x", "y"]).labels == ("x", "y")
    assert isinstance(by_file, CallableVictim)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("python:model", "names no function"),
        ("python:toy_classifier_module:", "names no function"),
        ("python:toy_classifier_module:nothing", "has no 'nothing'"),
        ("python:toy_absent_module:f", "no module named 'toy_absent_module'"),
        (
            "python:broken_classifier_module:f",
            "importing broken_classifier_module failed.*toy_missing_package",
        ),
        ("python:failing_classifier_module:f", "ZeroDivisionError"),
        ("python:failing_classifier_module.py:f", "ZeroDivisionError"),
        ("python:absent.py:f", "no file absent.py"),
        ("python:bare.py:model", "has no labels"),
    ],
)
def test_what_cannot_be_imported_is_explained(here: Path, spec: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(spec)
