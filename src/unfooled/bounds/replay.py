"""What a bound in a certificate is worth when it is computed again: nothing is searched here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from unfooled.bounds.graph import Slopes
from unfooled.bounds.intervals import boxes
from unfooled.bounds.linear import default_slopes
from unfooled.bounds.margins import METHODS, Bounds, margins
from unfooled.bounds.networks import graph_of
from unfooled.bounds.reading import Reading
from unfooled.bounds.region import Region
from unfooled.errors import InputError

KIND = "bound"


def argument(method: str, bound: Bounds, *, row: int) -> dict[str, Any]:
    """The part of a certificate that says how the margin of one region was bounded."""
    slopes = None if bound.slopes is None else stored(bound.slopes, row=row)
    value = float(bound.margin[row])
    return {"kind": KIND, "bounds": method, "bound": value, "slopes": slopes}


def recomputed(reading: Reading, label: int, *, radius: int, argument: Mapping[str, Any]) -> Bounds:
    """The bounds over all texts within `radius` swaps that the argument of a certificate leads to.

    They prove the radius if `holds` is true; the argument's own value is not looked at.
    """
    method = argument.get("bounds")
    if argument.get("kind") != KIND or method not in METHODS:
        raise InputError(
            f"a certificate by bounds has kind {KIND!r} and bounds {', '.join(METHODS)}; this one "
            f"has {argument.get('kind')!r} and {method!r}"
        )
    region = Region.of([reading], [min(radius, len(reading.choices))])
    slopes = argument.get("slopes")
    found = None if slopes is None else read(slopes, reading, region)
    if method == "optimised" and found is None:
        raise InputError("a certificate by optimised bounds has slopes, and this one has none")
    return margins(
        reading.network,
        region,
        labels=[label],
        method=method,
        other=reading.other,
        second=reading.second,
        slopes=found,
    )


def stored(slopes: Mapping[int, Slopes], *, row: int) -> dict[str, list[Any]]:
    """The slopes of one of a batch as JSON values."""
    return {str(number): [part[row].tolist() for part in parts] for number, parts in slopes.items()}


def read(values: Any, reading: Reading, region: Region) -> dict[int, Slopes]:
    """The slopes that `stored` wrote, or an error that says what does not fit the network."""
    with torch.no_grad():
        graph = graph_of(reading.network, region, other=reading.other, second=reading.second)
        wanted = default_slopes(graph, boxes(graph, region))
    k = reading.network.config.classes - 1
    if not isinstance(values, Mapping) or set(values) != {str(number) for number in wanted}:
        raise InputError("the slopes of the certificate are not those of this network's steps")
    found: dict[int, Slopes] = {}
    for number, parts in wanted.items():
        shapes = [(k, *part.shape[2:]) for part in parts]
        found[number] = tuple(_tensors(values[str(number)], shapes, number))
    return found


def _tensors(values: Any, shapes: Sequence[tuple[int, ...]], number: int) -> list[Tensor]:
    if not _numbers(values):
        raise InputError(f"the slopes of step {number} are no arrays of numbers")
    try:
        found = [torch.tensor(value, dtype=torch.float64) for value in values]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the slopes of step {number} are no arrays of numbers: {error}"
        ) from error
    if [tuple(part.shape) for part in found] != list(shapes):
        raise InputError(
            f"the slopes of step {number} have the shapes {[tuple(p.shape) for p in found]}, and "
            f"this text needs {list(shapes)}"
        )
    if not all(bool(part.isfinite().all()) for part in found):
        raise InputError(f"the slopes of step {number} are not all finite")
    return [part.unsqueeze(0) for part in found]


def _numbers(value: Any) -> bool:
    """Whether a JSON value is numbers in lists, however deep."""
    if isinstance(value, list):
        return all(map(_numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)
