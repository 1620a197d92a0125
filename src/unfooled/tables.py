"""Rows of a CSV, TSV, JSON-lines or Parquet file, each with the line it stands on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unfooled.errors import InputError, MissingExtra


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row by column, and where it stands."""

    cells: dict[str, Any]
    file: str
    line: int  # counted from 1 as an editor does; in a Parquet file the row
    unit: str = "line"

    def where(self, column: str | None = None) -> str:
        """The place in words, to begin an error with."""
        place = f"{self.file}, {self.unit} {self.line}"
        return place if column is None else f"{place}, column {column!r}"


def read(path: Path) -> list[Row]:
    """All rows of a file, in order; the ending of its name decides how it is read.

    A TSV file has no quoting: a tab always separates and a quotation mark is a letter like any
    other. A CSV file quotes with `"`. Both begin with a line of column names.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: expected a file ending in {', '.join(_READERS)}")
    if not path.is_file():
        what = "this is a folder" if path.is_dir() else "there is no such file"
        raise InputError(f"{path}: {what}")
    rows = list(reader(path))
    if not rows:
        raise InputError(f"{path}: the file has no rows")
    return rows


def _csv(path: Path) -> Iterator[Row]:
    yield from _separated(path, delimiter=",", quoting=csv.QUOTE_MINIMAL)


def _tsv(path: Path) -> Iterator[Row]:
    yield from _separated(path, delimiter="\t", quoting=csv.QUOTE_NONE)


def _separated(path: Path, *, delimiter: str, quoting: int) -> Iterator[Row]:
    reader = csv.reader(
        io.StringIO(_decoded(path), newline=""),
        delimiter=delimiter,
        quoting=quoting,  # type: ignore[arg-type]  # the stubs want a literal
        strict=True,
    )
    header: list[str] | None = None
    line = 1
    with _long_fields():
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                end = "end of data" in str(error)  # it has read all that follows for one field
                why = "a quotation mark opens a field that is never closed" if end else str(error)
                raise InputError(f"{path.name}, line {line}: {why}") from error
            if cells is None:
                return
            if header is None:
                header = _header(cells, path)
            elif cells:  # a blank line is no row
                yield _row(header, cells, path=path, line=line)
            line = reader.line_num + 1


def _header(cells: list[str], path: Path) -> list[str]:
    header = [cell.strip() for cell in cells]
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):  # as some spreadsheets save
        raise InputError(
            f"{path.name}, line 1: there is one column only, {header[0]!r:.60}: save the file with "
            "commas between the columns, or with tabs as .tsv"
        )
    for name in header:
        if header.count(name) > 1:
            raise InputError(f"{path.name}, line 1: the column {name!r} occurs twice")
    return header


def _row(header: list[str], cells: list[str], *, path: Path, line: int) -> Row:
    if len(cells) < len(header):
        missing = header[len(cells)]
        raise InputError(
            f"{path.name}, line {line}, column {missing!r}: missing; the row has {len(cells)} "
            f"fields, the header {len(header)}"
        )
    if len(cells) > len(header):
        raise InputError(
            f"{path.name}, line {line}, after column {header[-1]!r}: the row has {len(cells)} "
            f"fields, the header {len(header)}; is a separator in a text not quoted?"
        )
    return Row(dict(zip(header, cells, strict=True)), path.name, line)


def _jsonl(path: Path) -> Iterator[Row]:
    # Only a newline ends a line of JSON: str.splitlines would also cut at U+2028 inside a text.
    for line, content in enumerate(_decoded(path).split("\n"), start=1):
        if not content.strip():
            continue
        try:
            cells = json.loads(content)
        except json.JSONDecodeError as error:
            place = f"{path.name}, line {line}, character {error.colno}"
            raise InputError(f"{place}: broken JSON: {error.msg}") from error
        if not isinstance(cells, dict):
            raise InputError(f"{path.name}, line {line}: expected a JSON object, not {cells!r:.60}")
        yield Row(cells, path.name, line)


def _parquet(path: Path) -> Iterator[Row]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "data") from error
    try:
        table = parquet.ParquetFile(path).read()
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {error}") from error
    for number, cells in enumerate(table.to_pylist(), start=1):
        yield Row(cells, path.name, number, "row")


def _decoded(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from behind the byte-order mark, if there is one.
        mark = 3 if content.startswith(b"\xef\xbb\xbf") else 0
        before = content[: error.start + mark]
        line, column = before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
        place = f"{path.name}, line {line}, byte {column}"
        raise InputError(f"{place}: not UTF-8; save the file as UTF-8") from error


@contextmanager
def _long_fields() -> Iterator[None]:
    # The csv module refuses fields above 128 KiB by default, and the limit is one per process.
    before = csv.field_size_limit(2**30)
    try:
        yield
    finally:
        csv.field_size_limit(before)


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
SUFFIXES = tuple(_READERS)
