"""The tables of docs/results/attacks.md: our figures with the papers' below them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from results import attacks_papers as papers
from results.markdown import table
from unfooled.estimators._sequences import clopper_pearson

NONE: Final = "–"
_ALPHA = 0.05
_BEFORE: Final = ("textfooler", "pwws", "bert-attack", "bae")
_AFTER: Final = ("pwws-cv50", "bert-attack-cv50", "bae-cv50")
_ADJUSTED: Final = ("tf-cv50", "tf-cv50-use88", "tf-cv70-use85", "tf-cv70-use90", "tf-cv80-use90")
_SHOWN: Final = {
    "textfooler": "TextFooler",
    "pwws": "PWWS",
    "bert-attack": "BERT-Attack",
    "bae": "BAE",
    "textbugger": "TextBugger",
    "sem-pso": "SemPSO",
    "paper": "PDP",
    "pdp": "PDP, tightened",
}


class Place(Protocol):
    """Which data set and model."""

    @property
    def data(self) -> str: ...
    @property
    def model(self) -> str: ...


class Found(Protocol):
    """The figures of a cell."""

    @property
    def cell(self) -> Place: ...
    @property
    def known(self) -> Mapping[str, Any]: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def runs(self) -> Mapping[str, Any]: ...
    @property
    def swaps(self) -> dict[str, list[float]]: ...


def share(part: int, whole: int) -> str:
    """A percentage with its interval: 87.5 (73–96)."""
    if not whole:
        return NONE
    low, high = clopper_pearson(part, whole, alpha=_ALPHA)
    return f"{100 * part / whole:.1f} ({100 * low:.0f}–{100 * high:.0f})"


def attacked(run: Mapping[str, Any]) -> int:
    """How many texts a run attacked: those not misclassified from the start."""
    return round((run["clean_accuracy"] or 0) * (run["texts"] - run["errors"]))


def success(run: Mapping[str, Any] | None) -> str:
    """The success rate of a run with its interval."""
    if run is None or run["success_rate"] is None:
        return NONE
    whole = attacked(run)
    return share(round(run["success_rate"] * whole), whole)


def subjects(found: Sequence[Found]) -> str:
    """The data sets and victims of all cells."""
    head = ("data", "model", "on", "words, mean", "train", "test", "accuracy")
    rows = [
        (*f.names, _place(f), f"{f.known['mean_words']:.0f}", f"{f.known['train']:,}",
         f"{f.known['test']:,}", f"{100 * f.known['accuracy']:.2f}")
        for f in found
    ]  # fmt: skip
    return table(head, [list(row) for row in dict.fromkeys(rows)])


def _place(found: Found) -> str:
    """What a cell was made on; a victim that was trained elsewhere is another."""
    device: str = found.known.get("device", "cpu")
    return "CPU" if device == "cpu" else device.removeprefix("NVIDIA ")


def robust(found: Sequence[Found]) -> str:
    """Hauser et al., tables 1 and 3."""
    return _rates(found, (*_BEFORE, *_AFTER))


def adjusted(found: Sequence[Found]) -> str:
    """Hauser et al., table 4."""
    return _rates(found, _ADJUSTED)


def _rates(found: Sequence[Found], presets: Sequence[str]) -> str:
    head = ("data", "model", "accuracy", "attacked", *(f"`{preset}`" for preset in presets))
    rows = []
    for data, cells in _by_data(found):
        for f in cells:
            tried = [attacked(f.runs[p]) for p in presets if p in f.runs]
            ours = [success(f.runs.get(preset)) for preset in presets]
            accuracy = f"{100 * f.known['accuracy']:.2f}"
            rows.append([*f.names, accuracy, str(max(tried, default=0)), *ours])
        if data in papers.ROBUST:
            theirs = papers.ROBUST[data]
            rates = [f"{theirs[preset]:.2f}" for preset in presets]
            rows.append([cells[0].names[0], *_paper("BERT", theirs["accuracy"]), *rates])
    return table(head, rows)


def choice(found: Sequence[Found]) -> str:
    """How many candidates a word has under each preset."""
    presets = (*_BEFORE, *_AFTER, *_ADJUSTED[-3::2])  # word cosines 0.7 and 0.8
    head = ("data", "model", *(f"`{preset}`" for preset in presets))
    rows = [
        [
            *f.names,
            *(_number(f.runs.get(p, {}).get("candidates_per_word"), "{:.1f}") for p in presets),
        ]
        for f in found
    ]
    return table(head, rows)


def _paper(model: str, accuracy: float) -> list[str]:
    return [f"*the paper's {model}*", f"{accuracy:.2f}", "about 1,000"]


def words(found: Sequence[Found]) -> str:
    """Hauser et al., table 8."""
    head = (
        "data",
        "model",
        "attack",
        "swaps",
        "original: median",
        "true class %",
        "attack word: median",
        "true class %",
    )
    rows = []
    for data, cells in _by_data(found):
        for name in _BEFORE:
            for f in cells:
                if name in f.runs:
                    rows.append([*f.names, _SHOWN[name], *_used(f.runs[name]["words"])])
            if data in papers.WORDS:
                old, new = papers.WORDS[data][name]
                numbers = [f"{old[0]:.0f}", f"{old[1]:.2f}", f"{new[0]:.0f}", f"{new[1]:.2f}"]
                rows.append([cells[0].names[0], "*the paper's BERT*", _SHOWN[name], NONE, *numbers])
    return table(head, rows)


def _used(studied: Mapping[str, Any]) -> list[str]:
    parts = [str(studied["swaps"])]
    for side in ("original_words", "attack_words"):
        parts += [
            _number(studied[side]["median_occurrences"], "{:.0f}"),
            _number(studied[side]["most_frequent_in_true_class"], "{:.2f}", times=100),
        ]
    return parts


def defender(found: Sequence[Found]) -> str:
    """Li et al., the baselines of tables 2 and 3."""
    head = ("data", "model", "texts", "attack", "Clean %", "AUA %", "Suc %", "#Query", "forwards")
    rows = []
    for data, cells in _by_data(found):
        names = dict.fromkeys(name for f in cells for name in f.runs)
        for name in names:
            rows += [_defended(f, name) for f in cells if name in f.runs]
            if data in papers.DEFENDER:
                theirs, clean = papers.DEFENDER[data][name], papers.DEFENDER_CLEAN[data]
                numbers = [f"{value:.1f}" for value in (clean, *theirs)]
                rows.append(
                    [cells[0].names[0], "*the paper's BERT*", NONE, _SHOWN[name], *numbers, NONE]
                )
    return table(head, rows)


def _defended(found: Found, name: str) -> list[str]:
    run = found.runs[name]
    scored = run["texts"] - run["errors"]
    left = share(round((run["accuracy_under_attack"] or 0) * scored), scored)
    return [
        *found.names, str(scored), _SHOWN[name], _number(run["clean_accuracy"], "{:.1f}", times=100), left,
        success(run), _number(run["mean_queries"], "{:.1f}"), _number(run["mean_forwards"], "{:.1f}"),
    ]  # fmt: skip


def single(found: Sequence[Found]) -> str:
    """La Malfa et al., table 7."""
    head = ("data", "model", "texts", "seconds", "texts fooled %", "words %", "distance")
    rows = []
    for data, cells in _by_data(found):
        rows += [[*f.names, *_one(f.runs["single"])] for f in cells if "single" in f.runs]
        theirs = papers.MCTS_SINGLE[data]
        name = cells[0].names[0] + (" (paper: SST)" if data == "mr" else "")
        numbers = [f"{theirs.seconds:.2f}", f"{theirs.texts:.1f}", f"{theirs.words:.1f}"]
        mean, deviation = theirs.distance
        rows.append([name, "*the paper's*", "100", *numbers, f"{mean:.3f} ± {deviation:.3f}"])
    return table(head, rows)


def _one(run: Mapping[str, Any]) -> list[str]:
    apart = [_number(run[key], "{:.3f}") for key in ("distance_mean", "distance_deviation")]
    words = _number(run["swappable_words"], "{:.1f}", times=100)
    seconds = _number(run["seconds_per_text"], "{:.2f}")
    return [str(attacked(run)), seconds, success(run), words, " ± ".join(apart)]


def several(found: Sequence[Found]) -> str:
    """La Malfa et al., table 8."""
    depths = (2, 3, 4)
    head = (
        "data",
        "model",
        *(f"{k} swaps: {what} %" for k in depths for what in ("texts", "words")),
    )
    rows = []
    for data, cells in _by_data(found):
        rows += [[*f.names, *(c for k in depths for c in _depth(f.runs, k))] for f in cells]
        theirs = papers.MCTS_SEVERAL[data]
        numbers = [f"{value:.1f}" for k in depths for value in theirs[k]]
        rows.append([cells[0].names[0], "*the paper's*", *numbers])
    return table(head, rows)


def _depth(runs: Mapping[str, Any], depth: int) -> list[str]:
    words = runs.get(f"words-{depth}")
    # The draws of one text depend on each other, so that their share gets no interval.
    plain = NONE if words is None else _number(words["success_rate"], "{:.1f}", times=100)
    return [success(runs.get(f"within-{depth}")), plain]


def pdp(found: Sequence[Found]) -> str:
    """Yang et al., table 2."""
    head = ("data", "model", "attack", "#Attacks", "#Succ", "#Win", "%S", "swaps", "queries")
    rows = []
    for f in found:
        for key in ("sem-pso", "textfooler", "paper", "pdp"):
            if key in f.swaps:
                rows.append([*f.names, _SHOWN[key], *_beaten(f, key)])
            theirs = papers.PDP[f.cell.data, f.cell.model].get("pdp" if key == "paper" else key)
            if theirs is not None and key != "pdp":
                model = "BERT" if f.cell.model == "minilm" else "BiLSTM"
                count = f"{theirs.succeeded} ({100 * theirs.succeeded / theirs.attacks:.2f} %)"
                numbers = [count, str(theirs.wins), f"{theirs.swapped:.2f}", NONE, NONE]
                name = f"*{_SHOWN[key]}, the paper's {model}*"
                rows.append([*f.names, name, str(theirs.attacks), *numbers])
    return table(head, rows)


def _beaten(found: Found, key: str) -> list[str]:
    run = found.runs["pdp" if key == "paper" else key]
    pairs = list(zip(found.swaps[key], run["each"]["words"], strict=True))
    won = [(swaps, words) for swaps, words in pairs if swaps < math.inf]
    queries = NONE if key == "paper" else _number(run["mean_queries"], "{:.0f}")
    return [
        str(len(pairs)),
        f"{len(won)} ({100 * len(won) / max(len(pairs), 1):.2f} %)",
        str(wins(found.swaps, key)),
        _number(_mean(swaps / words for swaps, words in won), "{:.2f}", times=100),
        _number(_mean(swaps for swaps, _ in won), "{:.2f}"),
        queries,
    ]


def wins(swaps: Mapping[str, Sequence[float]], key: str) -> int:
    """Texts that another attack fools too, and this one with fewer swaps than all; the two PDPs are one."""
    own = {"pdp", "paper"} if key in ("pdp", "paper") else {key, "paper"}
    others = [each for name, each in swaps.items() if name not in own]
    best = [min(rivals) for rivals in zip(*others, strict=True)] if others else []
    return sum(mine < rival < math.inf for mine, rival in zip(swaps[key], best, strict=bool(best)))


def _by_data(found: Sequence[Found]) -> Iterator[tuple[str, list[Found]]]:
    for data in dict.fromkeys(f.cell.data for f in found):
        yield data, [f for f in found if f.cell.data == data]


def _number(value: float | None, form: str, *, times: float = 1) -> str:
    return NONE if value is None else form.format(times * value)


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None
