"""Intervals for a share that is sampled until it is known well enough: pure statistics.

Looking again and again at a 99.5 % interval until it is narrow misses more often than in 0.5 %
of the cases, so the looks must be made at a stricter level (alpha spending). How strict is not
guessed here: `sequence` fixes when to look and where to stop, computes the probability that the
interval of the stop misses the true share, at its highest over all shares from 0 to 1, and takes
the least strict level that keeps it at delta. What is left of delta pays for wider intervals at
every number of samples before the stop (`early`), so that all of them together, those before the
stop and the one from then on, are an anytime-valid confidence sequence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESERVE = 0.05
"""The share of delta for intervals before the stop: what is reported when a budget ends early."""

FINEST = 0.005
"""The least epsilon a sequence is made for: finding its level takes seconds, below it minutes."""

_STEP = 16  # the fewest samples from one look to the next: a question of less wastes a batch
_GROWTH = 1 / 32  # later looks are so far apart in proportion, so that their number stays small
_CELLS = 256  # into how many cells an epsilon of true shares is cut, if it has more stops
_CUT = 1e-13  # probability left out of a sum on purpose, and added back as a whole


class Interval(NamedTuple):
    """Bounds of a share, or arrays of them."""

    low: Floats
    high: Floats


def clopper_pearson(hits: ArrayLike, n: ArrayLike, *, alpha: float) -> Interval:
    """The exact binomial interval: each side misses with probability at most alpha / 2.

    `hits` need not be whole: the beta quantiles interpolate, which `fixed_size` uses.
    """
    k, n = np.asarray(hits, dtype=float), np.asarray(n, dtype=float)
    with np.errstate(invalid="ignore"):
        low = np.where(k > 0, special.betaincinv(np.maximum(k, 1e-300), n - k + 1, alpha / 2), 0.0)
        rest = np.maximum(n - k, 1e-300)
        high = np.where(k < n, special.betainccinv(k + 1, rest, alpha / 2), 1.0)
    return Interval(low, high)


def hoeffding_size(epsilon: float, delta: float) -> int:
    """How many samples bring the mean within epsilon but for probability delta, whatever the share.

    >>> hoeffding_size(0.025, 0.005)
    4794
    """
    return math.ceil(math.log(2 / delta) / (2 * epsilon**2))


def hoeffding_width(n: int, delta: float) -> float:
    """How far the mean of n samples can be off but for probability delta."""
    return math.sqrt(math.log(2 / delta) / (2 * n))


def fixed_size(share: float, *, epsilon: float, alpha: float) -> int:
    """The samples a single Clopper-Pearson interval needs if exactly `share` of them are hits.

    What somebody would take who knew the share before: no rule that has to find out can expect less.
    """
    few, enough = 0, hoeffding_size(epsilon, alpha)  # Hoeffding's interval contains the exact one
    while enough - few > 1:
        n = (few + enough) // 2
        few, enough = (few, n) if _width(share * n, n, alpha=alpha) <= epsilon else (n, enough)
    return enough


def early(hits: tuple[int, int], n: int, *, delta: float) -> Interval:
    """An interval that holds at every n at once: level delta / (n (n + 1)), which sums to delta.

    `hits` are the fewest and the most that the samples may have, for the low and the high end.
    """
    alpha = delta / (n * (n + 1))
    low, high = clopper_pearson(hits, n, alpha=alpha)
    return Interval(low[0], high[1])


def _width(hits: ArrayLike, n: ArrayLike, *, alpha: float) -> Floats:
    """How far the interval reaches from the mean to its farther end."""
    low, high = clopper_pearson(hits, n, alpha=alpha)
    mean = np.asarray(hits) / np.asarray(n)
    farther: Floats = np.maximum(mean - low, high - mean)
    return farther


@dataclass(frozen=True, eq=False)
class Sequence:
    """When to look, where to stop, and the level of the interval to stop with.

    At look k, after `looks[k]` samples, stop when at most `most[k]` of them are hits, or at most
    `most[k]` are not. The interval is then Clopper-Pearson's at `alpha` and reaches at most
    epsilon from the mean. The last look stops whatever it sees.
    """

    epsilon: float
    delta: float
    alpha: float
    looks: Ints
    most: Ints
    miss: float  # the highest probability, over all shares, that one end of the interval misses

    def stops(self, look: int, hits: int) -> bool:
        """Whether so many hits at a look are enough."""
        return bool(min(hits, self.looks[look] - hits) <= self.most[look])

    def expected(self, share: float) -> int:
        """The look that stops when the mean is `share`."""
        enough = self.most >= min(share, 1 - share) * self.looks
        return int(self.looks[enough.argmax() if enough.any() else -1])


@lru_cache(maxsize=32)
def sequence(epsilon: float, delta: float) -> Sequence:
    """The sequence with the least strict level whose two ends each miss with at most delta / 2.

    The level is found by repeated scaling, because the probability to miss is nearly
    proportional to it; only a level whose probability was computed and is low enough is used.
    """
    allowed = (1 - RESERVE) * delta / 2
    alpha, best = delta / 3, None
    for _ in range(12):
        looks, most = _schedule(epsilon, alpha)
        miss = _worst_miss(looks, most, epsilon=epsilon, alpha=alpha)
        if miss <= allowed and (best is None or alpha > best.alpha):
            best = Sequence(epsilon, delta, alpha, looks, most, miss)
        if 0.98 * allowed <= miss <= allowed:
            break
        alpha = min(alpha * 0.99 * allowed / miss, delta)
    if best is None:
        raise ArithmeticError(f"no level found for epsilon {epsilon} and delta {delta}")
    return best


def _schedule(epsilon: float, alpha: float) -> tuple[Ints, Ints]:
    """The looks and the most hits to stop with at each, up to half of the samples."""
    needs = _needs(epsilon, alpha)
    looks = [int(needs[0])]
    for need in needs:
        if need >= looks[-1] + max(_STEP, _GROWTH * looks[-1]):
            looks.append(int(need))
    if looks[-1] < needs[-1]:
        looks.append(int(needs[-1]))
    most = np.searchsorted(needs, looks, side="right") - 1
    most[-1] = looks[-1] // 2
    return np.array(looks), most


def _needs(epsilon: float, alpha: float) -> Ints:
    """For s = 0, 1, ...: the samples after which s hits are enough, until any number is."""
    ceiling = hoeffding_size(epsilon, alpha)
    hits = np.arange(ceiling // 2 + 1)
    few, enough = np.maximum(2 * hits - 1, 0), np.full(len(hits), ceiling)
    while (enough - few > 1).any():
        n = (few + enough + 1) // 2
        good = _width(np.minimum(hits, n), np.maximum(n, 1), alpha=alpha) <= epsilon
        few, enough = np.where(good, few, n), np.where(good, n, enough)
    needs = np.maximum.accumulate(enough)
    middle = int(np.argmax(needs <= 2 * hits + 1))  # from here on the mean is one half
    return needs[: middle + 1]


class _Stops(NamedTuple):
    """The points where a sequence can stop, and how likely a path to one had not stopped before."""

    n: Ints
    hits: Ints
    fresh: Floats


def _worst_miss(looks: Ints, most: Ints, *, epsilon: float, alpha: float) -> float:
    """The highest probability, over all true shares, that the low end lies above the share.

    By symmetry it is that of the high end below it. The probability of stopping at a point is
    that of its count times `fresh`, which does not depend on the share p. Between neighbouring
    low ends the same points miss, and each is the likelier the higher p is, as long as
    p < hits / n: so a cell of shares is bounded by the points that miss at its lower edge and
    their probabilities at its upper edge. With the low ends as edges nothing is lost.
    """
    n, hits, fresh = _stops(looks, most)
    n, hits, fresh = np.tile(n, 2), np.concatenate([hits, n - hits]), np.tile(fresh, 2)
    low = clopper_pearson(hits, n, alpha=alpha).low
    order = np.argsort(low)[np.count_nonzero(low == 0) :]  # an end at 0 never misses
    n, hits, low = n[order], hits[order], low[order]
    base = special.gammaln(n + 1) - special.gammaln(hits + 1) - special.gammaln(n - hits + 1)
    base += np.log(fresh[order])

    def chances(part: slice, share: ArrayLike) -> Floats:
        k, m = hits[part], n[part]
        p = np.minimum(share, k / m)  # where a point is likeliest, if that is in the cell
        return np.exp(base[part] + special.xlogy(k, p) + special.xlog1py(m - k, -p))

    worst = 0.0
    for start in np.arange(0, 1, epsilon):
        end = min(start + epsilon, 1.0)
        here, beyond, far = np.searchsorted(low, [start, end, end + 2 * epsilon])
        inner = low[here:beyond] if beyond - here < _CELLS else np.linspace(start, end, _CELLS)
        edges = np.unique([start, *inner, end])
        missed = low[here:far] > edges[:-1, None]  # (cell, point)
        near = (chances(slice(here, far), edges[1:, None]) * missed).sum(axis=1).max()
        worst = max(worst, float(near + chances(slice(far, None), end).sum()))
    return worst


def _stops(looks: Ints, most: Ints) -> _Stops:
    """Every point with at most half hits where the sequence can stop.

    Given the count s at a look, the order of hits is uniform, so the count at the look before is
    hypergeometric and `fresh` follows from that look's alone. It is bounded from above where
    exactness costs much and changes little: counts far above the limit are taken to be fresh for
    sure, and so are paths that stop by having too few misses.
    """
    ns, hits, fresh = [], [], []
    table = np.ones(0)  # of the counts above the limit of the look before; 1 beyond its end
    for k, n in enumerate(looks):
        first = 0 if k == 0 else int(most[k - 1]) + 1
        limit = int(most[k])
        band = math.ceil(4 * math.sqrt(limit + 4)) + 8
        s = np.arange(first, max(limit, first - 1) + band + 1)
        before = int(looks[k - 1]) if k else 0
        chance = (
            _fresh(s, n=int(n), before=before, first=first, table=table) if k else np.ones(len(s))
        )
        stop = s <= limit
        ns.append(np.full(stop.sum(), n))
        hits.append(s[stop])
        fresh.append(chance[stop])
        table = chance[~stop]
    return _Stops(np.concatenate(ns), np.concatenate(hits), np.concatenate(fresh))


def _fresh(s: Ints, *, n: int, before: int, first: int, table: Floats) -> Floats:
    """The probability that a path to s hits after n samples had not stopped `before`.

    `table[i]` is that probability for first + i hits at the look before, zero below, one beyond.
    """
    step = n - before
    reach = math.sqrt(step * math.log(2 / _CUT) / 2)  # Hoeffding: farther has probability _CUT
    start = np.floor(s * step / n - reach).astype(np.int64)
    new = start[:, None] + np.arange(math.ceil(2 * reach) + 2)  # hits since then: (count, window)
    old = s[:, None] - new
    possible = (new >= 0) & (new <= step) & (old >= first) & (old <= before)
    new, old = np.where(possible, new, 0), np.where(possible, old, 0)
    logs = _log_choose(before, old) + _log_choose(step, new) - _log_choose(n, s)[:, None]
    place = old - first
    known = (place >= 0) & (place < len(table))
    chance = np.where(known, np.append(table, 1.0)[np.where(known, place, -1)], 1.0)
    whole = np.where(possible, np.exp(logs) * chance, 0.0).sum(axis=1) + _CUT
    capped: Floats = np.minimum(whole, 1.0)
    return capped


def _log_choose(n: int, k: Ints) -> Floats:
    """The logarithm of the binomial coefficient."""
    log = special.gammaln
    chosen: Floats = log(n + 1) - log(k + 1) - log(n - k + 1)
    return chosen
