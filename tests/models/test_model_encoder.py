"""Hugging Face encoders: fine-tuned, saved as ordinary folders, loaded again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from toy_models import BAD, FILLER, GOOD

from unfooled.data import Dataset
from unfooled.errors import InputError
from unfooled.models import EncoderModel, accuracy, kind, load_encoder, logits, save_encoder, train
from unfooled.models.encoder import encoder_source
from unfooled.text import Text

FAST = {"progress": False, "lr": 1e-2, "batch": 16, "epochs": 4}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer and sixteen dimensions that knows the toy words."""
    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "is", *FILLER, *GOOD, *BAD]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
    vocabulary = {word: number for number, word in enumerate(words)}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tuned(base: Path, toy: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tuned") / "model"
    return train(f"hf:{base}", toy, out=out, **FAST).folder


def test_an_encoder_learns_the_toy_data(tuned: Path, toy_test: Dataset):
    assert accuracy(load_encoder(tuned), toy_test) >= 0.9


def test_the_folder_is_an_ordinary_hugging_face_folder(tuned: Path):
    config = json.loads((tuned / "config.json").read_text())
    assert config["id2label"] == {"0": "negative", "1": "positive"}
    assert (tuned / "model.safetensors").is_file()
    assert not list(tuned.glob("*.bin"))
    assert kind(tuned) == "hf"
    network = transformers.AutoModelForSequenceClassification.from_pretrained(tuned).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tuned)
    texts = ["a good film", "quite dull indeed , the plot"]
    with torch.no_grad():
        expected = network(**tokenizer(texts, padding=True, return_tensors="pt")).logits
    found = logits(load_encoder(tuned), [Text.parse(text) for text in texts])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_the_marker_tells_how_it_was_trained(tuned: Path):
    marker = json.loads((tuned / "unfooled.json").read_text())
    assert (marker["kind"], marker["labels"]) == ("hf", ["negative", "positive"])
    assert marker["training"]["lr"] == 1e-2
    assert marker["max_length"] == 24  # what the positions of this encoder allow


def test_a_folder_without_our_marker_loads_as_well(tuned: Path, tmp_path: Path):
    model = load_encoder(tuned)
    model.network.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    found = load_encoder(tmp_path)
    texts = [Text.parse("a good film"), Text.parse("awful")]
    assert found.labels == ("negative", "positive")
    assert torch.equal(logits(found, texts), logits(model, texts))


def test_pairs_are_tokenised_as_pairs(base: Path, toy_pairs: Dataset, tmp_path: Path):
    result = train(str(base), toy_pairs, out=tmp_path / "m", **(FAST | {"epochs": 1}))
    model = load_encoder(result.folder)
    source = ("the film is good", "the plot is poor")
    with torch.no_grad():
        expected = model.network(**model.tokenizer(*source, return_tensors="pt")).logits
    torch.testing.assert_close(logits(model, [Text.pair(*source)]), expected, atol=1e-5, rtol=0)
    with pytest.raises(InputError, match="mixed"):
        logits(model, [Text.pair(*source), Text.parse("good")])


def test_same_seed_same_weights_and_the_outside_state_stays(
    base: Path, toy: Dataset, tmp_path: Path
):
    before = torch.get_rng_state()
    for name in ("first", "second"):
        train(f"hf:{base}", toy, out=tmp_path / name, **(FAST | {"epochs": 1}))
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("first", "second")]
    assert weights[0] == weights[1]
    assert torch.equal(torch.get_rng_state(), before)


def test_long_texts_are_cut_at_the_most_tokens(base: Path, toy: Dataset, tmp_path: Path):
    train(f"hf:{base}", toy, out=tmp_path / "m", max_length=6, **(FAST | {"epochs": 1}))
    with pytest.raises(InputError, match="at least 4 tokens"):
        train(f"hf:{base}", toy, out=tmp_path / "n", max_length=3, **FAST)
    model = load_encoder(tmp_path / "m")
    assert model.max_length == 6
    texts = [Text.parse("a film the plot " + word) for word in ("good", "bad")]
    both = logits(model, texts)
    assert torch.equal(both[0], both[1])


def test_an_encoder_we_trained_may_be_replaced_and_a_foreign_one_not(
    tuned: Path, base: Path, tmp_path: Path
):
    model = load_encoder(tuned)
    folder = save_encoder(model, tmp_path / "m")
    assert save_encoder(model, folder) == folder
    with pytest.raises(InputError, match="not overwritten"):
        save_encoder(model, base)


def test_where_an_architecture_name_leads(base: Path, monkeypatch: pytest.MonkeyPatch):
    from unfooled import assets

    monkeypatch.setattr(assets, "get", lambda name: Path("/cache") / name)
    assert encoder_source("hf") == str(Path("/cache/minilm"))
    assert encoder_source("hf:some/name") == "some/name"
    assert encoder_source(str(base)) == str(base)
    for arch in ("hf:", "transformr"):
        with pytest.raises(InputError, match="unknown architecture"):
            encoder_source(arch)


def test_a_pickled_checkpoint_is_refused(base: Path, tmp_path: Path):
    (tmp_path / "config.json").write_bytes((base / "config.json").read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"anything")
    with pytest.raises(InputError, match="is a pickle"):
        load_encoder(tmp_path)


def test_a_folder_that_is_no_model_is_named(tmp_path: Path, toy: Dataset):
    with pytest.raises(InputError, match="not a Hugging Face folder"):
        load_encoder(tmp_path)
    with pytest.raises(InputError, match="cannot load the Hugging Face model"):
        train(f"hf:{tmp_path}", toy, out=tmp_path / "m", **FAST)


def test_an_encoder_model_is_what_training_returns(tuned: Path):
    model = load_encoder(tuned)
    assert isinstance(model, EncoderModel)
    assert not model.network.training
    assert not any(part.requires_grad for part in model.network.parameters())
