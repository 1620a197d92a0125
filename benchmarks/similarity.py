"""TextFooler with a sentence encoder: the whole attack over the raw forwards of victim and encoder.

One process, one thread, texts of 20 words; half of the words have 8 candidates. Victim and encoder have random weights
(the cost is that of trained ones), and the victim an output bias that no swap overcomes, so that every word is visited
and every candidate that helps is compared, 15 words around it. The raw forwards are those of the same rows of ids, 128 at a
time in the order asked, single ones singly; attack and raw forwards take turns, so that a machine that slows down slows both.

textfooler_encoder_words    with a BiLSTM of the reference size as the victim
textfooler_encoder          with a BERT of MiniLM's size as the victim

The encoder is a BERT of MiniLM's size in both. `python -m benchmarks.similarity --texts 40` takes fewer texts.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import unfooled as uf
from benchmarks.attacks import labelled
from benchmarks.engine import bert, examples, word_model
from unfooled.encoders.huggingface import HuggingFaceEncoder
from unfooled.space import Space
from unfooled.victims.base import Victim
from unfooled.victims.pretrained import Body

TEXTS, BATCH, TURNS, MOST = 100, 128, 4, 2.0


class Replay:
    """Stands in for a network's forward: keeps the ids it was given, and can run them again, raw."""

    def __init__(self, network: Any) -> None:
        self.forward = network.forward
        self.rows: list[Tensor] = []  # without padding
        self.single: list[Tensor] = []
        self.named = False  # its inputs are keywords, as Hugging Face has them
        network.forward = self._forward

    def _forward(self, *args: Any, **inputs: Any) -> Any:
        self.named = "input_ids" in inputs
        ids, mask = (inputs["input_ids"], inputs.get("attention_mask")) if self.named else args[:2]
        lengths = [ids.shape[1]] * len(ids) if mask is None else mask.sum(1).tolist()
        kept = [row[:n] for row, n in zip(ids.clone(), lengths, strict=True)]
        (self.single if len(ids) == 1 else self.rows).extend(kept)
        return self.forward(*args, **inputs)

    def raw(self) -> float:
        """Seconds of all that was kept, which is forgotten."""
        batches = [self.rows[i : i + BATCH] for i in range(0, len(self.rows), BATCH)]
        batches += [[row] for row in self.single]
        self.rows, self.single = [], []
        total = 0.0
        with torch.inference_mode():
            for batch in batches:
                ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)
                mask = torch.arange(ids.shape[1]) < torch.tensor([len(b) for b in batch])[:, None]
                total += self._timed(ids, mask)
        return total

    def _timed(self, ids: Tensor, mask: Tensor) -> float:
        masked = {} if mask.all() else {"attention_mask": mask.long()}
        began = time.perf_counter()
        if self.named:
            self.forward(input_ids=ids, **masked)
        else:
            self.forward(ids, mask)
        return time.perf_counter() - began


def sentence_encoder(rng: np.random.Generator, *, layers: int = 6, width: int = 384) -> Any:
    """A sentence encoder, by default of MiniLM's size, with random weights."""
    whole, _ = bert(rng, layers=layers, width=width)
    body = Body(whole.network.bert, whole.encoder.tokenizer, 512)
    return HuggingFaceEncoder(body, name="random", fingerprint="random")


def ratio(victim: Victim, encoder: Any, spaces: list[Space]) -> tuple[float, float]:
    """Seconds of the attack over those of the raw forwards, and the encoder's share of these."""
    given = labelled(victim, spaces)
    how: dict[str, Any] = {"encoder": encoder, "step_similarity": 0.5}
    uf.attack("textfooler", victim, given[:2], candidates=spaces[:2], **how)  # warms up
    # The attack pays for the bookkeeping of the two: a clone of ids is little beside a forward.
    replays = [Replay(victim.network), Replay(encoder.network)]  # type: ignore[attr-defined]
    whole, raw = 0.0, np.zeros(2)
    for part in np.array_split(np.arange(len(spaces)), TURNS):
        some = slice(int(part[0]), int(part[-1]) + 1)
        began = time.perf_counter()
        uf.attack("textfooler", victim, given[some], candidates=spaces[some], **how)
        whole += time.perf_counter() - began
        raw += [replay.raw() for replay in replays]
    return float(whole / raw.sum()), float(raw[1] / raw.sum())


def measure(texts: int = TEXTS) -> dict[str, float]:
    """Both ratios, and the table with what they may be."""
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    table = Table("figure", "measured", "at most", "the encoder's share of the raw forwards")
    found = {}
    for key, make in {"textfooler_encoder_words": word_model, "textfooler_encoder": bert}.items():
        victim, known = make(np.random.default_rng(0))
        spaces = examples(known, length=20, count=texts, rng=np.random.default_rng(1))
        encoder = sentence_encoder(np.random.default_rng(0))  # knows the same words
        value, share = ratio(victim, encoder, spaces)
        found[key] = round(value, 3)
        table.add_row(key, f"{value:.2f}", f"{MOST}", f"{100 * share:.0f} %")
    Console().print(table)
    return found


def main() -> None:
    """Measures with as many texts as asked."""
    parser = argparse.ArgumentParser(description="TextFooler with a sentence encoder")
    parser.add_argument("--texts", type=int, default=TEXTS)
    texts = parser.parse_args().texts
    print(json.dumps({"benchmark": "similarity", "texts": texts, **measure(texts)}))


if __name__ == "__main__":
    main()
