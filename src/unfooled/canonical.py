"""JSON that every reader accepts: what is written in manifests and records, and what is hashed.

Conventions: infinity is the string "inf" (or "-inf"), so that `float(field)` reads it back; NaN is
refused, because no outcome is "not a number". Text is escaped to ASCII: a lone surrogate survives,
and a line that was cut anywhere never ends inside a character. Tuples become lists; numpy scalars
and arrays become numbers and lists.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NoReturn

import numpy as np

from unfooled.errors import InputError

# Written as two escapes these would be read back as one character: another string than was given.
_SPLIT_CHARACTER = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def plain(value: object, where: str = "value") -> Any:
    """The value as None, bool, int, float, str, list and dict only; `where` names it in errors."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return _string(value, where)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return _number(float(value), where)
    if isinstance(value, Mapping):
        return {_key(key, where): plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
        return plain(value, where)
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, PurePath):
        return _string(os.fspath(value), where)
    raise InputError(
        f"{where} is a {type(value).__name__}, which JSON cannot hold: "
        "give numbers, strings, lists, mappings or numpy arrays"
    )


def dumps(value: object, where: str = "value") -> str:
    """The value as one line of ASCII JSON, fields in the order given."""
    return _dump(plain(value, where), where, sort_keys=False)


def canonical(value: object, where: str = "value") -> str:
    """The one JSON spelling of a value: sorted keys, no spaces, ASCII."""
    return _dump(plain(value, where), where, sort_keys=True)


def digest(value: object, where: str = "value") -> str:
    """The sha256 of the canonical JSON of a value, as 64 hex digits."""
    return hashlib.sha256(canonical(value, where).encode("ascii")).hexdigest()


def loads(line: str | bytes) -> Any:
    """What standard JSON says; ValueError for anything else, the NaN of lax writers included."""
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _dump(value: Any, where: str, *, sort_keys: bool) -> str:
    try:
        return json.dumps(value, sort_keys=sort_keys, allow_nan=False, separators=(",", ":"))
    except ValueError as error:  # an integer beyond the interpreter's limit of digits
        raise InputError(f"{where} cannot be written as JSON: {error}") from error


def _string(value: str, where: str) -> str:
    if _SPLIT_CHARACTER.search(value):
        raise InputError(
            f"{where} has a character split into two surrogates, which JSON cannot keep apart: "
            "decode the text as UTF-16 first"
        )
    return str.__str__(value)  # the bare string of a subclass, whatever its own __str__ shows


def _number(value: float, where: str) -> float | str:
    if math.isnan(value):
        raise InputError(f"{where} is NaN, which is no outcome: record None, with the reason")
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise InputError(
            f"{where} has the key {key!r:.40}, but JSON keys are strings: "
            "convert it, or give a list of pairs"
        )
    return _string(key, where)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not standard JSON")
