"""Labelled texts from a file, an asset or a list."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from unfooled import assets, tables
from unfooled.errors import InputError, did_you_mean
from unfooled.tables import Row
from unfooled.text import Example, Source, Text

Spec = str | Path | Iterable[Example | tuple[Any, Any]]

MOST_CLASSES = 10_000  # a label beyond is a column mistaken for labels, such as a row number

_INTEGER = re.compile(r"[+-]?\d+(\.0+)?")


@dataclass(frozen=True)
class Dataset:
    """Examples in order, and the names of the classes their labels index."""

    name: str
    examples: tuple[Example, ...]
    labels: tuple[str, ...]

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of texts, labels and class names in order: two runs saw the same data."""
        digest = hashlib.sha256(json.dumps(self.labels).encode())
        for example in self.examples:
            digest.update(json.dumps([example.text.source, example.label]).encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Example, ...]: ...
    def __getitem__(self, index: int | slice) -> Example | tuple[Example, ...]:
        return self.examples[index]


@dataclass(frozen=True, slots=True)
class _Item:
    """A row before its label has become an index and its text has been split into words."""

    source: Source | Text
    label: Any
    id: str
    where: str


def load(
    spec: Spec,
    *,
    split: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    text_column: str | None = None,
    label_column: str | None = None,
    labels: Sequence[str] | None = None,
) -> Dataset:
    """The labelled texts that `spec` names: a file, an asset, or (text, label) pairs.

    An asset gives its test split unless told otherwise. A file gives all its rows, or with
    `split` those that say so in a column of that name. Columns default to text,label or to
    premise,hypothesis,label; `text_column="a,b"` names a pair. Labels are integers from 0, or
    names: indexed by `labels` where given (in any case), else in sorted order.

    `limit` draws a random subset by `seed`, in the order of the draw, so that a smaller limit
    is always a prefix of a larger one; without it the order is that of the source.

    >>> load([("a fine film", "pos"), ("a dull film", "neg")]).labels
    ('neg', 'pos')
    """
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise InputError(f"limit is a positive number of texts, not {limit!r}")
    if isinstance(spec, (str, Path)):
        columns = (text_column, label_column)
        name, items, own_labels = _stored(str(spec), split=split, columns=columns)
    elif split is not None or text_column is not None or label_column is not None:
        raise InputError("a list of examples has no columns and no splits")
    else:
        name, items, own_labels = "list", _listed(spec), None
    names = labels if labels is not None else own_labels
    indices, class_names = _indexed(items, None if names is None else tuple(names))
    chosen = _drawn(items, limit, seed=seed)
    examples = (Example(Text.parse(items[i].source), indices[i], items[i].id) for i in chosen)
    return Dataset(name, tuple(examples), class_names)


def _stored(
    spec: str, *, split: str | None, columns: tuple[str | None, str | None]
) -> tuple[str, list[_Item], tuple[str, ...] | None]:
    path = Path(spec)
    if path.suffix.lower() in tables.SUFFIXES:
        rows = _of_split(tables.read(path), path, split=split)
        return path.name, _items(rows, columns, default=path.stem), None
    if spec in assets.names():
        return _asset(spec, split=split or "test", columns=columns)
    if path.exists():
        raise InputError(f"{spec}: expected a file ending in {', '.join(tables.SUFFIXES)}")
    known = [name for name in assets.names() if assets.info(name).kind == "data set"]
    raise InputError(f"{spec!r} is neither a file nor a data set; {did_you_mean(spec, known)}")


def _asset(
    name: str, *, split: str, columns: tuple[str | None, str | None]
) -> tuple[str, list[_Item], tuple[str, ...]]:
    asset = assets.info(name)
    if asset.kind != "data set":
        raise InputError(f"the asset {name!r} is a {asset.kind}, not a data set")
    splits = [file.removesuffix(".jsonl") for file in asset.files if file.endswith(".jsonl")]
    if split not in splits:
        raise InputError(f"{name} has no split {split!r}; {did_you_mean(split, splits)}")
    folder = assets.get(name)
    rows = tables.read(folder / f"{split}.jsonl")
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    return f"{name}:{split}", _items(list(enumerate(rows)), columns, default=split), tuple(labels)


def _of_split(rows: list[Row], path: Path, *, split: str | None) -> list[tuple[int, Row]]:
    """Rows with their number in the whole file, so that an id does not depend on the split."""
    numbered = list(enumerate(rows))
    if split is None:
        return numbered
    if not any("split" in row.cells for row in rows):
        raise InputError(
            f"{path.name} has no column 'split', so there is no split {split!r} to take; add the "
            f"column or leave the split out"
        )
    chosen = [(number, row) for number, row in numbered if row.cells.get("split") == split]
    if not chosen:
        known = {str(row.cells["split"]) for row in rows if row.cells.get("split")}
        raise InputError(f"{path.name} has no split {split!r}; {did_you_mean(split, known)}")
    return chosen


def _items(
    rows: list[tuple[int, Row]], columns: tuple[str | None, str | None], *, default: str
) -> list[_Item]:
    first = rows[0][1]
    text_columns = _text_columns(first, columns[0])
    label_column = columns[1] or "label"
    items = []
    for number, row in rows:
        texts = [_text(row, column) for column in text_columns]
        source = texts[0] if len(texts) == 1 else (texts[0], texts[1])
        label = _cell(row, label_column)
        name = f"{row.cells.get('split') or default}:{number}"
        items.append(_Item(source, label, name, row.where(label_column)))
    return items


def _text_columns(row: Row, asked: str | None) -> list[str]:
    if asked is None:
        pair = "text" not in row.cells and "premise" in row.cells
        return ["premise", "hypothesis"] if pair else ["text"]
    names = [asked] if asked in row.cells else [name.strip() for name in asked.split(",")]
    if len(names) > 2 or not all(names):
        raise InputError(f"a text column is one name, or two with a comma between, not {asked!r}")
    return names


def _cell(row: Row, column: str) -> Any:
    if column not in row.cells:
        known = did_you_mean(column, map(str, row.cells))
        raise InputError(f"{row.where()} has no column {column!r}; {known}")
    return row.cells[column]


def _text(row: Row, column: str) -> str:
    value = _cell(row, column)
    if not isinstance(value, str):
        raise InputError(f"{row.where(column)}: expected a text, not {value!r:.60}")
    return value


def _listed(spec: Iterable[Example | tuple[Any, Any]]) -> list[_Item]:
    if not isinstance(spec, Iterable) or isinstance(spec, (bytes, bytearray, Mapping)):
        raise InputError(f"data is a file, an asset name or a list of pairs, not {spec!r:.60}")
    items = []
    for number, entry in enumerate(spec):
        where, name = f"item {number}", f"list:{number}"
        if isinstance(entry, Example):
            items.append(_Item(entry.text, entry.label, entry.id or name, where))
        elif isinstance(entry, (tuple, list)) and len(entry) == 2:
            try:
                items.append(_Item(Text.parse(entry[0]), entry[1], name, where))
            except InputError as error:
                raise InputError(f"{where}: {error}") from error
        else:
            raise InputError(f"{where}: expected a (text, label) pair, not {entry!r:.60}")
    if not items:
        raise InputError("the list of examples is empty")
    return items


def _indexed(
    items: list[_Item], names: tuple[str, ...] | None
) -> tuple[list[int], tuple[str, ...]]:
    for item in items:
        if item.label is None or item.label != item.label or not _name(item):  # NaN is not itself
            raise InputError(f"{item.where}: the label is empty")
    if names is None:
        names = _class_names(items)
    index = {name.strip().casefold(): number for number, name in enumerate(names)}
    if len(index) < len(names) or not names:
        raise InputError(f"class names must be there and differ: {', '.join(names) or 'none'}")
    return [_index(item, index, count=len(names)) for item in items], names


def _class_names(items: list[_Item]) -> tuple[str, ...]:
    """Numbers up to the highest where labels are integers; else the names that occur, sorted."""
    numbers = [_integer(item.label) for item in items]
    if any(number is not None for number in numbers):
        for item, number in zip(items, numbers, strict=True):
            if number is None:
                raise InputError(
                    f"{item.where}: {item.label!r} is a name while other labels are integers"
                )
            if not 0 <= number < MOST_CLASSES:
                raise InputError(
                    f"{item.where}: label {number} is no class index; integer labels count from 0"
                )
        return tuple(map(str, range(max(n for n in numbers if n is not None) + 1)))
    # Sorted backwards, so that of several spellings of a name the first in order stays.
    spelled = {name.casefold(): name for name in sorted(map(_name, items), reverse=True)}
    return tuple(sorted(spelled.values()))


def _index(item: _Item, index: Mapping[str, int], *, count: int) -> int:
    found = index.get(_name(item).casefold())
    if found is not None:
        return found
    number = _integer(item.label)
    if number is not None and 0 <= number < count:
        return number
    if number is not None:
        raise InputError(f"{item.where}: label {number} is outside 0 to {count - 1}")
    raise InputError(
        f"{item.where}: label {item.label!r:.60} is not a class; {did_you_mean(_name(item), index)}"
    )


def _name(item: _Item) -> str:
    return str(item.label).strip()


def _integer(label: Any) -> int | None:
    """The label as an integer, also when a table has turned it into `1.0`; None for a name."""
    text = str(int(label) if isinstance(label, bool) else label).strip()
    return int(float(text)) if _INTEGER.fullmatch(text) else None


def _drawn(items: list[_Item], limit: int | None, *, seed: int) -> list[int]:
    if limit is None:
        return list(range(len(items)))

    def draw(number: int) -> bytes:
        source = items[number].source
        plain = source.source if isinstance(source, Text) else source
        key = json.dumps([seed, items[number].id, plain])
        return hashlib.sha256(key.encode()).digest()

    return sorted(range(len(items)), key=draw)[:limit]
