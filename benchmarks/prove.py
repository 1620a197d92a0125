"""How much faster the prover's sweeps are than batched forwards of the same members.

One process, one thread, networks of the reference sizes with random weights (the cost is that of
trained ones). Sentences have 20 words, 8 of them with up to 5 candidates, and are swept for three
swaps; the mlp reads 200 words, half of them with up to 8 candidates, swept for two swaps. The naive
side is what the prover does with victims that cannot sweep: every member through the engine's own
batches. It is measured on a sample of at most 20,000 members of each text and extrapolated by the
row. Both sides judge every margin; no text is given up early.

<arch>_r<k>   naive seconds over sweep seconds, summed over the texts
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from unfooled.counting import Lister
from unfooled.evidence import margins
from unfooled.models import ModelConfig, Vocabulary, WordModel, build
from unfooled.models.config import ARCHITECTURES
from unfooled.program import Sweep
from unfooled.space import Space
from unfooled.text import Text
from unfooled.victims.base import Part
from unfooled.victims.words import WordVictim

SAMPLE, VOCABULARY = 20_000, 5_000
GOALS = {"cnn_r3": 10.0, "lstm_r3": 2.0, "bilstm_r3": 2.0, "mlp_r2": 30.0}


class Shape(NamedTuple):
    """What the texts of a benchmark look like."""

    texts: int
    words: int
    columns: int
    candidates: int


SHAPES = {"cnn_r3": Shape(24, 20, 8, 5), "mlp_r2": Shape(2, 200, 100, 8)}
SHAPES |= {"lstm_r3": Shape(8, 20, 8, 5), "bilstm_r3": Shape(8, 20, 8, 5)}


def known() -> list[str]:
    """Made-up words that a vocabulary can hold."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return sorted({"".join(rng.choice(letters, 8)) for _ in range(VOCABULARY)})


def victim(arch: str, words: list[str]) -> WordVictim:
    """A network of the reference size with random weights and a bias that no swap can overcome."""
    sizes, vocabulary = ARCHITECTURES[arch], Vocabulary(words)
    config = ModelConfig(
        arch, len(vocabulary), 2, sizes.dimensions, sizes.units, max_words=sizes.max_words
    )
    torch.manual_seed(0)
    network = build(config).eval().requires_grad_(False)
    network.output.bias.copy_(torch.tensor([0.0, 1000.0]))
    model = WordModel(network, vocabulary, ("negative", "positive"), config)
    return WordVictim(model, name=arch, fingerprint="random")


def spaces(shape: Shape, words: list[str]) -> list[Space]:
    """Texts of random words with candidates at random places."""
    rng, pick, found = np.random.default_rng(1), np.array(words), []
    for _ in range(shape.texts):
        text = Text.parse(" ".join(rng.choice(pick, shape.words)))
        places = rng.permutation(shape.words)[: shape.columns]
        options = {
            int(p): rng.choice(pick, rng.integers(2, shape.candidates + 1)).tolist() for p in places
        }
        found.append(Space(text, options))
    return found


def naive_seconds(model: WordVictim, space: Space, swaps: int) -> tuple[float, float, int]:
    """Seconds for all members with exactly so many swaps, the least margin of the sample, its size."""
    lister, prepared = Lister(space.counts, swaps), model.prepare(space)
    total = lister.totals[swaps]
    sample, least = min(total, SAMPLE), np.inf
    began = time.perf_counter()
    for start in range(0, sample, 4096):
        rows = lister.choices(swaps, start, min(start + 4096, sample))
        for cut in range(0, len(rows), model.batch_rows):
            part = Part(prepared, rows[cut : cut + model.batch_rows])
            least = min(least, margins(model.submit([part])(), 1).min())
    return (time.perf_counter() - began) * total / sample, float(least), sample


def sweep_seconds(model: WordVictim, space: Space, swaps: int) -> tuple[float, float, int]:
    """Seconds of a sweep with all its preparations, the least margin, the members evaluated."""
    began = time.perf_counter()
    prepared = model.prepare(space)
    order = tuple(range(len(space.counts)))
    stretches = model.sweep(prepared, Sweep(1, swaps, order), limit=None)
    assert stretches is not None
    found = list(stretches)
    seconds = time.perf_counter() - began
    return seconds, min(s.least for s in found), sum(s.evaluated for s in found)


def ratio(key: str, words: list[str]) -> float:
    """Naive over sweep, after one text to warm up; both must see the same margins."""
    arch, swaps = key.split("_r")[0], int(key[-1])
    model, slow, fast = victim(arch, words), 0.0, 0.0
    shape = SHAPES[key]
    first, *texts = spaces(shape._replace(texts=shape.texts + 1), words)
    naive_seconds(model, first, swaps)
    sweep_seconds(model, first, swaps)
    for space in texts:
        naive, least, sample = naive_seconds(model, space, swaps)
        swept, least_swept, evaluated = sweep_seconds(model, space, swaps)
        assert evaluated == space.size(swaps) - space.size(swaps - 1)
        if sample == evaluated:
            assert abs(least - least_swept) < 1e-3  # of about 1,000
        slow, fast = slow + naive, fast + swept
    return slow / fast


def measure() -> dict[str, float]:
    """All ratios, and the table with the goals."""
    torch.set_num_threads(1)
    words = known()
    found = {key: ratio(key, words) for key in GOALS}
    table = Table("figure", "times faster", "at least")
    for key, value in found.items():
        table.add_row(key, f"{value:.1f}", f"{GOALS[key]:.0f}")
    Console().print(table)
    return {key: round(value, 2) for key, value in found.items()}
