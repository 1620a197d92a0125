"""The common files of word vectors, GloVe or word2vec text and word2vec binary, read strictly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from unfooled.errors import InputError

Content = tuple[tuple[str, ...], npt.NDArray[np.float32]]


def read_text(path: Path) -> Content:
    """Words and matrix of `word number number ...` lines, with or without a `count size` line."""
    words: list[str] = []
    rows: list[npt.NDArray[np.float32]] = []
    size = promised = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            where = f"{path} line {number}"
            fields = _decoded(raw, where).rstrip("\r\n").rstrip(" ").split(" ")
            if number == 1 and len(fields) == 2 and all(f.isdigit() for f in fields):
                promised, size = map(int, fields)
                continue
            size = size or len(fields) - 1
            if size < 1 or len(fields) <= size:
                raise InputError(
                    f"{where} has {len(fields) - 1} numbers after the word; "
                    f"expected {size or 'some'}"
                )
            # Some vocabularies have words with spaces, so the numbers are counted from the end.
            words.append(" ".join(fields[:-size]))
            rows.append(_numbers(fields[-size:], where))
    if not words:
        raise InputError(f"{path} holds no vectors")
    if promised and promised != len(words):
        raise InputError(f"{path} announces {promised} vectors and holds {len(words)}")
    return tuple(words), np.stack(rows)


def read_binary(path: Path) -> Content:
    """Words and matrix of a word2vec `.bin`: a `count size` line, then word, space, float32s."""
    data = path.read_bytes()
    head, _, _ = data[:64].partition(b"\n")
    try:
        count, size = map(int, head.split())
    except ValueError:
        raise InputError(f"{path} line 1 must be 'count size', not {head[:40]!r}") from None
    matrix = np.empty((count, size), dtype=np.float32)
    words, at = [], len(head) + 1
    for number in range(count):
        space = data.find(b" ", at)
        end = space + 1 + 4 * size
        if space < 0 or end > len(data):
            raise InputError(f"{path} ends inside vector {number + 1} of {count}")
        words.append(_decoded(data[at:space].lstrip(b"\n"), f"{path} vector {number + 1}"))
        matrix[number] = np.frombuffer(data, dtype="<f4", count=size, offset=space + 1)
        at = end
    if data[at:].strip(b"\n"):
        raise InputError(f"{path} goes on after the {count} vectors that it announces")
    return tuple(words), matrix


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8: {error.reason} at byte {error.start}") from None


def _numbers(fields: list[str], where: str) -> npt.NDArray[np.float32]:
    try:
        row = np.array(fields, dtype=np.float32)
    except ValueError:
        raise InputError(f"{where} has something that is not a number among its values") from None
    if not np.isfinite(row).all():
        raise InputError(f"{where} has a value that is not finite")
    return row
