"""Tiny random masked language models in ordinary Hugging Face folders; nothing is downloaded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LINES = [
    "the film is a warm and funny story about people who never give up .",
    "It 's dull, badly written -- and far too long!",
    "Two men are playing football in the park; nobody watches (yet).",
    "A lovely, moving and well-made movie that everyone's talking about?",
    "I don't like it... what a waste of 90 minutes & money",
]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDPIECE = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BYTES = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")


def wordpiece(*, lowercase: bool = True) -> Any:
    """A word-piece tokenizer that knows the words of the lines, and single letters."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    _, unk, cls, sep, _ = WORDPIECE
    words = re.findall(r"\w+|[^\w\s]", " ".join(LINES))
    words = [word.lower() for word in words] if lowercase else [*words, *map(str.lower, words)]
    entries = [*WORDPIECE, *LETTERS, *("##" + letter for letter in LETTERS), *words]
    numbers = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    made = Tokenizer(models.WordPiece(numbers, unk_token=unk))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} $B:1 {sep}:1",
        special_tokens=[(cls, numbers[cls]), (sep, numbers[sep])],
    )
    return _wrapped(made, WORDPIECE, types=True)


def byte_level() -> Any:
    """A byte-level tokenizer that knows the words of the lines after a space, and single bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    merges: dict[tuple[str, str], None] = {}
    for word in re.findall(r"\w+|[^\w\s]", " ".join(LINES)):
        marked = "Ġ" + word
        merges |= dict.fromkeys((marked[:n], marked[n]) for n in range(1, len(marked)))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    entries = [*BYTES, *alphabet, *(one + other for one, other in merges)]
    numbers = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    made = Tokenizer(models.BPE(numbers, list(merges)))
    made.decoder = decoders.ByteLevel()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    sep, cls = (("</s>", numbers["</s>"]), ("<s>", numbers["<s>"]))
    made.post_processor = processors.RobertaProcessing(sep, cls, add_prefix_space=False)
    return _wrapped(made, BYTES, types=False)


def write_bert(folder: Path, *, seed: int = 0, lowercase: bool = True, positions: int = 64) -> Path:
    """A BERT of two layers with random weights, large enough to tell entries apart."""
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = wordpiece(lowercase=lowercase)
    return _write(
        folder,
        BertForMaskedLM,
        BertConfig(
            vocab_size=len(tokenizer),
            type_vocab_size=2,
            max_position_embeddings=positions,
            **_SIZES,
        ),
        tokenizer,
        seed=seed,
    )


def write_roberta(folder: Path, *, seed: int = 0) -> Path:
    """A RoBERTa of the same size, with a byte-level tokenizer."""
    from transformers import RobertaConfig, RobertaForMaskedLM

    tokenizer = byte_level()
    return _write(
        folder,
        RobertaForMaskedLM,
        RobertaConfig(
            vocab_size=len(tokenizer),
            type_vocab_size=1,
            max_position_embeddings=66,
            pad_token_id=tokenizer.pad_token_id,
            **_SIZES,
        ),
        tokenizer,
        seed=seed,
    )


_SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,
}


def _write(folder: Path, kind: Any, config: Any, tokenizer: Any, *, seed: int) -> Path:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = kind(config)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _wrapped(made: Any, specials: tuple[str, ...], *, types: bool) -> Any:
    from transformers import AddedToken, PreTrainedTokenizerFast

    pad, unk, cls, sep, mask = specials
    names = ["input_ids", "attention_mask"] + (["token_type_ids"] if types else [])
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=64,
        pad_token=pad,
        unk_token=unk,
        cls_token=cls,
        sep_token=sep,
        mask_token=AddedToken(mask, lstrip=not types, special=True),  # as RoBERTa's is
        model_input_names=names,
    )
