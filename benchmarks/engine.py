"""What the engine costs beyond the model: milliseconds per row, and whole runs over raw forwards.

One process, one thread, 500 texts, 64 in flight. Half of the words of a text have 8 candidates; a text has
a budget of 500 queries (1,000 for 200 words).
Networks have random weights (the cost is that of trained ones) and an output bias
that no swap overcomes, so that greedy visits every position: 91 rows for a text of 20 words, 901 for one of 200.

row_ms_*    time outside the network's forwards and the verification, per row that was forwarded
ratio_*     the whole run over the raw forwards of the same rows, 128 at a time in the order asked,
            plus one forward of a single text for each text
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

from unfooled.models import ModelConfig, Vocabulary, WordModel, build
from unfooled.runner import attack
from unfooled.space import Space
from unfooled.text import Example, Text
from unfooled.victims.base import Victim
from unfooled.victims.huggingface import HuggingFaceVictim
from unfooled.victims.pretrained import Classifier
from unfooled.victims.words import WordVictim

TEXTS, CANDIDATES, BATCH, VOCABULARY, GROUP = 500, 8, 128, 20_000, 125
QUERIES = {20: 500, 200: 1000}  # more than greedy needs, so that only beam is cut short
LIMITS = {
    "row_ms_20": 0.010,
    "row_ms_200": 0.015,
    "row_ms_hf_20": 0.015,
    "row_ms_hf_200": 0.020,
    "ratio_beam": 1.15,
    "ratio_greedy": 1.25,
    "ratio_minilm": 1.05,
}


class Meter:
    """Stands in for a victim's forward and public entry: times them, keeps ids, replays them raw."""

    def __init__(self, victim: Any, *, keep: bool = False) -> None:
        self.keep = keep
        self.forward, self.scores = victim.network.forward, victim.scores
        self.hf = isinstance(victim, HuggingFaceVictim)
        victim.network.forward, victim.scores = self._forward, self._scores
        self.reset()

    def reset(self) -> None:
        """Forgets what was measured."""
        self.inside = self.own = self.public = (
            0.0  # seconds: network, this bookkeeping, public entry
        )
        self.rows = 0
        self.lines: list[Tensor] = []  # ids without padding, as batches had them
        self.singles: list[Tensor] = []  # those of the verification of each finished text

    def _forward(self, *args: Any, **inputs: Any) -> Any:
        began = time.perf_counter()
        out = self.forward(*args, **inputs)
        done = time.perf_counter()
        ids, mask = (inputs["input_ids"], inputs.get("attention_mask")) if self.hf else args[:2]
        self.rows += len(ids) if len(ids) > 1 else 0
        if self.keep:
            lengths = [ids.shape[1]] * len(ids) if mask is None else mask.sum(1).tolist()
            kept = [row[:n] for row, n in zip(ids.clone(), lengths, strict=True)]
            (self.singles if len(ids) == 1 else self.lines).extend(kept)
        self.inside += done - began
        self.own += time.perf_counter() - done
        return out

    def _scores(self, sources: Sequence[Any]) -> Any:
        began, before = time.perf_counter(), self.inside + self.own
        out = self.scores(sources)
        self.public += time.perf_counter() - began - (self.inside + self.own - before)
        return out

    def raw(self) -> float:
        """Seconds of the same rows, 128 at a time, and of each single text."""
        blocks = [self.lines[i : i + BATCH] for i in range(0, len(self.lines), BATCH)]
        total = 0.0
        with torch.inference_mode():
            for block in [*blocks, *([line] for line in self.singles)]:
                ids = torch.nn.utils.rnn.pad_sequence(block, batch_first=True)
                mask = torch.arange(ids.shape[1]) < torch.tensor([len(b) for b in block])[:, None]
                inputs = {"input_ids": ids} | (
                    {} if mask.all() else {"attention_mask": mask.long()}
                )
                began = time.perf_counter()
                _ = self.forward(**inputs) if self.hf else self.forward(ids, mask)
                total += time.perf_counter() - began
        return total


class Figures(NamedTuple):
    """One run: what it cost beyond the network per row, and its whole time."""

    rows: int
    row_ms: float
    seconds: float


def run(name: str, victim: Victim, meter: Meter, *, spaces: list[Space], queries: int) -> Figures:
    """Attacks all texts; the meter has what their forwards took."""
    labels = victim.scores([s.original.source for s in spaces]).argmax(axis=1)
    examples = [
        Example(s.original, int(y), str(i))
        for i, (s, y) in enumerate(zip(spaces, labels, strict=True))
    ]
    attack(name, victim, examples[:20], candidates=spaces[:20], max_queries=queries)  # warms up
    meter.reset()
    began = time.perf_counter()
    attack(name, victim, examples, candidates=spaces, max_queries=queries)
    whole = time.perf_counter() - began - meter.own
    beyond = whole - meter.inside - meter.public
    return Figures(meter.rows, 1000 * beyond / meter.rows, whole)


def ratio(name: str, victim: Victim, meter: Meter, *, spaces: list[Space]) -> float:
    """Whole runs over raw forwards, in alternation, so that a machine that slows down slows both."""
    whole = raw = 0.0
    for start in range(0, len(spaces), GROUP):
        part = spaces[start : start + GROUP]
        whole += run(name, victim, meter, spaces=part, queries=QUERIES[20]).seconds
        raw += meter.raw()
    return whole / raw


def words(rng: np.random.Generator, n: int) -> list[str]:
    """Made-up words that a vocabulary can hold."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return sorted({"".join(rng.choice(letters, rng.integers(3, 9))) for _ in range(n)})


def examples(
    known: Sequence[str], *, length: int, count: int, rng: np.random.Generator
) -> list[Space]:
    """Spaces over texts of random words."""
    pick = np.array(known)
    spaces = []
    for _ in range(count):
        text = Text.parse(" ".join(rng.choice(pick, length)) + " .")
        positions = rng.permutation(length)[: length // 2]
        spaces.append(
            Space(text, {int(p): rng.choice(pick, CANDIDATES).tolist() for p in positions})
        )
    return spaces


def word_model(
    rng: np.random.Generator, *, arch: str = "bilstm", units: int = 150
) -> tuple[WordVictim, list[str]]:
    """A word model, by default the BiLSTM of the reference size, with random weights."""
    known = words(rng, VOCABULARY)
    vocabulary = Vocabulary(known)
    config = ModelConfig(arch=arch, entries=len(vocabulary), classes=2, dimensions=50, units=150)
    torch.manual_seed(0)
    network = build(config).eval().requires_grad_(False)
    network.output.bias.copy_(torch.tensor([50.0, 0.0]))
    model = WordModel(network, vocabulary, ("negative", "positive"), config)
    return WordVictim(model, name=arch, fingerprint="random"), known


def bert(
    rng: np.random.Generator, *, layers: int = 6, width: int = 384, heads: int | None = None
) -> tuple[HuggingFaceVictim, list[str]]:
    """A BERT, by default of MiniLM's size, with random weights and a word-piece tokenizer."""
    known = words(rng, VOCABULARY)
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = {w: i for i, w in enumerate([*specials, ".", *known, *(f"##{w}" for w in known[::4])])}
    tokenizer = BertTokenizerFast(vocab=pieces)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=width, num_hidden_layers=layers,
        num_attention_heads=heads or width // 32,
        intermediate_size=4 * width, num_labels=2,
    )  # fmt: skip
    torch.manual_seed(0)
    network = BertForSequenceClassification(config).eval().requires_grad_(False)
    network.classifier.bias.copy_(torch.tensor([50.0, 0.0]))
    model = Classifier(
        network=network, tokenizer=tokenizer, labels=("negative", "positive"), limit=512
    )
    return HuggingFaceVictim(model, name="minilm", fingerprint="random"), known


def measure() -> dict[str, float]:
    """All figures, and the table with the limits they have to keep."""
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one thread for everybody
    rng = np.random.default_rng(0)
    found: dict[str, float] = {}
    # What a row costs beyond the network does not depend on the network, so small ones are used.
    for mark, (victim, known) in {
        "": word_model(rng, arch="cnn", units=4),
        "hf_": bert(rng, layers=1, width=32),
    }.items():
        meter = Meter(victim)
        for length in (20, 200):
            spaces = examples(known, length=length, count=TEXTS, rng=rng)
            runs = [
                run(name, victim, meter, spaces=spaces, queries=QUERIES[length])
                for name in ("greedy", "beam")
            ]
            found[f"row_ms_{mark}{length}"] = max(figures.row_ms for figures in runs)
            print(f"{victim.name}, {length} words:", *runs, flush=True)
    victim, known = word_model(rng)
    spaces, meter = examples(known, length=20, count=TEXTS, rng=rng), Meter(victim, keep=True)
    for name in ("greedy", "beam"):
        found[f"ratio_{name}"] = ratio(name, victim, meter, spaces=spaces)
    encoder, known = bert(rng)
    spaces, meter = examples(known, length=20, count=TEXTS, rng=rng), Meter(encoder, keep=True)
    found["ratio_minilm"] = ratio("greedy", encoder, meter, spaces=spaces)
    table = Table("figure", "measured", "at most")
    for key, value in found.items():
        table.add_row(key, f"{value:.4f}", f"{LIMITS[key]}")
    Console().print(table)
    return {key: round(value, 4) for key, value in found.items()}
