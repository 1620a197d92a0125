"""Limit sweep: accuracy under attack while one limit moves (Li et al. 2021, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_type_hints

from unfooled import registry, settings
from unfooled.data import Dataset, load
from unfooled.errors import InputError, did_you_mean
from unfooled.limits import Limits
from unfooled.outcomes import Outcomes
from unfooled.runner import attack
from unfooled.victims.base import Victim

Value = int | float | str

SWEPT: Final = (
    "max_rate",
    "max_swaps",
    "max_candidates",
    "max_queries",
    "min_similarity",
    "min_word_cosine",
    "window",
)
"""The limits that can be swept."""


@dataclass(frozen=True)
class Point:
    """One attack with one limit at one value."""

    attack: str
    limit: str
    value: Value
    outcomes: Outcomes
    folder: Path | None

    def figures(self) -> dict[str, Any]:
        """The point and the summary of its outcomes as JSON values."""
        run = None if self.folder is None else str(self.folder)
        where = {"attack": self.attack, "limit": self.limit, "value": self.value, "run": run}
        return {**where, **self.outcomes.summary()}


@dataclass(frozen=True)
class Swept:
    """The points of a sweep: by limit, by value as they were given, by attack."""

    points: tuple[Point, ...]

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits that were swept."""
        return tuple(dict.fromkeys(p.limit for p in self.points))

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks that were run."""
        return tuple(dict.fromkeys(p.attack for p in self.points))

    def under(self, limit: str) -> dict[Value, dict[str, float | None]]:
        """The accuracy under each attack at each value of a limit."""
        found: dict[Value, dict[str, float | None]] = {}
        for point in self.points:
            if point.limit == limit:
                accuracy = point.outcomes.summary()["accuracy_under_attack"]
                found.setdefault(point.value, {})[point.attack] = accuracy
        return found


def sweep(
    attacks: Sequence[str],
    victim: Victim,
    examples: Any,
    *,
    over: Mapping[str, Sequence[Any]],
    preset: str | None = None,
    out: Path | str | None = None,
    **more: Any,
) -> Swept:
    """The outcomes of attacks at every value of every limit in `over`, such as {"max_rate": [0.1, 0.3]}.

    One limit moves at a time; the others stay where `more` or the preset has them. `more` are further
    keywords of `uf.attack`. With `out` every point has a run folder in there, and is not run again.
    Points that come to the same limits are run once.
    """
    if isinstance(attacks, str) or not attacks:
        raise InputError(
            f"attacks is a list of names such as ['textfooler', 'pwws'], not {attacks!r}"
        )
    for name in attacks:
        registry.get("attacks", name)
    wanted = {limit: _checked(limit, values) for limit, values in over.items()}
    if not wanted:
        raise InputError(f"over names the limits to sweep: some of {', '.join(SWEPT)}")
    if not isinstance(examples, (str, Path, Dataset)):
        examples = load(examples)  # once: an iterator has them only once
    points, done = [], dict[str, Outcomes]()
    for limit, values in wanted.items():
        for value in values:
            for name in attacks:
                given = {**more, limit: value}
                label = _label(name, preset, given=given, swept=list(wanted))
                folder = None if out is None else Path(out) / label
                if label not in done:
                    done[label] = attack(name, victim, examples, preset=preset, out=folder, **given)
                points.append(Point(name, limit, value, done[label], folder))
    return Swept(tuple(points))


def parse(asked: Sequence[str]) -> dict[str, list[Value]]:
    """The limits and values that ["max-candidates=5,10", "max-rate=0.1,0.3"] names."""
    found: dict[str, list[Value]] = {}
    for words in asked:
        name, equals, values = words.partition("=")
        limit = name.strip().replace("-", "_")
        if not equals or not values.strip(" ,"):
            raise InputError(f"write what to sweep as max-candidates=5,10,20, not {words!r}")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        found[limit] = [*found.get(limit, []), *_checked(limit, listed)]
    return found


def _checked(limit: str, values: Sequence[Any]) -> list[Value]:
    """The values as the limit has them, or an error naming the one that it cannot have."""
    from pydantic import TypeAdapter, ValidationError

    if limit not in SWEPT:
        raise InputError(f"there is no limit {limit!r} to sweep; {did_you_mean(limit, SWEPT)}")
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InputError(f"the values of {limit} are a list such as [5, 10, 20], not {values!r}")
    typed = TypeAdapter[Any](get_type_hints(Limits)[limit])
    found: list[Any] = []
    for value in values:
        try:
            found.append(_number(typed.validate_python(value)))
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise InputError(f"{limit} cannot be {value!r}: {why}") from None
        Limits(**{limit: found[-1]})  # refuses what is out of range
    return list(dict.fromkeys(found))


def _number(value: Any) -> Any:
    """A number of queries that was written as a word is a number; other values are as they were."""
    if value is None:
        raise InputError(
            "None is no value of a limit: a sweep goes through values such as 5, 10, 20"
        )
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _label(name: str, preset: str | None, *, given: Mapping[str, Any], swept: Sequence[str]) -> str:
    """The folder of a point: the attack, and the value of each limit that is swept at all."""
    limits = {limit: given.get(limit) for limit in swept}
    found = settings.apply(preset, name, candidates=None, limits=limits, options={}).limits
    values = {limit: getattr(found, limit) for limit in swept}
    told = [f"{limit.replace('_', '-')}-{v}" for limit, v in values.items() if v is not None]
    return "-".join([name.replace("_", "-"), *told])
