"""The folder is the registry: `attacks/greedy.py` is the attack named `greedy`.

Packages add methods of their own with entry points in the group `unfooled.attacks` (or whatever the
family is called). Listing names imports nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from unfooled.errors import InputError, did_you_mean

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """A field of a method: what a user can set."""

    name: str
    type: Any
    default: Any


def names(family: str) -> tuple[str, ...]:
    """The methods of a family ("attacks"), built in and plugged in."""
    plugged = [point.name for point in entry_points(group=f"unfooled.{family}")]
    return tuple(sorted({*_built_in(family), *plugged}))


def get(family: str, name: str) -> type[Any]:
    """The class of a method; a built-in one goes before a plug-in of the same name."""
    wanted = name.replace("_", "-")
    if wanted in _built_in(family):
        method: type[Any] = import_module(f"unfooled.{family}.{wanted.replace('-', '_')}").METHOD
        return method
    for point in entry_points(group=f"unfooled.{family}"):
        if point.name == name:
            plugged: type[Any] = point.load()
            return plugged
    kind = family.removesuffix("s")
    raise InputError(f"there is no {kind} named {name!r}; {did_you_mean(wanted, names(family))}")


def _built_in(family: str) -> list[str]:
    return [
        entry.name.removesuffix(".py").replace("_", "-")
        for entry in files(f"unfooled.{family}").iterdir()
        if entry.name.endswith(".py") and not entry.name.startswith("_")
    ]


def options(method: type[Any]) -> tuple[Option, ...]:
    """What can be set on a method, with types and defaults."""
    hints = get_type_hints(method)
    return tuple(Option(f.name, hints[f.name], _default(f)) for f in fields(method))


def build(family: str, name: str, given: Mapping[str, Any] | None = None) -> Any:
    """A method with its options, which may be words of a command line."""
    method, given = get(family, name), given or {}
    for option in given:
        if why := lacking(family, name, option):
            raise InputError(f"{name} has no option {option!r}{why}")
    return made(method, given, name=name, words=True)


def lacking(
    family: str, name: str, option: str, *, written: Callable[[str], str] = str
) -> str | None:
    """The end of an error about an option that only others of the family have: why, who, what instead.

    None where the method has it, or nobody. `written` says how options are spelled where one is asked.
    """
    method = get(family, name)
    own = [field.name for field in options(method)]
    others = [other for other in names(family) if option in _known(family, other)]
    if option in own or not others:
        return None
    why = f", as {method.lacks[option]}" if option in getattr(method, "lacks", ()) else ""
    rest = f"{name} has {listed(map(written, own))}" if own else f"{name} has none of its own"
    return f"{why}: {listed(others)} {'has' if len(others) == 1 else 'have'} it, {rest}"


def _known(family: str, name: str) -> set[str]:
    """The options of a method; none where a package that it needs is not installed."""
    try:
        return {option.name for option in options(get(family, name))}
    except ImportError:
        return set()


def listed(words: Iterable[str]) -> str:
    """Words as people list them: a, b and c."""
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last


def made(method: type[T], given: Mapping[str, Any], *, name: str, words: bool = False) -> T:
    """A method with its options; unknown and ill-typed ones are named.

    With `words` an option may be spelled: "8" is a number then, and "none" is None where that can be.
    """
    from pydantic import TypeAdapter, ValidationError

    kind: type[Any] = method
    known = {option.name: option for option in options(kind)}
    values = {}
    for key, value in given.items():
        if key not in known:
            raise InputError(f"{name} has no option {key!r}; {did_you_mean(key, known)}")
        if words and value == "none" and NoneType in get_args(known[key].type):
            value = None
        try:
            strict = isinstance(value, str) and not words
            values[key] = TypeAdapter(known[key].type).validate_python(value, strict=strict)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise InputError(f"option {key} of {name} cannot be {value!r}: {why}") from error
        if isinstance(values[key], float) and math.isnan(values[key]):
            raise InputError(f"option {key} of {name} cannot be {value!r}: it is not a number")
    missing = [f.name for f in fields(kind) if _required(f) and f.name not in values]
    if missing:
        raise InputError(f"{name} needs a value for its option {missing[0]!r}")
    return method(**values)


def _required(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING and field.default_factory is MISSING


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default
