"""Our attacks against TextAttack's, on the same model, texts and candidates: seconds of a forward.

One process at a time, one thread, texts of 20 words; half of the words have 8 candidates. Networks have random
weights (the cost is that of trained ones) and an output bias that swaps hardly overcome, so that
searches go on to their end or their budget, the same for both. A forward is a text that the network
really computes: neither side's caches count. The two sides take turns, so that a machine that slows down slows both.

greedy, beam, pso, genetic    TextAttack's seconds per forward over ours, with a BiLSTM of the reference size
                              (TextAttack is given the model by a plain wrapper, in batches of its own size)
hf_stock                      the same for greedy with a BERT of MiniLM's size, in its own Hugging Face wrapper

TextAttack runs in an environment of its own, installed on first use: see `benchmarks/peers`.
`python -m benchmarks.attacks --share 0.1` takes a tenth of the texts.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import unfooled as uf
from benchmarks.engine import bert, examples, word_model
from benchmarks.peers.exchange import UNKNOWN_WORD, Case
from benchmarks.peers.process import Peer
from unfooled.space import Space
from unfooled.text import Example
from unfooled.victims.base import Victim

BIAS = (3.0, 0.0)  # of the two classes: large for random weights, and far from p = 1 in float32
TURNS = 4  # of each side


class Plan(NamedTuple):
    """One search on both sides."""

    ours: str
    theirs: str
    texts: int
    queries: int  # the most for each text
    least: float  # the ratio to be reached


PLANS = {
    "greedy": Plan("greedy", "unk", 256, 500, 2.0),
    "beam": Plan("beam", "beam", 128, 1_000, 1.5),
    "pso": Plan("sem-pso", "pso", 32, 3_000, 2.0),
    "genetic": Plan("genetic", "genetic", 32, 3_000, 2.0),
    "hf_stock": Plan("greedy", "unk", 4, 64, 20.0),
}


@dataclass(frozen=True)
class Spending:
    """Seconds, and the forwards they went into."""

    seconds: float = 0.0
    forwards: int = 0

    def __add__(self, other: Spending) -> Spending:
        return Spending(self.seconds + other.seconds, self.forwards + other.forwards)

    @property
    def each(self) -> float:
        """Seconds for one forward."""
        return self.seconds / self.forwards


def labelled(victim: Victim, spaces: Sequence[Space]) -> list[Example]:
    """The texts with the labels that the victim gives them, so that none is skipped."""
    labels = victim.scores([s.original.source for s in spaces]).argmax(axis=1)
    return [
        Example(s.original, int(y), str(i))
        for i, (s, y) in enumerate(zip(spaces, labels, strict=True))
    ]


def ours(plan: Plan, victim: Victim, given: Sequence[Example], *, spaces: list[Space]) -> Spending:
    """What a whole call of our attack costs, the verification included."""
    began = time.perf_counter()
    found = uf.attack(plan.ours, victim, given, candidates=spaces, max_queries=plan.queries)
    return Spending(time.perf_counter() - began, sum(outcome.forwards for outcome in found))


def theirs(
    plan: Plan, peer: Peer, given: Sequence[Example], *, spaces: list[Space], unknown: str
) -> Spending:
    """What the attack costs inside TextAttack's process; the wire is not counted."""
    sent = [Case.of(e, s, rate=None) for e, s in zip(given, spaces, strict=True)]
    answer = peer.attack(plan.theirs, sent, budget=plan.queries, unknown=unknown)
    strange = [found.status for found in answer.found if found.status in ("skipped", "other words")]
    if strange:
        raise SystemExit(f"{len(strange)} texts were not attacked by the peer: {strange[0]}")
    return Spending(answer.seconds, answer.forwards)


def ratio(
    plan: Plan, victim: Victim, peer: Peer, *, spaces: list[Space], unknown: str
) -> tuple[float, Spending, Spending]:
    """TextAttack's seconds per forward over ours, in turns, and what each side spent."""
    given = labelled(victim, spaces)
    short = plan._replace(queries=8)  # warms up
    ours(short, victim, given[:2], spaces=spaces[:2])
    theirs(short, peer, given[:1], spaces=spaces[:1], unknown=unknown)
    mine, other = Spending(), Spending()
    for part in np.array_split(np.arange(len(spaces)), min(TURNS, len(spaces))):
        some = slice(int(part[0]), int(part[-1]) + 1)
        mine += ours(plan, victim, given[some], spaces=spaces[some])
        other += theirs(plan, peer, given[some], spaces=spaces[some], unknown=unknown)
    return other.each / mine.each, mine, other


def measure(share: float = 1.0) -> dict[str, float]:
    """All ratios, and the table with what they have to reach."""
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one thread for everybody
    table = Table("figure", "measured", "at least", "our forwards", "TextAttack's")
    found = {}
    with tempfile.TemporaryDirectory() as work, Peer() as peer:
        for kind in ("words", "hf"):
            rng = np.random.default_rng(0)
            victim, known, unknown = _loaded(kind, peer, Path(work), rng=rng)
            for key, plan in PLANS.items():
                if (key == "hf_stock") != (kind == "hf"):
                    continue
                count = max(2, round(share * plan.texts))
                spaces = examples(known, length=20, count=count, rng=rng)
                value, mine, other = ratio(plan, victim, peer, spaces=spaces, unknown=unknown)
                found[key] = round(value, 2)
                print(f"{key}: {count} texts, {value:.2f}", flush=True)
                spent = (f"{mine.forwards:,}", f"{other.forwards:,}")
                table.add_row(key, f"{value:.2f}", f"{plan.least}", *spent)
    Console().print(table)
    return found


def _loaded(
    kind: str, peer: Peer, work: Path, *, rng: np.random.Generator
) -> tuple[Victim, list[str], str]:
    """A victim on our side, the same one loaded by the peer; the words it knows and its unknown one."""
    if kind == "words":
        words, known = word_model(rng)
        words.network.output.bias.copy_(torch.tensor(BIAS))
        uf.models.save(words.model, work / kind)
        peer.load(work / kind, kind=kind)
        return words, known, UNKNOWN_WORD
    encoder, known = bert(rng)
    encoder.network.classifier.bias.copy_(torch.tensor(BIAS))
    encoder.network.save_pretrained(work / kind)
    pieces = encoder.encoder.tokenizer.get_vocab()
    (work / kind / "vocab.txt").write_text("\n".join(sorted(pieces, key=pieces.__getitem__)))
    peer.load(work / kind, kind=kind)
    return encoder, known, "[UNK]"


def main() -> None:
    """Measures with as many texts as asked."""
    parser = argparse.ArgumentParser(description="our attacks against TextAttack's")
    parser.add_argument("--share", type=float, default=1.0, help="of the texts")
    share = parser.parse_args().share
    print(json.dumps({"benchmark": "attacks", "share": share, **measure(share)}))


if __name__ == "__main__":
    main()
