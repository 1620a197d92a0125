"""Numbers in words: what a bracket, a share or a PR says, and what it does not say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unfooled.audited import TRUSTED, Audit, Audited
from unfooled.estimates import Estimated
from unfooled.evidence import Bracket, Claim

NONE = "–"


def share(value: float | None) -> str:
    """A share in per cent; a dash for a share of nothing.

    >>> share(0.25), share(None)
    ('25.0 %', '–')
    """
    return NONE if value is None else f"{100 * value:.1f} %"


def number(value: float | None) -> str:
    """A number as short as it may be: thousands apart, two digits after the point at most."""
    if value is None:
        return NONE
    if value == math.inf:
        return "∞"
    if float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def interval(low: float | None, high: float | None) -> str:
    """Two bounds, or the number when they meet."""
    if low is None or high is None:
        return NONE
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def bracket(found: Bracket) -> str:
    """What is known about m, the least number of swaps that fools the victim."""
    if found.lower == math.inf:
        return "no swap fools it"
    if found.upper is None:
        return f"m ≥ {found.lower:g}, not broken"
    if found.exact:
        return f"m = {found.lower:g} exactly"
    return f"{found.lower:g} ≤ m ≤ {found.upper:g}"


def below(found: Bracket) -> str:
    """Why m is not smaller."""
    if found.lower == math.inf:
        fact = "No text of the whole space fools the victim"
    elif found.lower <= 1:
        more = "" if found.exact else "; no radius was proved"
        return f"The text itself is classified correctly, so m is at least 1{more}."
    else:
        fact = f"No text within {_swaps(found.lower - 1)} fools the victim"
    if trusted(found):
        return f"{fact}: {_source(found.below)} says so, and a solver leaves no proof that could be checked."
    return f"{fact}: proved by {_source(found.below)}."


def trusted(found: Bracket) -> bool:
    """Whether the lower bound is the word of a solver, which leaves no proof that could be checked."""
    return found.below.detail == TRUSTED


def above(found: Bracket) -> str:
    """Why m is not larger, where anybody knows."""
    if found.upper == math.inf:
        return "There is nothing to find: the whole space is proved."
    if found.upper is None:
        tried = f": {_source(found.above)}" if found.above.method else ""
        return f"Not broken{tried}. More swaps, or another search, may still fool the victim."
    return f"A text with {_swaps(found.upper)} fools the victim: found by {_source(found.above)}."


def pr(found: Estimated | None, *, delta: float) -> str:
    """The PR of a text with what it rests on."""
    if found is None:
        return "not measured"
    if found.value is None:
        return f"not measured: {found.error}"
    if found.method == "proved":
        return "1 exactly: the whole radius is proved"
    if found.exact:
        return f"{found.value:.4f} exactly: every text within the radius was scored"
    if found.method == "exact":  # cut off by a budget, or with near-ties
        of = "" if found.size is None else f" of {found.size:,}"
        return (
            f"{found.value:.3f}, between {found.low:.3f} and {found.high:.3f} for certain, "
            f"{found.samples:,}{of} texts scored"
        )
    return (
        f"{found.value:.3f}, between {found.low:.3f} and {found.high:.3f} "
        f"with confidence {confidence(delta)}, from {found.samples:,} samples"
    )


def pr_short(found: Estimated | None) -> str:
    """PR in three digits; only a PR that is 1 for certain is shown as 1."""
    if found is None or found.value is None:
        return ""
    if found.value < 0.9995 or (found.exact and found.value == 1):
        return f"PR {found.value:.3f}"
    # All samples, or nearly all, kept the label: the lower end is what is known.
    low = math.floor(1000 * (0.9995 if found.exact else found.low)) / 1000
    return f"PR > {low:.3f}"


def confidence(delta: float) -> str:
    """1 - delta in per cent.

    >>> confidence(0.005)
    '99.5 %'
    """
    return f"{100 * (1 - delta):.6g} %"


def certifiers(manifest: Mapping[str, Any]) -> list[str]:
    """The names of the certifiers of a run, in the order in which they were asked."""
    options = manifest.get("options", {})
    return list(options.get("certifiers") or options.get("certifier", {}))  # older runs have one


def paragraphs(audit: Audit, manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was asked, proved, only attacked and estimated, in plain words with a heading each."""
    held = [a for a in audit if a.bracket is not None]
    asked = _asked(audit, manifest, held=len(held))
    if not held:
        return [("Asked", asked), ("Proved", "Nothing: there is no text to say anything about.")]
    return [
        ("Asked", asked),
        ("Proved", _proved(audit, manifest, held=held)),
        ("Only attacked", _attacked(held)),
        ("Estimated", _estimated(audit, manifest)),
        (
            "Not covered",
            "Every statement is about swaps of single words for the candidates that this run used. "
            "Other words, other edits and other texts may fool the victim.",
        ),
    ]


def _asked(audit: Audit, manifest: Mapping[str, Any], *, held: int) -> str:
    skipped = sum(a.skipped for a in audit)
    errors = sum(a.error is not None for a in audit)
    failed = f", on {errors:,} it failed" if errors else ""
    asked = manifest.get("texts", len(audit))
    part = (
        f" This run holds {len(audit):,} of {_texts(asked)}: it is one shard, or has not finished."
        if asked > len(audit)
        else ""
    )
    return (
        f"How few word swaps, m, make {manifest.get('victim', 'the victim')} give another answer? Of "
        f"{_texts(len(audit))}, {skipped:,} it misclassifies as they are, so that there is nothing "
        f"to fool{failed}, and {held:,} were audited. All shares below are shares of these."
        f"{part}"
    )


def _proved(audit: Audit, manifest: Mapping[str, Any], *, held: list[Audited]) -> str:
    names = certifiers(manifest)
    who = f"the certifier{'s' if len(names) > 1 else ''} ({', '.join(names)})"
    whole = sum(a.lower == math.inf for a in held)
    within = sum(a.lower is not None and a.lower > audit.radius for a in held)
    exact = sum(a.exact for a in held)
    met = exact - whole
    return (
        f"For {_of(within, held)} {who} proved that no text within "
        f"{_swaps(audit.radius)} fools the victim. For {_of(whole, held)} no number of swaps "
        f"does. For {_of(met, held)} m is known exactly: a text with m swaps fools the victim and "
        f"fewer swaps are proved not to."
    )


def _attacked(held: list[Audited]) -> str:
    loose = sum(not a.exact and a.upper is not None for a in held)
    intact = sum(a.upper is None for a in held)
    return (
        f"Broken, while fewer swaps are not excluded: {_of(loose, held)}; of these only the upper "
        f"bound is certain. Not broken by any attack and not proved as a whole: "
        f"{_of(intact, held)}. Not broken is no proof: beyond the radius that was proved, nothing "
        f"is known about them."
    )


def _estimated(audit: Audit, manifest: Mapping[str, Any]) -> str:
    known = [a.pr for a in audit if a.pr is not None and a.pr.value is not None]
    if not known:
        return "Nothing: no PR was measured."
    exact = sum(p.exact for p in known)
    sampled = sum(p.method in ("sequential", "hoeffding") for p in known)
    bounded = len(known) - exact - sampled
    between = f", bounded for certain for {_texts(bounded)}" if bounded else ""
    delta = manifest["options"]["pr"]["delta"]
    return (
        f"PR is the share of all texts within {_swaps(audit.radius)} that keep the label, so a high "
        f"PR speaks of random swaps, not of an adversary. It is exact for {_texts(exact)}{between} and was "
        f"sampled for {_texts(sampled)}; each sampled interval holds with confidence "
        f"{confidence(delta)}, text by text and not for all of them at once."
    )


def _source(claim: Claim) -> str:
    return f"{claim.method} ({claim.detail})" if claim.detail else claim.method


def _swaps(n: float) -> str:
    return f"{n:g} swap" if n == 1 else f"{n:g} swaps"


def _texts(n: int) -> str:
    return f"{n:,} text" if n == 1 else f"{n:,} texts"


def _of(n: int, held: list[Audited]) -> str:
    return f"{n:,} of {_texts(len(held))} ({share(n / len(held))})"
