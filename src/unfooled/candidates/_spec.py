"""From what a user writes to a source: `wordnet:k=8`, `table:FILE + embedding|pos`, a mapping."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import lru_cache, reduce
from importlib import import_module
from typing import Any, get_type_hints

from unfooled.candidates import _combined
from unfooled.candidates._function import Function
from unfooled.candidates._sentence import SimilarSentence
from unfooled.candidates._source import Source
from unfooled.errors import InputError, did_you_mean

_FILTERS: dict[str, type[Source]] = {
    "pos": _combined.SamePos,
    "stopwords": _combined.NoStopWords,
    "similarity": _combined.Similar,
    "antonyms": _combined.NoAntonyms,
    "sentence": SimilarSentence,
}

RECIPES: Mapping[str, str] = {
    # ILP paper, appendix A: GloVe cosine above 0.8, the same part of speech, and a sentence
    # similarity above 0.8 with only that word swapped, all decided once and for all.
    "ilp": "embedding:k=50,min_similarity=0.8|pos|sentence:min=0.8,encoder=use",
}
"""Specs that have a name of their own, which can stand in the place of a source."""


def names() -> tuple[str, ...]:
    """The sources that a spec can name: the public files of this folder."""
    found = pkgutil.iter_modules(import_module(__package__).__path__)
    return tuple(sorted(m.name for m in found if not m.name.startswith("_")))


def filters() -> tuple[str, ...]:
    """The filters that a spec can name after `|`."""
    return tuple(_FILTERS)


def load(spec: str | Source | Mapping[Any, Any] | Callable[..., Any]) -> Source:
    """The source that a spec describes: a string, a source, {word: candidates}, or a function.

    In a string `+` is union, `&` intersection (which binds tighter), and `|` adds a filter:
    `wordnet:k=8`, `embedding:k=8,min_similarity=0.6|pos`, `table:synonyms.tsv + wordnet`.
    """
    if isinstance(spec, Source):
        return spec
    if isinstance(spec, str):
        return _parsed(spec)
    if isinstance(spec, Mapping):
        from unfooled.candidates.table import words

        return words(spec)
    if callable(spec):
        return Function(spec)
    raise InputError(
        f"candidates come from a name, a mapping or a function, not {type(spec).__name__}; "
        f"names: {', '.join(names())}"
    )


def narrowed(
    spec: str | Source | Mapping[Any, Any] | Callable[..., Any], by: str, **options: Any
) -> Source:
    """The source of a spec with one more filter: narrowed("wordnet", "similarity", min=0.5)."""
    if by not in _FILTERS:
        raise InputError(f"there is no filter of candidates {by!r}; {did_you_mean(by, _FILTERS)}")
    made: Callable[..., Source] = _FILTERS[by]
    return made(load(spec), **options)


@lru_cache(maxsize=64)
def _parsed(spec: str) -> Source:
    unions = [[_term(term) for term in part.split("&")] for part in spec.split("+")]
    return reduce(_combined.Union, (reduce(_combined.Intersection, part) for part in unions))


def _term(term: str) -> Source:
    first, *rest = (part.strip() for part in term.split("|"))
    if first in RECIPES:
        first, *before = RECIPES[first].split("|")
        rest = before + rest
    name, options = _named(first, (*names(), *RECIPES), what="source of candidates")
    if name in RECIPES:
        raise InputError(f"{name} is a recipe without options; it is short for {RECIPES[name]}")
    made = _made(import_module(f"{__package__}.{name}").SOURCE, options, name=name)
    for part in rest:
        name, options = _named(part, _FILTERS, what="filter of candidates")
        made = _made(_FILTERS[name], options, name=name, source=made)
    return made


def _named(part: str, known: Any, *, what: str) -> tuple[str, str]:
    name, _, options = part.partition(":")
    name = name.strip()
    if name not in known:
        raise InputError(f"there is no {what} {name!r}; {did_you_mean(name, known)}")
    return name, options


def _made(kind: type[Source], options: str, *, name: str, **given: Source) -> Source:
    """A source from `field=value,...`; a value without a name is the file."""
    hints = {f.name: f for f in fields(kind) if f.name not in given}  # type: ignore[arg-type]
    values: dict[str, Any] = dict(given)
    for option in filter(None, (o.strip() for o in options.split(","))):
        key, equals, value = option.partition("=")
        if not equals and "file" in hints:
            key, value = "file", option
        elif not equals:
            raise InputError(f"write options of {name} as field=value, not {option!r}")
        if key not in hints:
            raise InputError(f"{name} has no option {key!r}; {did_you_mean(key, hints)}")
        values[key] = _typed(kind, key, value=value, name=name)
    missing = [f.name for f in hints.values() if f.default is MISSING and f.name not in values]
    if missing:
        raise InputError(f"{name} needs {missing[0]}: write {name}:{missing[0]}=...")
    return kind(**values)


def _typed(kind: type[Source], key: str, *, value: str, name: str) -> Any:
    from pydantic import TypeAdapter, ValidationError

    hint = get_type_hints(kind)[key]
    if value.lower() == "none" and type(None) in getattr(hint, "__args__", ()):
        return None
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise InputError(f"option {key} of {name} cannot be {value!r}: {why}") from None
