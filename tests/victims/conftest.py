"""Tiny tokenizers of every family and tiny random models; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

LINES = [
    "the film is a warm and funny story about people who never give up .",
    "It 's dull, badly written -- and far too long!",
    "Two men are playing football in the park; nobody watches (yet).",
    "A lovely, moving and well-made movie that everyone's talking about?",
    "I don't like it... what a waste of 90 minutes & money",
    "naïve café résumé",
] * 4
SPECIALS = {
    "wordpiece": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "roberta": ("<pad>", "<unk>", "<s>", "</s>", "<mask>"),
}


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def wordpiece(*, lowercase: bool, limit: int) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    pad, unk, cls, sep, mask = SPECIALS["wordpiece"]
    made = Tokenizer(models.WordPiece(unk_token=unk))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(
        LINES, trainers.WordPieceTrainer(vocab_size=180, special_tokens=[pad, unk, cls, sep, mask])
    )
    made.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} $B:1 {sep}:1",
        special_tokens=[(cls, made.token_to_id(cls)), (sep, made.token_to_id(sep))],
    )
    return _wrapped(made, SPECIALS["wordpiece"], limit, types=True)


def byte_level(*, limit: int, prefix: bool = False) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    made.train_from_iterator(
        LINES,
        trainers.BpeTrainer(
            vocab_size=420,
            special_tokens=list(SPECIALS["roberta"]),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    sep, cls = (("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))
    made.post_processor = processors.RobertaProcessing(sep, cls, add_prefix_space=prefix)
    return _wrapped(made, SPECIALS["roberta"], limit, types=False)


def metaspace(*, limit: int) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.train_from_iterator(
        LINES,
        trainers.UnigramTrainer(
            vocab_size=160, special_tokens=list(SPECIALS["roberta"]), unk_token="<unk>"
        ),
    )
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", made.token_to_id("<s>")), ("</s>", made.token_to_id("</s>"))],
    )
    return _wrapped(made, SPECIALS["roberta"], limit, types=False)


def unsplit(*, limit: int) -> Any:
    """A tokenizer whose pieces may cross spaces: no table can be exact."""
    made = metaspace(limit=limit)
    made.backend_tokenizer.pre_tokenizer = __import__("tokenizers").pre_tokenizers.Metaspace(
        split=False
    )
    return made


def _wrapped(made: Any, specials: tuple[str, ...], limit: int, *, types: bool) -> Any:
    from transformers import PreTrainedTokenizerFast

    pad, unk, cls, sep, mask = specials
    names = ["input_ids", "attention_mask"] + (["token_type_ids"] if types else [])
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=limit,
        pad_token=pad,
        unk_token=unk,
        cls_token=cls,
        sep_token=sep,
        mask_token=mask,
        model_input_names=names,
    )


TOKENIZERS: dict[str, Callable[[int], Any]] = {
    "uncased": lambda limit: wordpiece(lowercase=True, limit=limit),
    "cased": lambda limit: wordpiece(lowercase=False, limit=limit),
    "bytes": lambda limit: byte_level(limit=limit),
    "prefixed bytes": lambda limit: byte_level(limit=limit, prefix=True),
    "metaspace": lambda limit: metaspace(limit=limit),
    "unsplit": lambda limit: unsplit(limit=limit),
}
_made: dict[tuple[str, int], Any] = {}


@pytest.fixture(scope="session")
def tokenizer() -> Callable[[str, int], Any]:
    """A tokenizer by family and limit, made once."""

    def get(family: str, limit: int = 512) -> Any:
        if (family, limit) not in _made:
            _made[family, limit] = TOKENIZERS[family](limit)
        return _made[family, limit]

    return get


def network(kind: str, tokenizer: Any, *, labels: int = 2) -> Any:
    """A tiny random classifier of a family of models."""
    import torch
    import transformers

    common = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "id2label": {i: f"class {i}" for i in range(labels)},
        "label2id": {f"class {i}": i for i in range(labels)},
    }
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 24, "max_position_embeddings": 64}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        if kind == "bert":
            config = transformers.BertConfig(**sizes, **common, initializer_range=0.6)
            return transformers.BertForSequenceClassification(config).eval()
        if kind == "roberta":
            config = transformers.RobertaConfig(**sizes, **common, initializer_range=0.6)
            return transformers.RobertaForSequenceClassification(config).eval()
        config = transformers.DistilBertConfig(
            dim=16,
            n_layers=1,
            n_heads=2,
            hidden_dim=24,
            max_position_embeddings=64,
            initializer_range=0.6,
            **common,
        )
        return transformers.DistilBertForSequenceClassification(config).eval()


@pytest.fixture(scope="session")
def folder(
    tokenizer: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Any]:
    """A saved tiny model by kind: bert, roberta or distilbert."""
    root, made = tmp_path_factory.mktemp("hf"), dict[str, Any]()

    def get(kind: str) -> Any:
        if kind not in made:
            reads = tokenizer("bytes" if kind == "roberta" else "uncased", 64)
            network(kind, reads).save_pretrained(root / kind)
            reads.save_pretrained(root / kind)
            made[kind] = root / kind
        return made[kind]

    return get
