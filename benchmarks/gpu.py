"""What is left of a GPU's raw forwards when attacks run on it: texts per second, and shares of the ceiling.

Networks have random weights (the cost is that of trained ones) and an output bias that no swap overcomes. Those of BERT
run in bfloat16 where the device has it, over texts of 32 tokens; the BiLSTM in float32, over 20 words. Half of the words
have 8 candidates, and a text has a budget of 500 queries. Sentences are not compared. Before an attack is timed it runs
on 250 texts of other words, so that the device's kernels and memory are there, as they are when the ceiling is measured;
the words of the texts themselves are new to the tokeniser. An attack is timed three times, each time on other texts and
with a victim that remembers nothing, for its seconds are those of a CPU that is not always equally fast.

ceiling_*           texts per second of the network alone, on ids that lie on the device, at its best batch
greedy_*, pdp_*     forwards per second of a whole attack, the verification of each text included: the median
runs_*              the same of all runs, from the slowest
share_*             of the ceiling; BERT-base has to reach a half, MiniLM a quarter

The table also says where the time of an attack goes: assembling batches and starting them, waiting for the device, and
everything else (the searches, the cache, the verification).

`python -m benchmarks.gpu --texts 100` takes fewer texts; `--device cpu --texts 2 --queries 20 --runs 1` tries it out
without a GPU.
"""

from __future__ import annotations

import argparse
import json
import operator
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import unfooled as uf
from benchmarks.attacks import labelled
from benchmarks.engine import bert, examples, word_model
from unfooled.space import Space
from unfooled.victims.base import Floats, Victim
from unfooled.victims.huggingface import HuggingFaceVictim
from unfooled.victims.pretrained import Classifier
from unfooled.victims.words import WordVictim

TEXTS, QUERIES, RUNS, SECONDS = 1_000, 500, 3, 2.0
WARMING, OTHERS = 250, 2_000  # texts of a first run, and how many words are kept for it
BATCHES = {"cuda": (256, 1024, 4096), "cpu": (16,)}
LEAST = {"bert_base": 0.5, "minilm": 0.25}  # shares of the ceiling
ATTACKS = ("greedy", "pdp")
NEEDS = (
    "this benchmark needs a GPU, and torch finds none here; --device cpu tries it out without one"
)


class Size(NamedTuple):
    """A network: layers, width and heads of a BERT, or none of these for the BiLSTM."""

    words: int  # of its texts, a full stop besides
    tokens: int
    layers: int = 0
    width: int = 0
    heads: int = 0


SIZES = {
    "minilm": Size(29, 32, 6, 384, 12),
    "bert_base": Size(29, 32, 12, 768, 12),
    "bilstm": Size(19, 20),
}


class Spent(NamedTuple):
    """One attack: its seconds, the forwards they went into, and where the seconds went."""

    seconds: float
    forwards: int
    assembling: float
    waiting: float

    @property
    def rate(self) -> float:
        """Forwards per second."""
        return self.forwards / self.seconds


class Watched:
    """Stands in for a victim's `submit` and times what goes before and what comes after the device's work."""

    def __init__(self, victim: Any) -> None:
        self.submit, self.assembling, self.waiting = victim.submit, 0.0, 0.0
        victim.submit = self._submit

    def _submit(self, parts: Sequence[Any]) -> Callable[[], Floats]:
        began = time.perf_counter()
        handle = self.submit(parts)
        self.assembling += time.perf_counter() - began

        def wait() -> Floats:
            began = time.perf_counter()
            scores: Floats = handle()
            self.waiting += time.perf_counter() - began
            return scores

        return wait


def victim(
    size: Size, *, device: str, rng: np.random.Generator
) -> tuple[Callable[[], Any], list[str]]:
    """What makes victims that have read nothing yet, over one network of that size; the words it knows."""
    if not size.layers:
        words, known = word_model(rng)
        return partial(
            WordVictim, words.model, name="bilstm", fingerprint="random", device=device
        ), known
    made, known = bert(rng, layers=size.layers, width=size.width, heads=size.heads)
    half = device != "cpu" and torch.cuda.is_bf16_supported()
    network = made.network.to(torch.bfloat16) if half else made.network
    model = Classifier(network, made.encoder.tokenizer, made.labels, 512)
    return partial(
        HuggingFaceVictim, model, name="bert", fingerprint="random", device=device
    ), known


def ceiling(who: Any, size: Size, *, seconds: float = SECONDS) -> float:
    """Texts per second of the network alone, at the best of several batches."""
    return max(_raw(who, size, rows, seconds=seconds) for rows in BATCHES[who.device.type])


def _raw(who: Any, size: Size, rows: int, *, seconds: float) -> float:
    ids = torch.randint(5, 1000, (rows, size.tokens), device=who.device)
    mask = torch.ones_like(ids, dtype=torch.bool)
    with torch.inference_mode():
        _forward(who, size, ids, mask=mask)  # warms up
        _settle(who)
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            for _ in range(4):
                _forward(who, size, ids, mask=mask)
            _settle(who)
            done += 4 * rows
    return done / (time.perf_counter() - began)


def _forward(who: Any, size: Size, ids: Tensor, *, mask: Tensor) -> None:
    if size.layers:
        who.network(input_ids=ids)
    else:
        who.network(ids, mask)


def _settle(who: Any) -> None:
    """Waits until the device has done what it was told."""
    if who.device.type == "cuda":
        torch.cuda.synchronize(who.device)


def spend(
    name: str, who: Victim, spaces: list[Space], *, queries: int, first: list[Space]
) -> Spent:
    """What a whole call of an attack took, after a call on the first texts."""
    given = labelled(who, spaces)
    uf.attack(name, who, labelled(who, first), candidates=first, max_queries=queries)
    watched = Watched(who)
    began = time.perf_counter()
    found = uf.attack(name, who, given, candidates=spaces, max_queries=queries)
    seconds = time.perf_counter() - began
    who.submit = watched.submit  # type: ignore[method-assign]
    forwards = sum(outcome.forwards for outcome in found)
    return Spent(seconds, forwards, watched.assembling, watched.waiting)


def measure(
    device: str = "cuda",
    *,
    texts: int = TEXTS,
    seconds: float = SECONDS,
    queries: int = QUERIES,
    runs: int = RUNS,
) -> dict[str, Any]:
    """All figures, and the table with what they have to reach; without the device a sentence says so."""
    if device != "cpu" and not torch.cuda.is_available():
        print(NEEDS)
        return {"skipped": NEEDS}
    table = Table(
        "figure", "forwards/s", "of the ceiling", "at least", "assembling", "waiting", "else"
    )
    found: dict[str, Any] = {"device": _named(device)}
    rng = np.random.default_rng(0)
    for key, size in SIZES.items():
        fresh, known = victim(size, device=device, rng=rng)
        others, words = known[:OTHERS], known[OTHERS:]
        first = examples(others, length=size.words, count=min(WARMING, texts), rng=rng)
        given = [examples(words, length=size.words, count=texts, rng=rng) for _ in range(runs)]
        top = ceiling(fresh(), size, seconds=seconds)
        found[f"ceiling_{key}"] = round(top)
        table.add_row(f"ceiling_{key}", f"{top:,.0f}")
        for name in ATTACKS:
            timed = [spend(name, fresh(), s, queries=queries, first=first) for s in given]
            timed.sort(key=operator.attrgetter("rate"))
            spent = timed[runs // 2]
            found[f"runs_{name}_{key}"] = [round(run.rate) for run in timed]
            found[f"{name}_{key}"] = round(spent.rate)
            found[f"share_{name}_{key}"] = round(spent.rate / top, 3)
            rest = spent.seconds - spent.assembling - spent.waiting
            parts = [f"{100 * s / spent.seconds:.0f} %" for s in (*spent[2:], rest)]
            shares = (f"{spent.rate / top:.2f}", f"{LEAST.get(key, '')}")
            table.add_row(f"{name}_{key}", f"{spent.rate:,.0f}", *shares, *parts)
    Console().print(table)
    return found


def _named(device: str) -> str:
    return "cpu" if device == "cpu" else torch.cuda.get_device_name(torch.device(device))


def main() -> None:
    """Measures on the device asked for."""
    parser = argparse.ArgumentParser(description="attacks against a GPU's raw forwards")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--queries", type=int, default=QUERIES, help="of a text")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each attack")
    asked = parser.parse_args()
    found = measure(asked.device, texts=asked.texts, queries=asked.queries, runs=asked.runs)
    if "skipped" in found:
        raise SystemExit(2)
    print(json.dumps({"benchmark": "gpu", "texts": asked.texts, **found}))


if __name__ == "__main__":
    main()
