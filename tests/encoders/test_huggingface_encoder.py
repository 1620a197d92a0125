"""Hugging Face encoders, against transformers' own model and a mean by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unfooled.companions import EncodesRows
from unfooled.encoders import load_encoder
from unfooled.errors import InputError
from unfooled.similarity import cosine
from unfooled.space import Space
from unfooled.subspaces import view

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

LINES = ["the film is warm and funny", "it is dull and far too long .", "a lovely story ?"]
TEXTS = [*LINES, "", "x", "the film " * 60, "A warm, funny story!"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BERT without a pooler, and its tokenizer."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(
        LINES * 4, trainers.WordPieceTrainer(vocab_size=120, special_tokens=names)
    )
    ids = [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=64,
        **dict(
            zip(
                ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"),
                names,
                strict=True,
            )
        ),
        model_input_names=["input_ids", "attention_mask", "token_type_ids"],
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        config = transformers.BertConfig(
            vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=24, max_position_embeddings=64, initializer_range=0.6, pad_token_id=0,
        )  # fmt: skip
        network = transformers.BertModel(config, add_pooling_layer=False)
    where = tmp_path_factory.mktemp("hf") / "tiny"
    network.save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where


def by_hand(encoder: Any, text: str) -> np.ndarray:
    """The normalised mean of the last layer, one text at a time, by transformers' own calls."""
    tokens = encoder.tokens
    batch = tokens.tokenizer(text, truncation=True, max_length=tokens.limit, return_tensors="pt")
    with torch.inference_mode():
        mean = encoder.network(**batch).last_hidden_state[0].mean(dim=0).numpy()
    return mean / np.linalg.norm(mean)


def test_vectors_are_means_of_length_one(folder: Path) -> None:
    encoder = load_encoder(str(folder))
    assert isinstance(encoder, EncodesRows)
    assert encoder.name == "tiny"
    assert (encoder.fingerprint or "").startswith("sha256:")
    found = encoder.encode(TEXTS)
    assert found == pytest.approx(np.stack([by_hand(encoder, t) for t in TEXTS]), abs=1e-5)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert encoder.encode([]).shape == (0, 16)


def test_rows_have_the_vectors_of_their_strings(folder: Path) -> None:
    encoder: Any = load_encoder(str(folder))
    encoder.batch_rows = 5
    spaces = [
        Space("the film is warm", {1: ("story", "lovely"), 3: ("funny", "xyz", "far too")}),
        view(Space("a lovely story , too long", {1: ("dull",), 5: ("far",)}), range(1, 5)).space,
    ]
    parts, texts = [], []
    for space in spaces:
        rows = np.concatenate(list(space.enumerate()))
        parts.append((encoder.prepare(space), rows))
        texts += map(str, space.sources(rows))
    assert encoder.encode_rows(parts) == pytest.approx(encoder.encode(texts), abs=1e-5)


def test_what_is_no_encoder(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nor a folder of that name"):
        load_encoder(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="no weights"):
        load_encoder(str(tmp_path))
    with pytest.raises(InputError, match="the device 'nonsense' cannot be used"):
        load_encoder(str(folder), device="nonsense")


@pytest.mark.assets("minilm")
def test_minilm_knows_what_is_similar(asset: Callable[[str], Path]) -> None:
    asset("minilm")
    encoder: Any = load_encoder("minilm")
    assert (encoder.name, encoder.tokens.limit) == ("minilm", 256)
    texts = ["A warm and funny film.", "A warm and amusing movie.", "The bank raised its rates."]
    vectors = encoder.encode(texts)
    assert vectors.shape == (3, 384)
    same, near, far = cosine(vectors, vectors[0])
    assert same == pytest.approx(1)
    assert near > 0.8 > 0.3 > far
    assert vectors == pytest.approx(np.stack([by_hand(encoder, t) for t in texts]), abs=1e-5)


@pytest.mark.assets("minilm")
def test_an_attack_under_minilm(asset: Callable[[str], Path]) -> None:
    import unfooled as uf

    asset("minilm")
    weights = {"funny": 1.0, "dull": -2.0, "amusing": -0.5}
    victim = uf.victim(
        lambda texts: [[0.0, sum(weights.get(w, 0.0) for w in t.split())] for t in texts], 2
    )
    table = {"funny": ["dull", "amusing"]}
    data = [("a warm and funny film", 1)]
    free, held = (
        uf.attack("greedy", victim, data, candidates=table, min_similarity=least)[0]
        for least in (None, 0.85)
    )
    assert free.changes == ((3, "funny", "dull"),)
    assert held.changes == ((3, "funny", "amusing"),)
    assert held.refused == 1
