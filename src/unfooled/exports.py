"""Exports: the texts that fooled a victim as a table for people, spreadsheets and training."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from unfooled import tables
from unfooled.errors import InputError, MissingExtra
from unfooled.metrics import successes
from unfooled.outcomes import Outcome
from unfooled.text import Text

Row = dict[str, Any]

_SINGLE: Final = ("original", "adversarial")
_PAIR: Final = (
    "original_premise",
    "original_hypothesis",
    "adversarial_premise",
    "adversarial_hypothesis",
)

# Where a spreadsheet may take what follows for a formula: at the beginning of a cell before a tab or the
# end of a line; there, and where one that parts cells at semicolons or tabs begins another, whatever is
# quoted, before these signs, also after white space and in full width. Apostrophes are part of the
# pattern, so that what was guarded can be told from what began with an apostrophe itself.
_PLACE = r"(?:^{0}(?='*[\t\r\n])|(?:^|[;\t\r\n]){0}(?='*[^\S\t\r\n]*[=+\-@＝＋－＠]))"
_OPEN, _GUARDED = re.compile(_PLACE.format("")), re.compile(_PLACE.format("'"))


def rows(outcomes: Sequence[Outcome], *, labels: Sequence[str]) -> list[Row]:
    """A row for each text that fooled the victim, with classes by name.

    Texts are in the columns `original` and `adversarial`, pairs in `original_premise`,
    `original_hypothesis`, `adversarial_premise` and `adversarial_hypothesis`. `changes` has position,
    original word and word now for each swap.
    """
    return [_row(outcome, labels) for outcome in successes(outcomes)]


def write(path: Path | str, found: Iterable[Mapping[str, Any]]) -> Path:
    """The file with these rows: CSV, JSON lines or Parquet, by the ending of its name.

    In a CSV file what a spreadsheet may take for a formula is guarded by an apostrophe in
    front: see `guarded`, and `read` for the way back. The other two hold the texts as they are.
    CSV and Parquet hold `changes` as JSON.
    """
    path, kept = Path(path), [dict(row) for row in found]
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{path}: expected a file ending in {', '.join(_WRITERS)}")
    columns = list(kept[0]) if kept else _columns(_SINGLE)
    if any(list(row) != columns for row in kept):
        raise InputError("single texts and pairs do not go into one table: export them apart")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writer(path, columns, kept)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    except UnicodeEncodeError as error:
        raise InputError(
            f"cannot write {path}: a text has half a character ({error.object[error.start]!a}), "
            "which only .jsonl can hold"
        ) from error
    return path


def read(path: Path | str) -> list[Row]:
    """The rows that `write` wrote, with guards taken off and numbers as numbers."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise InputError(f"{path}: expected a file ending in {', '.join(_WRITERS)}")
    plain = unguarded if path.suffix.lower() == ".csv" else str
    return [
        {
            name: _PARSERS[name](cell) if name in _PARSERS else plain(cell)
            for name, cell in row.cells.items()
        }
        for row in tables.read(path)
    ]


def guarded(cell: str) -> str:
    """The cell, with an apostrophe wherever a spreadsheet may take what follows for a formula.

    That is at the beginning, before a tab or the end of a line, and there as well as behind semicolons,
    tabs and ends of lines, where some spreadsheets part cells whatever is quoted, before `=`, `+`, `-`
    or `@` (also in full width, after white space or after apostrophes).

    >>> guarded("=1+1"), guarded("'=1+1"), guarded("'tis; =2")
    ("'=1+1", "''=1+1", "'tis;' =2")
    """
    return _OPEN.sub(lambda found: found[0] + "'", cell)


def unguarded(cell: str) -> str:
    """What `guarded` was given."""
    return _GUARDED.sub(lambda found: found[0][:-1], cell)


def _row(outcome: Outcome, labels: Sequence[str]) -> Row:
    assert outcome.text is not None  # it is a success
    scores = outcome.scores
    return {
        "id": outcome.id,
        "label": labels[outcome.label],
        "predicted": labels[max(range(len(scores)), key=scores.__getitem__)],
        **_texts(outcome.original, outcome.text),
        "swaps": outcome.swaps,
        "rate": outcome.rate,
        "queries": outcome.queries,
        "changes": [list(change) for change in outcome.changes],
    }


def _texts(original: Text, text: Text) -> Row:
    before, after = original.source, text.source
    if isinstance(before, str) or isinstance(after, str):
        return dict(zip(_SINGLE, (before, after), strict=True))
    return dict(zip(_PAIR, (*before, *after), strict=True))


def _columns(texts: Sequence[str]) -> list[str]:
    return ["id", "label", "predicted", *texts, "swaps", "rate", "queries", "changes"]


def _csv(path: Path, columns: list[str], found: list[Row]) -> None:
    # With the mark, without which some spreadsheets do not take the file for UTF-8.
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        for row in found:
            changes = json.dumps(row["changes"]).replace(";", "\\u003b")  # parts no cells
            cells = {**row, "changes": changes}
            writer.writerow(guarded(v) if isinstance(v, str) else v for v in cells.values())


def _jsonl(path: Path, columns: list[str], found: list[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="ascii")


def _parquet(path: Path, columns: list[str], found: list[Row]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("writing Parquet", "data") from error
    kinds = {"swaps": pyarrow.int64(), "rate": pyarrow.float64(), "queries": pyarrow.int64()}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in columns])
    cells = [{**row, "changes": json.dumps(row["changes"])} for row in found]
    parquet.write_table(pyarrow.Table.from_pylist(cells, schema=schema), path)


def _changes(cell: Any) -> Any:
    return json.loads(cell) if isinstance(cell, str) else cell


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "swaps": int,
    "rate": float,
    "queries": int,
    "changes": _changes,
}
_WRITERS: dict[str, Callable[[Path, list[str], list[Row]], None]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
