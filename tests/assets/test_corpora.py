"""Converters, on small archives of the same form; splits, as theorems."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfooled.assets import corpora
from unfooled.assets.archive import Members
from unfooled.errors import AssetError

TEXTS = [f"sentence number {number}" for number in range(60)]


def members(contents: dict[str, str | bytes]) -> Members:
    encoded = {n: c.encode() if isinstance(c, str) else c for n, c in contents.items()}
    return Members("fixture.zip", {n: (lambda c=c: c) for n, c in encoded.items()})


def rows(files: dict[str, bytes], split: str) -> list[dict]:
    return [json.loads(line) for line in files[f"{split}.jsonl"].decode().split("\n") if line]


def everything(files: dict[str, bytes]) -> list[dict]:
    return [row for split in ("train", "dev", "test") for row in rows(files, split)]


def expected_split(text: str) -> str:
    # Independent of the code: the first hexadecimal digits as a fraction.
    share = int(hashlib.sha256(text.encode()).hexdigest()[:12], 16) / 16**12
    return "train" if share < 0.8 else "dev" if share < 0.9 else "test"


def test_movie_reviews_takes_one_source_and_splits_by_hash() -> None:
    lines = ["text,label,source"]
    lines += [f'"{text}, ""quoted""",{n % 2},rotten_tomatoes' for n, text in enumerate(TEXTS)]
    lines += ["other,1,imdb"]
    packed = members({"movie_reviews/data/combined_movie_reviews.csv": "\n".join(lines)})
    files = corpora.movie_reviews(packed, source="rotten_tomatoes")
    assert json.loads(files["labels.json"]) == ["negative", "positive"]
    found = {row["text"]: (split, row["label"]) for split in ("train", "dev", "test")
             for row in rows(files, split)}  # fmt: skip
    full = [f'{text}, "quoted"' for text in TEXTS]
    assert found == {text: (expected_split(text), n % 2) for n, text in enumerate(full)}


def test_parquet_gives_the_same_bytes_as_the_table() -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    labels = [n % 2 for n in range(len(TEXTS))]
    stream = io.BytesIO()
    parquet.write_table(pa.table({"text": TEXTS, "label": labels}), stream)
    table = "text,label,source\n" + "".join(
        f"{text},{label},imdb\n" for text, label in reversed(list(zip(TEXTS, labels, strict=True)))
    )
    assert corpora.polarity_parquet(
        members({"a/train.parquet": stream.getvalue()}), member="train.parquet"
    ) == corpora.movie_reviews(members({"combined_movie_reviews.csv": table}), source="imdb")


def test_rated_snippets_keep_every_rater() -> None:
    truth = "\r\n".join(f"{n}\t{n - 30}.5\t{text} " for n, text in enumerate(TEXTS))
    raters = "\r\n".join(f"{n}\t0\t1.0\t[{n}, -1]" for n in range(len(TEXTS)))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as out:
        for name, content in (("GroundTruth", truth), ("anonDataRatings", raters)):
            entry = tarfile.TarInfo(f"hutto/movieReviewSnippets_{name}.txt")
            entry.size = len(content.encode())
            out.addfile(entry, io.BytesIO(content.encode()))
    packed = members({"v/additional_resources/hutto_ICWSM_2014.tar.gz": stream.getvalue()})
    found = {row["text"]: row for row in everything(corpora.rated_snippets(packed))}
    assert len(found) == len(TEXTS)
    for n, text in enumerate(TEXTS):
        mean = float(f"{n - 30}.5")
        wanted = {"text": text, "label": int(mean > 0), "rating": mean, "ratings": [n, -1]}
        assert found[text] == wanted


def snli_line(premise: str, hypothesis: str, gold: str) -> str:
    return json.dumps({"sentence1": premise, "sentence2": hypothesis, "gold_label": gold})


def test_snli_drops_disagreement_and_keeps_a_premise_together() -> None:
    golds = ("entailment", "neutral", "contradiction", "-")
    train = [snli_line(text, f"{gold} h", gold) for text in TEXTS for gold in golds]
    test = [snli_line(TEXTS[0], "h", "neutral"), snli_line("a new premise", "h", "-")]
    packed = members(
        {
            "d/snli_1.0_train_subset.jsonl": "\n".join(train),
            "d/snli_1.0_test.jsonl": "\n".join(test),
        }
    )
    files = corpora.snli(packed)
    assert rows(files, "test") == [{"premise": TEXTS[0], "hypothesis": "h", "label": 1}]
    rest = rows(files, "train") + rows(files, "dev")
    assert len(rest) == 3 * (len(TEXTS) - 1)  # the premise that test has too is gone
    assert {(r["hypothesis"], r["label"]) for r in rest} == {
        ("entailment h", 0), ("neutral h", 1), ("contradiction h", 2)
    }  # fmt: skip
    sides = [{r["premise"] for r in rows(files, split)} for split in ("train", "dev", "test")]
    assert sum(map(len, sides)) == len(set.union(*sides))
    assert json.loads(files["labels.json"]) == ["entailment", "neutral", "contradiction"]


def test_bbc_reads_topics_from_folders_and_latin_1() -> None:
    contents: dict[str, str | bytes] = {
        f"c/bbcnews/data/{'tech' if n % 2 else 'business'}/{n:03}.txt": f"{text}\n"
        for n, text in enumerate(TEXTS)
    }
    contents["c/bbcnews/data/tech/999.txt"] = b"a \xa315m fee"
    files = corpora.bbc(members(contents))
    assert json.loads(files["labels.json"]) == ["business", "tech"]
    found = {row["text"]: row["label"] for row in everything(files)}
    assert found == {text: n % 2 for n, text in enumerate(TEXTS)} | {"a £15m fee": 1}


def test_orange_tables_keep_the_official_split() -> None:
    header = "Category\tText\nd\tstring\nclass\t\n"
    train = header + "".join(f"{'b' if n % 2 else 'a'}\t{text} \n" for n, text in enumerate(TEXTS))
    test = header + f"b\tonly in test\na\t{TEXTS[3]}\n"
    packed = members({"o/set-train.tab": train, "o/set-test.tab": test})
    files = corpora.orange_tables(packed, stem="set")
    wanted = [{"text": "only in test", "label": 1}, {"text": TEXTS[3], "label": 0}]
    assert rows(files, "test") == wanted
    rest = rows(files, "train") + rows(files, "dev")
    assert {row["text"] for row in rest} == set(TEXTS) - {TEXTS[3]}
    assert rows(files, "train")[0]["text"] == TEXTS[0]


def test_a_source_without_rows_is_refused() -> None:
    packed = members({"combined_movie_reviews.csv": "text,label,source\n"})
    with pytest.raises(AssetError, match="no rows for the train split"):
        corpora.movie_reviews(packed, source="imdb")


@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 2)), max_size=40), st.randoms())
def test_hash_split_ignores_order_loses_nothing_and_separates_texts(pairs, random) -> None:
    given_rows = [{"text": text, "label": label} for text, label in pairs
                  if text.isprintable()]  # fmt: skip
    splits = corpora.hash_split(given_rows)
    shuffled = list(given_rows)
    random.shuffle(shuffled)
    assert corpora.hash_split(shuffled) == splits
    counted = Counter((row["text"], row["label"]) for part in splits.values() for row in part)
    assert counted == Counter((row["text"], row["label"]) for row in given_rows)
    train, dev, test = ({row["text"] for row in part} for part in splits.values())
    assert len(train) + len(dev) + len(test) == len(train | dev | test)


def test_hash_split_has_the_shares_it_says() -> None:
    splits = corpora.hash_split({"text": str(n), "label": 0} for n in range(20_000))
    # Four standard deviations of a binomial with 20,000 draws are under 0.012.
    assert abs(len(splits["train"]) / 20_000 - 0.8) < 0.012
    assert abs(len(splits["dev"]) / 20_000 - 0.1) < 0.009
