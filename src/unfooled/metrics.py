"""Metrics: what the outcomes of an attack say about a victim, and why a failure failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from unfooled.companions import Encodes
from unfooled.errors import CompanionError
from unfooled.lexicon.edits import distance
from unfooled.similarity import cosine
from unfooled.subspaces import editable

if TYPE_CHECKING:
    from unfooled.outcomes import Outcome

Why = Literal["no_candidates", "no_swaps", "budget", "constraint", "search"]

REASONS: Final[dict[Why, str]] = {
    "no_candidates": "no candidates",
    "no_swaps": "no swaps allowed",
    "budget": "out of budget",
    "constraint": "not similar enough",
    "search": "search found none",
}
"""Why a text was not broken, in the order in which reasons are looked for, and in words."""

FEW: Final = 2  # swaps; `few_swaps` is the share of successes with at most so many

_TRIED = ("success", "failed", "exhausted")


def summary(outcomes: Sequence[Outcome], *, encoder: Encodes | None = None) -> dict[str, Any]:
    """Clean accuracy, accuracy under attack, success rate, what successes and searches took.

    Texts with an error count nowhere but in `errors`; a mean over nothing is None. Swaps, edits and
    similarity are means over successes, queries and forwards over the texts that were attacked.
    `failures` counts the texts that were not broken by `why`. `mean_similarity` is there only with
    an encoder.
    """
    count = Counter(outcome.status for outcome in outcomes)
    scored = len(outcomes) - count["error"]
    attacked = scored - count["skipped"]
    right = attacked + sum(_right(o) for o in outcomes if o.status == "skipped")
    won = successes(outcomes)
    tried = [o for o in outcomes if o.status in _TRIED]
    found: dict[str, Any] = {
        "texts": len(outcomes),
        "clean_accuracy": _ratio(right, scored),
        "accuracy_under_attack": _ratio(right - len(won), scored),
        "success_rate": _ratio(len(won), attacked),
        "mean_swaps": _mean([o.swaps for o in won]),
        "mean_swapped_share": _mean([o.rate for o in won]),
        "few_swaps": _mean([o.swaps <= FEW for o in won]),
        "mean_edits": _mean([edits(o) for o in won]),
        "mean_queries": _mean([o.queries for o in tried]),
        "mean_forwards": _mean([o.forwards for o in tried]),
        "failures": failures(outcomes),
        "exhausted": count["exhausted"],
        "errors": count["error"],
    }
    if encoder is not None:
        found["mean_similarity"] = _mean(similarities(outcomes, encoder).tolist())
    return found


def successes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes in which a text fooled the victim."""
    return [o for o in outcomes if o.status == "success"]


def why(outcome: Outcome) -> Why | None:
    """Why a text was not broken; None where it was, or where nothing was searched.

    no_candidates: no word of it has any. no_swaps: the limits allow none. budget: the queries ended
    first. constraint: the limit of similarity kept texts from the victim, some of which might have
    fooled it. search: it ended without success; what an attack refuses by rules of its own counts here.
    """
    if outcome.status not in ("failed", "exhausted"):
        return None
    if outcome.positions == 0:
        return "no_candidates"
    if outcome.max_swaps == 0:
        return "no_swaps"
    if outcome.status == "exhausted":
        return "budget"
    return "constraint" if outcome.refused else "search"


def failures(outcomes: Sequence[Outcome]) -> dict[Why, int]:
    """How many texts were not broken for each reason, all reasons named."""
    count = Counter(map(why, outcomes))
    return {reason: count[reason] for reason in REASONS}


def edits(outcome: Outcome) -> int:
    """The characters put in, taken out or replaced, word by word.

    That is never less than the edit distance of the two texts as a whole.
    """
    return sum(distance(old, new) for _, old, new in outcome.changes)


def similarities(outcomes: Sequence[Outcome], encoder: Encodes) -> NDArray[np.float64]:
    """(successes,) cosines between each fooling text and its original, by a sentence encoder.

    Of a pair the sides that may be edited are compared, as in a search that is held to a similarity.
    """
    won = [(o.original, o.text) for o in outcomes if o.text is not None and o.status == "success"]
    texts = [str(editable(text)) for pair in won for text in pair]
    if not texts:
        return np.zeros(0)
    try:
        parts = range(0, len(texts), encoder.batch_rows)
        vectors = np.concatenate(
            [encoder.encode(texts[i : i + encoder.batch_rows]) for i in parts], dtype=np.float64
        )
    except Exception as error:
        raise CompanionError(
            f"{encoder.name} failed on the fooling texts: {type(error).__name__}: {error}"
        ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise CompanionError(f"{encoder.name} did not give a vector for each of the fooling texts")
    return np.array([cosine(vectors[i + 1], vectors[i])[0] for i in range(0, len(texts), 2)])


def _right(outcome: Outcome) -> bool:
    """Whether the victim gave the original its label: with a target, a skipped text may be right."""
    others = [s for i, s in enumerate(outcome.scores) if i != outcome.label]
    return outcome.scores[outcome.label] > max(others)


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return _ratio(sum(values), len(values))
