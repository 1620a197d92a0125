"""What `uf.attack` may be given: examples, labels, candidates, attacks, in every form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import unfooled as uf
from runner_toys import DATA, LABELS, TABLE, Counted, Proposes, attack, told, victim
from unfooled.attacks.beam import Beam
from unfooled.candidates import load as load_candidates
from unfooled.errors import InputError, Unsupported

# --- what may be given --------------------------------------------------------------------------


def test_examples_in_every_form(tmp_path: Path) -> None:
    expected = [(o.status, o.changes, o.queries) for o in attack()]
    path = tmp_path / "set.csv"
    path.write_text("text,label\n" + "".join(f"{t},{y}\n" for t, y in DATA))
    numbers = [(text, LABELS.index(label)) for text, label in DATA]
    examples = [uf.Example(uf.Text.parse(t), y, f"mine {i}") for i, (t, y) in enumerate(numbers)]
    for given_as in (path, str(path), numbers, examples, uf.data.load(path), tuple(DATA),
                     iter(DATA), zip(*zip(*DATA, strict=True), strict=True)):  # fmt: skip
        found = attack(data=given_as)
        assert [(o.status, o.changes, o.queries) for o in found] == expected
    assert [o.id for o in attack(data=examples)] == [f"mine {i}" for i in range(5)]
    assert [o.id for o in attack(data=path)] == [f"set:{i}" for i in range(5)]


@pytest.mark.parametrize("bad", [[], [("text",)], 5, [(3, 1)], {"text": 1}, b"text", iter(())])
def test_examples_that_are_none(bad: Any) -> None:
    with pytest.raises(InputError):
        attack(data=bad)


def test_labels_by_name_in_another_order_and_case() -> None:
    expected = [o.status for o in attack()]
    turned = victim(lambda texts: [row[::-1] for row in Counted()(texts)], labels=["POS", "Neg"])
    found = attack(who=turned)
    assert [o.status for o in found] == expected
    assert [o.label for o in found] == [0, 1, 0, 0, 0]
    numbered = victim(labels=2)
    assert [
        o.status for o in attack(who=numbered, data=[(t, LABELS.index(y)) for t, y in DATA])
    ] == (expected)
    with pytest.raises(InputError, match="the data has the classes bad, good, toy has neg, pos"):
        attack(data=[("a", "good"), ("b", "bad")])
    with pytest.raises(InputError, match="list:0 has label 2, but toy has the classes 0 to 1"):
        attack(data=[("a good film", 2)])


def test_candidates_in_every_form(tmp_path: Path) -> None:
    expected = told(attack())
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE))
    source = load_candidates(TABLE)
    ready = [uf.Space(e.text, source(e.text)) for e in uf.data.load(DATA)]

    def function(text: uf.Text) -> dict[int, list[str]]:
        return {i: TABLE[word] for i, word in enumerate(text.words) if word in TABLE}

    for form in (f"table:{path}", source, function, ready, tuple(ready)):
        assert told(attack(candidates=form)) == expected


def test_spaces_that_do_not_fit() -> None:
    spaces = [uf.Space(uf.Text.parse(t), {}) for t, _ in DATA]
    with pytest.raises(InputError, match="4 spaces were given for 5 examples"):
        attack(candidates=spaces[1:])
    with pytest.raises(InputError, match="the space of example list:0 is that of another text"):
        attack(candidates=spaces[::-1])
    with pytest.raises(InputError, match="a list of candidates holds spaces, not 'ok'"):
        attack(candidates=["ok"] * 5)
    with pytest.raises(InputError, match="candidates come from a name"):
        attack(candidates=7)


def test_no_candidates_at_all_is_a_failure_not_an_error() -> None:
    for name in ("greedy", "beam"):
        [found] = attack(name, data=DATA[:1], candidates={})
        assert (found.status, found.queries) == ("failed", 1)
    [empty] = attack(data=[("", 0)], who=victim(lambda texts: [[1.0, 0.0]] * len(texts)))
    assert (empty.status, empty.rate) == ("failed", 0.0)


def test_ids() -> None:
    text, other = uf.Text.parse("a good film"), uf.Text.parse("a great film")
    with pytest.raises(InputError, match="two examples have the same id and text"):
        attack(data=[uf.Example(text, 1, "x"), uf.Example(text, 1, "x")])
    twins = [uf.Example(text, 1, "x"), uf.Example(other, 1, "x")]
    spaces = [uf.Space(text, {1: ("ok",)}), uf.Space(other, {1: ("bad",)})]
    found = attack(data=twins, candidates=spaces)
    assert [str(o.text) for o in found] == ["a ok film", "a bad film"]
    assert [o.status for o in attack(data=[DATA[0], DATA[0]])] == ["success", "success"]


def test_pairs_change_in_the_hypothesis_alone() -> None:
    data = [(("a good film", "so good indeed"), 1), (uf.Text.pair("nice", "Good"), 1)]
    found = attack(data=data)
    assert [o.changes for o in found] == [((1, "good", "ok"),), ((0, "Good", "Ok"),)]
    assert found[0].text is not None
    assert found[0].text.source == ("a good film", "so ok indeed")
    assert [uf.Outcome.from_record(json.loads(json.dumps(o.record()))) for o in found] == list(
        found
    )


def test_attacks_by_name_and_by_instance() -> None:
    assert (
        told(attack(Beam(width=8)))
        == told(attack("beam", width=8))
        == told(attack("beam", width="8"))
    )
    with pytest.raises(InputError, match="options width go into the attack itself"):
        attack(Beam(), width=8)
    with pytest.raises(InputError, match="an attack is a name or an instance"):
        attack(Beam)
    with pytest.raises(InputError, match="there is no attack named 'gredy'; did you mean 'greedy'"):
        attack("gredy")
    with pytest.raises(InputError, match="beam has no option 'widht'; did you mean 'width'"):
        attack("beam", widht=8)
    with pytest.raises(InputError, match="width is at least 1, not 0"):
        attack("beam", width=0)


def test_an_attack_that_needs_gradients_names_who_has_them() -> None:
    @dataclass(frozen=True)
    class Steep(Proposes):
        needs: ClassVar[Any] = "gradients"

    with pytest.raises(Unsupported, match="steep follows gradients and toy has none; word models"):
        attack(Steep())
