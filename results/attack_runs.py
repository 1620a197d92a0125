"""Runs the cells of `results.attacks`, and keeps their figures: one small file for each cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import unfooled as uf
from results import mcts_runs, victims
from unfooled import manifest, records, swaps
from unfooled.settings import comparing_nothing

RUNS: Final = Path("runs/attacks")
FIGURES: Final = Path(__file__).parent / "figures" / "attacks"
SEED: Final = 0

ROBUST: Final = {  # preset and the attack that runs under it
    "textfooler": "textfooler",
    "pwws": "pwws",
    "bert-attack": "bert-attack",
    "bae": "bae",
    "pwws-cv50": "pwws",
    "bert-attack-cv50": "bert-attack",
    "bae-cv50": "bae",
    "tf-cv50": "textfooler",
    "tf-cv50-use88": "textfooler",
    "tf-cv70-use85": "textfooler",
    "tf-cv70-use90": "textfooler",
    "tf-cv80-use90": "textfooler",
}
DEFENDER: Final = ("textfooler", "textbugger", "bert-attack")
LIMITS: Final = {"imdb": "defender-imdb"}  # of the other data sets: defender-agnews
PDP: Final = ("sem-pso", "textfooler", "pdp")
CANDIDATES: Final = "wordnet"  # of all attacks in the PDP paper's table 2
RATE, QUERIES = 0.25, 2_000  # of the PDP paper's table 2; the queries on imdb alone


@dataclass(frozen=True)
class Cell:
    """One experiment on one victim, and how many texts it takes."""

    experiment: str
    data: str
    model: str
    texts: int
    training: tuple[tuple[str, int], ...] = ()  # what differs from the defaults

    @property
    def name(self) -> str:
        return f"{self.experiment}-{self.data}-{self.model}"

    def folder(self, run: str) -> Path:
        """Where a run is recorded; a run of other texts is another run."""
        return RUNS / self.name / f"{run}-{self.texts}"


class Subject(NamedTuple):
    """The victim of a cell, the texts it meets, and the data it was trained on."""

    cell: Cell
    victim: uf.Victim
    drawn: list[uf.Example]  # from all of the test split
    right: list[uf.Example]  # from those that the victim classifies correctly
    device: str

    def attack(self, run: str, name: str, examples: list[uf.Example], **how: Any) -> uf.Outcomes:
        """An attack recorded in the folder of that name."""
        out = self.cell.folder(run)
        how = {"seed": SEED, "out": out, "progress": True, "device": self.device, **how}
        return uf.attack(name, self.victim, examples, **how)


Figures = dict[str, Any]
Runs = Iterator[tuple[str, Callable[[], Figures]]]
"""The name of each run of a cell, and how to make its figures."""


def make(cell: Cell, *, figures: Path = FIGURES, device: str = "cpu") -> None:
    """Whatever figures of the cell are missing; its file is written after every run."""
    path = figures / f"{cell.name}.json"
    known: Figures = json.loads(path.read_text()) if path.exists() else {}
    if known and known["texts"] != cell.texts:
        known = {}  # made with another size
    if known and known["runs"].keys() >= set(NAMES[cell.experiment]):
        return
    subject = _subject(cell, device)
    if known.get("victim") != subject.victim.fingerprint:
        known = {}  # made with a victim that is gone: figures of two do not mix
    known = known or {**_facts(subject), **_data(cell, subject.victim), "runs": {}}
    for run, found in EXPERIMENTS[cell.experiment](subject):
        if run not in known["runs"]:
            known["runs"][run] = found()
            known["versions"] = manifest.versions()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(known), encoding="utf-8")


def written(known: Figures) -> str:
    """Figures as JSON, a line for every run."""
    runs = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(run)}" for name, run in known["runs"].items()
    )
    rest = [f" {json.dumps(name)}: {json.dumps(v)}" for name, v in known.items() if name != "runs"]
    return "{\n" + ",\n".join([*rest, f' "runs": {{\n{runs}\n }}']) + "\n}\n"


def _facts(subject: Subject) -> Figures:
    """Where the figures come from."""
    cell, device = subject.cell, subject.device
    how = "" if device == "cpu" else f" --device {device}"
    return {
        "cell": cell.name,
        "command": f"python -m results.attacks --cells {cell.name}{how}",
        "device": victims.device_name(device),
        "victim": subject.victim.fingerprint,
        "seed": SEED,
        "texts": cell.texts,
    }


def _data(cell: Cell, victim: uf.Victim) -> Figures:
    """The size of the data, and the accuracy of the victim on all of the test split."""
    test = victims.load(cell.data, labels=victim.labels)
    given = dict(cell.training).get("limit")
    return {
        "train": given or len(victims.load(cell.data, split="train")),
        "test": len(test),
        "mean_words": float(np.mean([len(example.text) for example in test])),
        "accuracy": float(victims.correct(victim, test).mean()),
    }


def _subject(cell: Cell, device: str) -> Subject:
    victim = victims.trained(cell.model, cell.data, training=dict(cell.training), device=device)
    test = victims.load(cell.data, labels=victim.labels)
    order = np.random.default_rng(SEED).permutation(len(test))
    drawn = [test[int(i)] for i in order[: cell.texts]]
    right = [] if cell.experiment in ("robust", "defender") else victims.correct(victim, test)
    chosen = [test[int(i)] for i in order if len(right) and right[i]][: cell.texts]
    return Subject(cell, victim, drawn, chosen, device)


def figures(subject: Subject, run: str, outcomes: uf.Outcomes) -> Figures:
    """The summary of a run, its settings, and its seconds for each text."""
    told = records.read(subject.cell.folder(run)).manifest
    new = len(outcomes) - outcomes.resumed
    found = {
        "attack": outcomes.attack,
        "options": told["options"],
        "candidates": told["candidates"],
        "seconds_per_text": outcomes.seconds / new if new else None,
        **outcomes.summary(),
    }
    if outcomes.candidates is not None:
        found["candidates_per_word"] = outcomes.candidates.per_word
    return found


def _robust(subject: Subject) -> Runs:
    train = victims.load(subject.cell.data, split="train")

    def run(preset: str, name: str) -> Figures:
        outcomes = subject.attack(preset, name, subject.drawn, preset=preset)
        labels, cosines = subject.victim.labels, "glove-50-counter-fitted"
        studied = swaps.study(outcomes, labels=labels, train=train, vectors=cosines)
        return {**figures(subject, preset, outcomes), "words": studied.summary()}

    for preset, name in ROBUST.items():
        yield preset, lambda preset=preset, name=name: run(preset, name)  # type: ignore[misc]


def _defender(subject: Subject) -> Runs:
    preset = LIMITS.get(subject.cell.data, "defender-agnews")

    def run(name: str) -> Figures:
        outcomes = subject.attack(name, name, subject.drawn, preset=preset)
        return {"preset": preset, **figures(subject, name, outcomes)}

    for name in DEFENDER:
        yield name, lambda name=name: run(name)  # type: ignore[misc]


def _pdp(subject: Subject) -> Runs:
    limit = {"max_queries": QUERIES} if subject.cell.data == "imdb" else {}

    def run(name: str) -> Figures:
        how = {"candidates": CANDIDATES, "max_rate": RATE, **comparing_nothing(name), **limit}
        outcomes = subject.attack(name, name, subject.right, **how)
        return {**figures(subject, name, outcomes), "each": each(outcomes)}

    for name in PDP:
        yield name, lambda name=name: run(name)  # type: ignore[misc]


def each(outcomes: Iterable[uf.Outcome]) -> dict[str, list[int | None]]:
    """The words of each text and the swaps that fooled the victim; None: none did, or an error.

    `first` are those of the paper's own algorithm, before PDP goes on to fewer.
    """
    won = [(o, o.status == "success") for o in outcomes]
    return {
        "words": [len(outcome.original) for outcome, _ in won],
        "swaps": [outcome.swaps if fooled else None for outcome, fooled in won],
        "first": [outcome.first_swaps if fooled else None for outcome, fooled in won],
    }


def _mcts(subject: Subject) -> Runs:
    spaces = mcts_runs.Neighbourhoods(subject.right, data=subject.cell.data)
    for run, how in mcts_runs.plans():

        def made(run: str = run, how: Mapping[str, Any] = how) -> Figures:
            given = spaces.of(how["columns"])
            texts, options = given.examples, how["options"]
            outcomes = subject.attack(run, "mcts", texts, candidates=given.spaces, **options)
            return {**figures(subject, run, outcomes), **spaces.figures(outcomes, given)}

        yield run, made


EXPERIMENTS: Final = {"robust": _robust, "defender": _defender, "mcts": _mcts, "pdp": _pdp}
NAMES: Final[Mapping[str, tuple[str, ...]]] = {  # of the runs of each experiment
    "robust": tuple(ROBUST),
    "defender": DEFENDER,
    "mcts": tuple(run for run, _ in mcts_runs.plans()),
    "pdp": PDP,
}
