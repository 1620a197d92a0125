"""Tables and word diffs for the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text as Rich

from unfooled import registry
from unfooled.canonical import digest
from unfooled.metrics import REASONS
from unfooled.outcomes import Outcome, Outcomes
from unfooled.settings import DEFAULT


def console() -> Console:
    """Standard output, as wide as it is; what stands in a text is printed as it is."""
    return Console(highlight=False, soft_wrap=False, markup=False, emoji=False)


@contextmanager
def alone_on_stdout(wanted: bool) -> Iterator[None]:
    """Sends what others print (a victim, say) to standard error, so that JSON stands alone."""
    with redirect_stdout(sys.stderr) if wanted else nullcontext():
        yield


def default_folder(
    method: str, victim: str, data: str, asked: Mapping[str, Any], *, shard: str | None = None
) -> Path:
    """runs/METHOD-VICTIM-DATA-HASH: the same question finds the same folder, another one does not.

    The parts of a question differ at the end of the name alone.
    """
    plain = re.sub(r"[^\w.-]+", "-", f"{method}-{Path(victim).name}-{Path(data).name}").strip("-")
    plain = plain[:80]  # file systems end at 255 bytes
    part = f"-{shard.replace('/', '-of-')}" if shard else ""
    return Path("runs") / f"{plain}-{digest({k: str(v) for k, v in asked.items()})[:8]}{part}"


def attacks() -> None:
    """The attacks with what they do and what can be set."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("attack", style="bold", no_wrap=True)
    table.add_column("what it does", overflow="fold")
    table.add_column("candidates", overflow="fold")
    table.add_column("options", overflow="fold")
    for name in registry.names("attacks"):
        method = registry.get("attacks", name)
        source = (method.source or DEFAULT).replace(",", ", ").replace("|", " | ")
        table.add_row(name, _about(method), source, _options(method))
    console().print(table)


def certifiers() -> None:
    """The certifiers with what they do and what can be set."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("certifier", style="bold", no_wrap=True)
    table.add_column("what it does", overflow="fold")
    table.add_column("options", overflow="fold")
    for name in registry.names("certifiers"):
        method = registry.get("certifiers", name)
        table.add_row(name, _about(method), _options(method))
    console().print(table)


def _about(method: type[Any]) -> str:
    return (method.__doc__ or "").strip().split("\n")[0]


def _options(method: type[Any]) -> str:
    found = (f"--{o.name.replace('_', '-')} {o.default}" for o in registry.options(method))
    return ", ".join(found) or "–"


def outcomes(
    found: Outcomes,
    labels: Sequence[str],
    *,
    folder: Path,
    show: int,
    summed: Mapping[str, Any] | None = None,
) -> None:
    """The table of a run, and some of the texts that fooled the victim."""
    page = console()
    fooled = [o for o in found if o.status == "success"]
    for outcome in fooled[:show]:
        page.print(_diff(outcome, labels, marked=page.is_terminal))
        page.print()
    figures(_lines(found, summed or found.summary()))
    reasons((o.id, str(o.error)) for o in found if o.status == "error")
    line("run", str(folder))


def reasons(errors: Iterable[tuple[str, str]]) -> None:
    """Why the first three texts failed."""
    for id_, error in islice(errors, 3):
        console().print(f"error in {id_}: {error}", style="red")


def candidate_figures(found: Outcomes) -> dict[str, float | None]:
    """How many candidates words had, where they were counted."""
    counts = found.candidates
    if counts is None:
        return {}
    return {
        "candidates_per_word": counts.per_word,
        "candidates_per_swappable_word": counts.per_swappable_word,
    }


def preset(name: str, counted: Mapping[str, float | None]) -> None:
    """The preset of a run, and how many candidates words had under it."""
    counts = [(key.replace("_", " "), number(value)) for key, value in counted.items()]
    figures([("preset", name), *counts])


def _lines(found: Outcomes, summed: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    yield "attack", found.attack
    yield "texts", f"{summed['texts']}"
    yield "clean accuracy", percent(summed["clean_accuracy"])
    yield "accuracy under attack", percent(summed["accuracy_under_attack"])
    yield "success rate", percent(summed["success_rate"])
    yield "mean swaps", number(summed["mean_swaps"])
    yield "at most two swaps", percent(summed["few_swaps"])
    yield "words swapped", percent(summed["mean_swapped_share"])
    yield "characters edited", number(summed["mean_edits"])
    if "mean_similarity" in summed:
        yield "similarity", number(summed["mean_similarity"], digits=3)
    yield "queries per text", number(summed["mean_queries"])
    yield "forwards per text", number(summed["mean_forwards"])
    for reason, count in summed["failures"].items():
        if count:
            yield REASONS[reason], f"{count}"
    if summed["errors"]:
        yield "errors", f"{summed['errors']}"
    ran = len(found) - found.resumed
    yield "texts/s", number(ran / found.seconds if ran and found.seconds else None)


def _diff(outcome: Outcome, labels: Sequence[str], *, marked: bool) -> Rich:
    """The text with every swapped word struck and its replacement beside it; without marks [old → new]."""
    scores = outcome.scores
    now = labels[max(range(len(scores)), key=scores.__getitem__)]
    line = Rich.assemble(
        (labels[outcome.label], "green"),
        " → ",
        (now, "red"),
        (f"  {outcome.swaps} swap{'' if outcome.swaps == 1 else 's'}", "dim"),
        "\n",
    )
    changed = {position: new for position, _, new in outcome.changes}
    original = outcome.original
    if original.other is not None and original.editable == "second":
        line.append(original.other + "\n", style="dim")
    for position, word in enumerate(original.words):
        line.append(original.gaps[position])
        if original.editable == "both" and position == original.split:
            line.append("\n" + original.seam)
        if position in changed:
            line.append("" if marked else "[")
            line.append(word, style="strike dim")
            line.append(" " if marked else " → ")
            line.append(changed[position], style="bold red")
            line.append("" if marked else "]")
        else:
            line.append(word)
    if original.other is not None and original.editable == "first":
        line.append("\n" + original.other, style="dim")
    return line


def percent(value: float | None) -> str:
    """A share, or a dash where there is none."""
    return "–" if value is None else f"{100 * value:.1f} %"


def number(value: float | None, *, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def figures(lines: Iterable[tuple[str, str]]) -> None:
    """Named figures below each other."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right", style="bold")
    for label, value in lines:
        table.add_row(label, value)
    console().print(table)


def columns(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    justify: Literal["left", "right"] = "right",
) -> None:
    """A small table, of numbers unless it is justified to the left; a list where it does not fit."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, show_header=any(heads))
    table.add_column(heads[0], style="bold")
    for head in heads[1:]:
        table.add_column(head, justify=justify, overflow="fold")
    kept = [tuple(row) for row in rows]
    for row in kept:
        table.add_row(*row)
    page = console()
    page.print()
    if justify == "left" or Measurement.get(page, page.options, table).maximum < page.width:
        page.print(table)
        return
    for first, *rest in kept:  # heads and numbers would be broken in their middle
        cells = ", ".join(f"{head} {cell}" for head, cell in zip(heads[1:], rest, strict=True))
        page.print(Rich.assemble(f"{heads[0]} ", (first, "bold"), f": {cells}"))


def line(label: str, value: str) -> None:
    """One thing to know, never broken by the width of the terminal."""
    console().print(Rich.assemble((f"{label} ", "dim"), value), soft_wrap=True)
