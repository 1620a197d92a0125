"""PR: the share of the texts within a radius that keep their label, estimated with a guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, get_args

from numpy.random import Generator

from unfooled.counting import Rows
from unfooled.errors import InputError
from unfooled.estimators._sequences import (
    FINEST,
    RESERVE,
    Sequence,
    clopper_pearson,
    early,
    hoeffding_size,
    hoeffding_width,
    sequence,
)
from unfooled.evidence import margins, tolerance
from unfooled.program import Floats, Program, Scores, Spent
from unfooled.space import Space

Method = Literal["sequential", "hoeffding", "exact"]

_CHUNK = 1024  # rows of a question whose number does not depend on the answers


@dataclass(frozen=True, slots=True)
class Estimate:
    """The PR of one text: in [low, high], but for probability delta where it was sampled.

    `method` is what was done in the end: "exact" when every text was scored, and `samples` counts
    the texts that `value` rests on. `exact` means that there is nothing left to doubt. An enumeration
    knows its `size`; if it was cut off, [low, high] holds for certain and `value` is its middle.
    """

    value: float
    low: float
    high: float
    samples: int
    exact: bool
    radius: int
    method: Method
    size: int | None = None  # texts within the radius, where they were enumerated


@dataclass(frozen=True, slots=True)
class Tally:
    """How many texts kept their label, lost it, or came too close to tell."""

    kept: int = 0
    lost: int = 0
    close: int = 0

    @property
    def n(self) -> int:
        return self.kept + self.lost + self.close

    @property
    def value(self) -> float:
        """The share that is not fooled for sure."""
        return (self.kept + self.close) / self.n

    def plus(self, scores: Floats, label: int) -> Tally:
        """With the texts of these scores."""
        lead, noise = margins(scores, label), tolerance(scores)
        kept, lost = int((lead > noise).sum()), int((lead < -noise).sum())
        close = len(scores) - kept - lost
        return Tally(self.kept + kept, self.lost + lost, self.close + close)


@dataclass(frozen=True)
class PR:
    """The share of the texts within a radius that keep their label (equation 6 of the PDP paper).

    A text keeps its label while the label's score is the highest. A near-tie (`evidence.NOISE`)
    is never claimed as fooling, so `value` counts it as kept; but it may be lost as well, so `low`
    counts it as lost and `high` as kept. Near-ties are thus the only way in which an interval can
    end up wider than asked for, and an enumeration that meets one is not `exact`.

    `sequential`  samples until the interval reaches at most epsilon from the value (`sequences`),
                  or scores every text as soon as that is expected to cost no more and the
                  budget pays for all of them
    `hoeffding`   the paper's N = ln(2 / delta) / (2 epsilon^2) samples, value +- epsilon
    `exact`       every text, refused for spaces of more than `limit`

    If a budget ends before, the interval is what can be said until there: for samples still with
    confidence 1 - delta, for an enumeration what the texts left over can change.

    Differs from the paper: it knows Hoeffding's rule only, rounded up to 5,000 samples.
    """

    radius: int | None = None  # a number of swaps, or
    rate: float | None = None  # a share of the words: floor(rate x words)
    epsilon: float = 0.025
    delta: float = 0.005
    method: Method = "sequential"
    limit: int = 1_000_000  # the most texts that `exact` scores

    def __post_init__(self) -> None:
        if (self.radius is None) == (self.rate is None):
            raise InputError(
                "PR needs either a radius (a number of swaps) or a rate (a share of the words), "
                f"not radius {self.radius} and rate {self.rate}"
            )
        if self.radius is not None and self.radius < 0:
            raise InputError(f"a radius is a number of swaps, 0 or more, not {self.radius}")
        if self.rate is not None and not 0 <= self.rate <= 1:
            raise InputError(f"rate is a share of the words from 0 to 1, not {self.rate}")
        if self.method not in get_args(Method):
            raise InputError(f"method is one of {', '.join(get_args(Method))}, not {self.method!r}")
        least = FINEST if self.method == "sequential" else 0
        if not (0 < self.epsilon < 0.5 and self.epsilon >= least):
            fine = 0 < self.epsilon < least
            advice = "; for less use unfooled estimate with method hoeffding" if fine else ""
            raise InputError(f"epsilon lies between {least} and 0.5, not {self.epsilon}{advice}")
        if not 1e-9 <= self.delta < 1:
            raise InputError(f"delta is a probability from 1e-9 to below 1, not {self.delta}")
        if self.limit < 1:
            raise InputError(f"limit is 1 or more texts, not {self.limit}")

    def swaps(self, space: Space) -> int:
        """The radius in swaps for the text of a space."""
        if self.radius is not None:
            return self.radius
        assert self.rate is not None  # one of the two is given
        return math.floor(self.rate * len(space.original) + 1e-9)  # 0.29 x 100 is 28.999...

    def measure(
        self, space: Space, label: int, rng: Generator, *, budget: int | None = None
    ) -> Program[Estimate]:
        """The PR of a text whose label is `label`; `budget` is how many queries it may ask."""
        radius = self.swaps(space)
        size = space.size(radius)
        if size == 1:
            return (yield from self._enumerated(space, label, radius=radius))
        if self.method == "hoeffding":
            return (yield from self._fixed(space, label, radius=radius, rng=rng))
        if self.method == "sequential":
            return (
                yield from self._sequential(space, label, radius=radius, rng=rng, budget=budget)
            )
        if size > self.limit:
            raise InputError(
                f"there are {_told(size)} texts within {radius} swap{'' if radius == 1 else 's'}, more "
                f"than the {self.limit:,} that exact PR scores: lower the radius, raise the limit or use method sequential"
            )
        return (yield from self._enumerated(space, label, radius=radius))

    def _enumerated(self, space: Space, label: int, *, radius: int) -> Program[Estimate]:
        size, tally = space.size(radius), Tally()
        try:
            for rows in space.enumerate(radius, chunk=_CHUNK):
                tally = tally.plus((yield Scores(rows)), label)
        except Spent as spent:
            tally = tally.plus(spent.scores, label)
            low, high = tally.kept / size, 1 - tally.lost / size
            return Estimate((low + high) / 2, low, high, tally.n, False, radius, "exact", size)
        if tally.n != size:
            raise ArithmeticError(f"{tally.n} texts were scored of {size} within {radius} swaps")
        low, sure = tally.kept / size, tally.close == 0
        return Estimate(tally.value, low, tally.value, size, sure, radius, "exact", size)

    def _fixed(self, space: Space, label: int, *, radius: int, rng: Generator) -> Program[Estimate]:
        tally, width = Tally(), self.epsilon
        total = hoeffding_size(self.epsilon, self.delta)
        try:
            for rows in _drawn(space, total, radius=radius, rng=rng):
                tally = tally.plus((yield Scores(rows)), label)
        except Spent as spent:
            tally = tally.plus(spent.scores, label)
            if tally.n == 0:
                raise
            width = hoeffding_width(tally.n, self.delta)
        low, high = max(0.0, tally.kept / tally.n - width), min(1.0, tally.value + width)
        return Estimate(tally.value, low, high, tally.n, False, radius, "hoeffding")

    def _sequential(
        self, space: Space, label: int, *, radius: int, rng: Generator, budget: int | None
    ) -> Program[Estimate]:
        plan, size = sequence(self.epsilon, self.delta), space.size(radius)
        left = math.inf if budget is None else budget
        if size <= min(plan.looks[0], left):
            return (yield from self._enumerated(space, label, radius=radius))
        tally, ends = Tally(), Ends()
        for look, n in enumerate(plan.looks.tolist()):
            try:
                scores = yield Scores(space.sample(radius, n - tally.n, rng))
            except Spent as spent:
                tally = tally.plus(spent.scores, label)
                if tally.n == 0:
                    raise
                ends = ends.open(tally, self.delta)
                break
            tally = tally.plus(scores, label)
            ends = ends.seen(tally, plan, look=look)
            if ends.low is not None and ends.high is not None:
                break
            if size <= min(plan.expected(tally.value), left - tally.n):
                return (yield from self._enumerated(space, label, radius=radius))
        assert ends.low is not None  # the last look stops whatever it sees
        assert ends.high is not None
        low, high = min(ends.low, tally.value), max(ends.high, tally.value)
        return Estimate(tally.value, low, high, tally.n, False, radius, "sequential")


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of an interval, each fixed at the first look that stops for its count.

    Without near-ties the counts are the same and so are the looks. With them each end has its own
    count; looking on for an end that is fixed would be a look its level has not paid for.
    """

    low: float | None = None
    high: float | None = None

    def seen(self, tally: Tally, plan: Sequence, *, look: int) -> Ends:
        """With the ends whose counts stop at this look."""
        ends = self
        if self.low is None and plan.stops(look, tally.kept):
            low = clopper_pearson(tally.kept, tally.n, alpha=plan.alpha).low
            ends = replace(ends, low=float(low))
        if self.high is None and plan.stops(look, tally.kept + tally.close):
            high = clopper_pearson(tally.kept + tally.close, tally.n, alpha=plan.alpha).high
            ends = replace(ends, high=float(high))
        return ends

    def open(self, tally: Tally, delta: float) -> Ends:
        """With wider ends for those that are not fixed yet, from what delta was kept back."""
        low, high = early((tally.kept, tally.kept + tally.close), tally.n, delta=RESERVE * delta)
        return Ends(
            float(low) if self.low is None else self.low,
            float(high) if self.high is None else self.high,
        )


def _drawn(space: Space, total: int, *, radius: int, rng: Generator) -> Iterator[Rows]:
    """So many samples in questions of a fixed size, whatever the engine's batches are."""
    for start in range(0, total, _CHUNK):
        yield space.sample(radius, min(_CHUNK, total - start), rng)


def _told(size: int) -> str:
    return f"{size:,}" if size < 10**9 else f"{Decimal(size):.1e}"
