"""Loading: columns, labels, splits, limits, and errors that say where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled import assets, data
from unfooled.alignment import aligned
from unfooled.errors import InputError
from unfooled.text import Example, Text


def file(tmp_path: Path, content: str, name: str = "set.csv") -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def jsonl(tmp_path: Path, *rows: dict) -> Path:
    return file(tmp_path, "\n".join(map(json.dumps, rows)), "set.jsonl")


def shown(dataset: data.Dataset) -> list[tuple]:
    return [(example.text.source, example.label, example.id) for example in dataset]


def test_text_and_label(tmp_path: Path) -> None:
    dataset = data.load(file(tmp_path, "text,label\na fine film,1\na dull film,0\n"))
    assert shown(dataset) == [("a fine film", 1, "set:0"), ("a dull film", 0, "set:1")]
    assert dataset.labels == ("0", "1")
    assert dataset.name == "set.csv"
    assert dataset[0].text.words == ("a", "fine", "film")
    assert dataset[-1].label == 0
    assert [example.label for example in dataset[:1]] == [1]
    assert len(dataset) == 2


def test_premise_and_hypothesis(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"premise": "A dog.", "hypothesis": "An animal.", "label": 0})
    example = data.load(str(path))[0]
    assert example.text == Text.pair("A dog.", "An animal.")


def test_columns_by_name(tmp_path: Path) -> None:
    path = file(tmp_path, '"a,b",c,gold\none,two,yes\nthree,four,no\n')
    single = data.load(path, text_column="a,b", label_column="gold")
    assert shown(single) == [("one", 1, "set:0"), ("three", 0, "set:1")]
    assert single.labels == ("no", "yes")
    pair = data.load(file(tmp_path, "s,t,label\nx,y,0\n"), text_column="s, t")
    assert pair[0].text.source == ("x", "y")
    for bad in ("s,t,label", "s,"):
        with pytest.raises(InputError, match="a text column is one name, or two"):
            data.load(path, text_column=bad, label_column="gold")


@pytest.mark.parametrize(
    ("values", "labels", "indices", "names"),
    [
        (["0", "2"], None, [0, 2], ("0", "1", "2")),
        (["1.0", "0.0"], None, [1, 0], ("0", "1")),
        ([True, False], None, [1, 0], ("0", "1")),
        (["pos", "neg"], None, [1, 0], ("neg", "pos")),
        (["Pos", "neg", "pos"], None, [0, 1, 0], ("Pos", "neg")),
        (["POS ", "Neg"], ("neg", "pos"), [1, 0], ("neg", "pos")),
        ([1, 0], ("neg", "pos"), [1, 0], ("neg", "pos")),
        (["1", 3], ("1", "2", "3"), [0, 2], ("1", "2", "3")),
        ([1.0], ("neg", "pos"), [1], ("neg", "pos")),
    ],
)
def test_labels_become_indices(values, labels, indices, names) -> None:
    dataset = data.load([(f"text {i}", value) for i, value in enumerate(values)], labels=labels)
    assert [example.label for example in dataset] == indices
    assert dataset.labels == names


@pytest.mark.parametrize(
    ("content", "labels", "message"),
    [
        ("text,label\na,0\nb,2\n", ("x", "y"), "set.csv, line 3, column 'label': label 2 is outside 0 to 1"),
        ("text,label\na,posit\n", ("pos", "neg"), "line 2, column 'label': label 'posit' is not a class; did you mean 'pos'"),
        ("text,label\na,0\nb,-1\n", None, "line 3, column 'label': label -1 is no class index"),
        ("text,label\na,0\nb,99999999999\n", None, "line 3, column 'label': label 99999999999 is no"),
        ("text,label\na,0\nb,pos\n", None, "line 3, column 'label': 'pos' is a name while other"),
        ("text,label\na,0\nb,\n", None, "line 3, column 'label': the label is empty"),
        ("text,label\na,0\n", ("x", "X"), "class names must be there and differ"),
        ("text,label\na,0\n", (), "class names must be there and differ: none"),
        ("txt,label\na,0\n", None, "line 2 has no column 'text'; did you mean 'txt'?"),
        ("text,gold\na,0\n", None, "line 2 has no column 'label'"),
        ("premise,label\na,0\n", None, "line 2 has no column 'hypothesis'"),
    ],
)  # fmt: skip
def test_bad_rows_are_named(tmp_path: Path, content: str, labels, message: str) -> None:
    with pytest.raises(InputError) as caught:
        data.load(file(tmp_path, content), labels=labels)
    assert message in str(caught.value)


def test_json_rows_that_lack_a_column_or_a_text(tmp_path: Path) -> None:
    good = {"text": "a", "label": 0}
    with pytest.raises(InputError, match=r"set\.jsonl, line 2 has no column 'label'"):
        data.load(jsonl(tmp_path, good, {"text": "b"}))
    with pytest.raises(InputError, match="line 2, column 'text': expected a text, not 7"):
        data.load(jsonl(tmp_path, good, {"text": 7, "label": 0}))
    for empty in (None, float("nan"), " "):
        with pytest.raises(InputError, match="line 2, column 'label': the label is empty"):
            data.load(jsonl(tmp_path, good, {"text": "b", "label": empty}))


def test_split_column(tmp_path: Path) -> None:
    path = file(tmp_path, "text,label,split\na,0,train\nb,1,test\nc,0,test\n")
    assert [row[2] for row in shown(data.load(path))] == ["train:0", "test:1", "test:2"]
    assert [row[0] for row in shown(data.load(path, split="test"))] == ["b", "c"]
    with pytest.raises(InputError, match="no split 'tests'; did you mean 'test'"):
        data.load(path, split="tests")
    with pytest.raises(InputError, match="has no column 'split'"):
        data.load(file(tmp_path, "text,label\na,0\n"), split="test")


PAIRS = [(f"text number {number}", number % 3) for number in range(40)]


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 5))
def test_a_smaller_limit_is_a_prefix(small: int, large: int, seed: int) -> None:
    small, large = sorted((small, large))
    few, many = (data.load(PAIRS, limit=limit, seed=seed) for limit in (small, large))
    assert many.examples[:small] == few.examples
    assert len(many) == min(large, len(PAIRS))
    assert len({example.id for example in many}) == len(many)
    for example in many:
        assert (example.text.source, example.label) == PAIRS[int(example.id.partition(":")[2])]


def test_limit_is_random_and_seeded() -> None:
    draws = {tuple(e.id for e in data.load(PAIRS, limit=5, seed=seed)) for seed in range(10)}
    assert len(draws) == 10
    drawn = [e.id for seed in range(300) for e in data.load(PAIRS, limit=1, seed=seed)]
    # Each of 40 is drawn 7.5 times on average; a fair draw exceeds 25 with probability < 1e-6.
    assert len(set(drawn)) >= 38
    assert max(map(drawn.count, drawn)) <= 25
    assert [e.id for e in data.load(PAIRS)] == [f"list:{n}" for n in range(40)]


def test_limit_keeps_class_names_of_the_whole(tmp_path: Path) -> None:
    path = file(tmp_path, "text,label\na,x\nb,y\nc,z\n")
    assert {data.load(path, limit=1, seed=seed).labels for seed in range(5)} == {("x", "y", "z")}


@pytest.mark.parametrize("limit", [0, -1, 2.5])
def test_limit_must_be_positive(limit) -> None:
    with pytest.raises(InputError, match="limit is a positive number"):
        data.load(PAIRS, limit=limit)


def test_lists_of_examples_and_pairs() -> None:
    given_examples = [Example(Text.parse("a b"), 1, "mine"), Example(Text.pair("p", "h"), 0)]
    assert data.load([*given_examples, (("q", "r"), 0)]).examples == (
        given_examples[0],
        Example(Text.pair("p", "h"), 0, "list:1"),
        Example(Text.pair("q", "r"), 0, "list:2"),
    )
    for bad, message in [
        ([], "is empty"),
        (["text"], "item 0: expected a"),
        ([("a", 0), (3, 0)], "item 1: a text is a string"),
        ([("a", None)], "item 0: the label is empty"),
        (b"bytes", "a file, an asset name or a list"),
        (7, "a file, an asset name or a list"),
    ]:
        with pytest.raises(InputError, match=message):
            data.load(bad)
    with pytest.raises(InputError, match="no columns and no splits"):
        data.load(PAIRS, split="test")


def test_fingerprint_sees_texts_labels_names_and_order() -> None:
    same = data.load(PAIRS).fingerprint
    assert same == data.load(list(PAIRS)).fingerprint
    others = [
        PAIRS[:-1],
        PAIRS[::-1],
        [("text  number 0", 0), *PAIRS[1:]],
        [("text number 0", 1), *PAIRS[1:]],
    ]
    prints = {data.load(pairs).fingerprint for pairs in others}
    prints.add(data.load(PAIRS, labels=("a", "b", "c")).fingerprint)
    assert len(prints | {same}) == 6
    assert len(same) == 64
    joined = data.load([(("a", "b c"), 0)]), data.load([(("a b", "c"), 0)])
    assert joined[0].fingerprint != joined[1].fingerprint


def test_what_is_neither_a_file_nor_an_asset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither a file nor a data set; did you mean .*'imdb'"):
        data.load("imbd")
    with pytest.raises(InputError, match="'wordnet' is a lexicon, not a data set"):
        data.load("wordnet")
    with pytest.raises(InputError, match="no such file"):
        data.load(tmp_path / "missing.csv")
    with pytest.raises(InputError, match="expected a file ending in"):
        data.load(tmp_path)
    with pytest.raises(InputError, match="mr has no split 'testing'; did you mean 'test'"):
        data.load("mr", split="testing")


def test_an_asset_gives_its_test_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split in ("train", "dev", "test"):
        row = {"premise": split, "hypothesis": "h", "label": 2}
        (tmp_path / f"{split}.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "labels.json").write_text('["entailment", "neutral", "contradiction"]')
    monkeypatch.setattr(assets, "get", lambda name: tmp_path)
    dataset = data.load("snli")
    assert shown(dataset) == [(("test", "h"), 2, "test:0")]
    assert dataset.name == "snli:test"
    assert dataset.labels == ("entailment", "neutral", "contradiction")
    assert data.load("snli", split="dev")[0].text.source == ("dev", "h")
    mine = data.load("snli", labels=("CONTRADICTION", "other", "more"))
    assert mine[0].label == 2


@pytest.mark.assets("mr")
def test_the_real_mr(asset) -> None:
    asset("mr")
    dataset = data.load("mr", limit=20, seed=1)
    assert dataset.labels == ("negative", "positive")
    assert {example.label for example in dataset} == {0, 1}
    assert all(example.id.startswith("test:") for example in dataset)
    assert len(data.load("mr", split="train")) == 6805


def labels_of(dataset: data.Dataset, labels: tuple[str, ...]) -> list[str]:
    """The class of every example by name, as the owner of `labels` counts."""
    found = aligned(dataset, labels, owner="toy")
    assert found.labels == labels
    assert [e.text for e in found] == [e.text for e in dataset]
    assert [e.id for e in found] == [e.id for e in dataset]
    return [labels[e.label] for e in found]


NAMED = data.load([("x", "pos"), ("y", "neg"), ("z", "pos")])


@pytest.mark.parametrize("labels", [("neg", "pos"), ("POS", "Neg"), ("other", "pos ", "NEG")])
def test_classes_are_matched_by_name_in_any_order_and_case(labels: tuple[str, ...]) -> None:
    found = [name.strip().lower() for name in labels_of(NAMED, labels)]
    assert found == ["pos", "neg", "pos"]


@given(st.permutations(["straße", "b", "c", "d"]), st.permutations(["STRASSE", "B", "C", "D"]))
def test_matching_by_name_is_independent_of_both_orders(mine: list[str], theirs: list[str]) -> None:
    dataset = data.load([(f"text {name}", name) for name in mine], labels=mine)
    assert [name.casefold() for name in labels_of(dataset, tuple(theirs))] == [
        name.casefold() for name in mine
    ]


def test_numbers_are_matched_by_number() -> None:
    numbered = data.load([("x", 1), ("y", 0)])
    assert labels_of(numbered, ("bad", "good")) == ["good", "bad"]
    assert labels_of(numbered, ("LABEL_0", "LABEL_1")) == ["LABEL_1", "LABEL_0"]
    assert labels_of(NAMED, ("LABEL_0", "LABEL_1")) == ["LABEL_1", "LABEL_0", "LABEL_1"]
    assert labels_of(NAMED, ("0", "1", "2")) == ["1", "0", "1"]
    # Numbers that are names on both sides go by name.
    assert labels_of(numbered, ("1", "0")) == ["1", "0"]


def test_a_data_set_with_fewer_classes_than_the_victim() -> None:
    assert labels_of(data.load([("x", "pos")]), ("neg", "pos")) == ["pos"]
    assert labels_of(data.load([("x", 0)]), ("neg", "pos")) == ["neg"]


def test_classes_that_cannot_be_matched() -> None:
    with pytest.raises(
        InputError, match="the data has the classes neg, pos, toy has no, yes: rename"
    ):
        aligned(NAMED, ("no", "yes"), owner="toy")
    with pytest.raises(
        InputError, match=r"item 1|list:1 has label 2, but toy has the classes 0 to 1"
    ):
        aligned(data.load([("x", 0), ("y", 2)]), ("neg", "pos"), owner="toy")
