"""Hugging Face classifiers, against transformers' own pipeline of tokenizer and model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unfooled.errors import InputError, OutOfMemory
from unfooled.space import DELETED, UNKNOWN, Space
from unfooled.text import Source, Text
from unfooled.victims import Part, load
from unfooled.victims.encoder import Encoded
from unfooled.victims.frames import pack
from unfooled.victims.huggingface import HuggingFaceVictim, memory_errors

KINDS = ("bert", "roberta", "distilbert")
Folder = Callable[[str], Path]


def one_by_one(made: HuggingFaceVictim, sources: list[Source]) -> Any:
    """Logits of each source alone, through transformers' own calls."""
    rows = []
    for source in sources:
        pair = ([source],) if isinstance(source, str) else ([source[0]], [source[1]])
        limit = made.encoder.limit
        batch = made.encoder.tokenizer(
            *pair, truncation=True, max_length=limit, return_tensors="pt"
        )
        with torch.inference_mode():
            rows.append(made.network(**batch).logits[0].float().numpy())
    return np.stack(rows)


SOURCES: list[Source] = ["the film", "A warm, funny story!", "", "film " * 200, "🙂 [MASK] é", "x"]
PAIRS: list[Source] = [("the film", "a story"), ("", "x"), ("film " * 90, "never " * 80), ("a", "")]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_models(folder: Folder, kind: str) -> None:
    made = HuggingFaceVictim.load(folder(kind))
    assert made.labels == ("class 0", "class 1")
    assert made.encoder.limit == (63 if kind == "roberta" else 64)  # positions start behind padding
    for sources in (SOURCES, PAIRS):
        scores = made.scores(sources)
        assert scores.dtype == np.float32
        assert scores == pytest.approx(one_by_one(made, sources), abs=1e-5)
    assert made.scores([]).shape == (0, 2)
    assert np.ptp(made.scores(SOURCES)[:, 0]) > 1e-3  # the tiny model does tell texts apart


@pytest.mark.parametrize("kind", KINDS)
def test_rows_have_the_scores_of_their_strings(folder: Folder, kind: str) -> None:
    made = HuggingFaceVictim.load(folder(kind))
    spaces = [
        Space("the film is warm , and funny .", {1: ("movie", "unwatchable"), 3: ("dull",)}),
        Space("A (lovely) 🙂 story!", {2: ("moving", "[MASK]"), 5: ("film",)}),
        Space("film " * 80, {0: ("movie",), 79: ("movie",)}),
        Space(Text.pair("two men play", "nobody watches"), {1: ("sees", "gives up")}),
    ]
    parts, expected = [], []
    for space in spaces:
        rows = np.concatenate([*space.enumerate(), space.probes(space.origin, UNKNOWN)])
        rows = np.concatenate([rows, space.probes(space.origin, DELETED)])
        parts.append(Part(made.prepare(space), rows))
        expected += space.sources(rows, unknown=made.unknown)
    found = made.submit(parts)()
    assert found.shape == (len(expected), 2)
    assert found == pytest.approx(one_by_one(made, expected), abs=5e-5)


def test_batches_are_padded_to_their_longest_and_masked_only_then(folder: Folder) -> None:
    made = HuggingFaceVictim.load(folder("bert"))
    even = made._inputs(Encoded([pack([2, 9, 3]), pack([2, 8, 3])], []))
    assert set(even) == {"input_ids"}
    uneven = made._inputs(Encoded([pack([2, 9, 9, 3]), pack([2, 3])], [b"\0\0\1\1", b"\0\1"]))
    assert uneven["input_ids"].tolist() == [[2, 9, 9, 3], [2, 3, 0, 0]]
    assert uneven["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert uneven["token_type_ids"].tolist() == [[0, 0, 1, 1], [0, 1, 0, 0]]
    made.encoder.pad_left = True
    left = made._inputs(Encoded([pack([2, 9, 9, 3]), pack([2, 3])], [b"\0\0\1\1", b"\0\1"]))
    assert left["input_ids"].tolist() == [[2, 9, 9, 3], [0, 0, 2, 3]]
    assert left["attention_mask"].tolist() == [[1, 1, 1, 1], [0, 0, 1, 1]]
    assert left["token_type_ids"].tolist() == [[0, 0, 1, 1], [0, 0, 0, 1]]


def test_long_lists_are_scored_in_batches_of_similar_length(folder: Folder) -> None:
    made = HuggingFaceVictim.load(folder("distilbert"))
    made.batch_rows = 3
    sources: list[Source] = ["film " * n for n in (9, 1, 5, 30, 2, 8, 1)]
    assert made.scores(sources) == pytest.approx(one_by_one(made, sources), abs=1e-5)


def test_memory_errors_become_one_kind() -> None:
    for error in (
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        MemoryError(),
    ):
        with pytest.raises(OutOfMemory), memory_errors():
            raise error
    with pytest.raises(RuntimeError, match="shapes"), memory_errors():
        raise RuntimeError("shapes differ")


def test_a_model_out_of_memory_says_so(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    made = HuggingFaceVictim.load(folder("bert"))

    def full(**_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    made.network = full
    part = Part(made.prepare(Space("the film", {})), np.zeros((1, 0), dtype=np.int16))
    with pytest.raises(OutOfMemory, match="Tried to allocate"):
        made.submit([part])


def test_folders_have_fingerprints_names_and_types(folder: Folder, tmp_path: Path) -> None:
    made = load(folder("bert"))
    assert isinstance(made, HuggingFaceVictim)
    assert made.fingerprint == load(str(folder("bert"))).fingerprint
    assert made.fingerprint != load(folder("distilbert")).fingerprint
    assert load(f"hf:{folder('bert')}").scores(["x"]) == pytest.approx(made.scores(["x"]))
    assert load(folder("bert"), labels=["no", "yes"]).labels == ("no", "yes")
    half = load(folder("bert"), dtype="bfloat16")
    assert half.fingerprint != made.fingerprint
    assert half.scores(SOURCES).dtype == np.float32
    made.network.to(torch.bfloat16)
    assert half.alone(SOURCES) == pytest.approx(one_by_one(made, SOURCES), abs=1e-6)
    shutil.copytree(folder("bert"), tmp_path / "trained")
    (tmp_path / "trained" / "unfooled.json").write_text(
        json.dumps({"unfooled": 1, "max_length": 8})
    )
    assert HuggingFaceVictim.load(tmp_path / "trained").encoder.limit == 8


def test_the_stand_in_for_an_unknown_word(folder: Folder) -> None:
    assert HuggingFaceVictim.load(folder("bert")).unknown == "[UNK]"
    assert HuggingFaceVictim.load(folder("roberta")).unknown == "<unk>"


def test_pickles_and_headless_models_are_refused(folder: Folder, tmp_path: Path) -> None:
    pickled = tmp_path / "pickled"
    shutil.copytree(folder("bert"), pickled)
    (pickled / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no weights"):
        load(pickled)
    (pickled / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(InputError, match=r"pytorch_model\.bin, a pickle.*safetensors"):
        load(pickled)

    from transformers import BertModel

    headless = tmp_path / "headless"
    shutil.copytree(folder("bert"), headless)
    BertModel.from_pretrained(folder("bert")).save_pretrained(headless)
    with pytest.raises(InputError, match=r"no weights for classifier.*fine-tune"):
        load(headless)


def test_other_folders_and_devices_are_explained(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dtype is one of"):
        load(folder("bert"), dtype="float8")
    with pytest.raises(InputError, match="device 'abacus' cannot be used"):
        load(folder("bert"), device="abacus")
    broken = tmp_path / "broken"
    shutil.copytree(folder("bert"), broken)
    (broken / "model.safetensors").write_bytes(b"no")
    with pytest.raises(InputError, match="broken"):
        load(broken)
    config = json.loads((folder("bert") / "config.json").read_text())
    one = tmp_path / "one"
    shutil.copytree(folder("bert"), one)
    from transformers import BertConfig, BertForSequenceClassification

    config["id2label"], config["label2id"] = {0: "score"}, {"score": 0}
    BertForSequenceClassification(BertConfig(**config)).save_pretrained(one)
    with pytest.raises(InputError, match="regression"):
        load(one)


def test_an_absent_hub_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub
    from huggingface_hub import errors

    def offline(name: str, **_: Any) -> str:
        raise errors.LocalEntryNotFoundError("long story\nwith lines")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(InputError, match=r"'owner/name' is not in the local cache"):
        load("hf:owner/name")
    with pytest.raises(InputError, match="needs a name"):
        load("hf:")
    monkeypatch.undo()
    with pytest.raises(InputError, match="not the name of a hub model"):
        load("hf:not a//name")
