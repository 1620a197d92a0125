"""What an audit knows of each text so far, and what that leaves to be proved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unfooled.audited import Proved, bracketed
from unfooled.estimates import Estimated
from unfooled.evidence import Bracket
from unfooled.outcomes import Outcome
from unfooled.text import Example
from unfooled.work import named


@dataclass(frozen=True)
class Known:
    """A text that the victim classifies correctly, and what is known of it so far."""

    example: Example
    bracket: Bracket

    @property
    def fooled(self) -> int | None:
        """The fewest swaps that are known to fool; None: not broken."""
        upper = self.bracket.upper
        return None if upper is None or upper == math.inf else int(upper)

    def open(self, radius: float) -> bool:
        """Whether a proof within `radius` swaps can raise the lower bound."""
        return not self.bracket.exact and self.bracket.lower <= radius


def brackets(
    examples: Sequence[Example],
    outcomes: Mapping[str, Mapping[str, Outcome]],
    verdicts: Mapping[str, Mapping[str, Proved]],
) -> dict[str, Known]:
    """What is known of every text that has a bracket; texts with an error have none."""
    found = {}
    for example in examples:
        key = named(example)
        mine = {name: by_text[key] for name, by_text in outcomes.items()}
        proofs = {name: by_text[key] for name, by_text in verdicts.items() if key in by_text}
        if any(o.error for o in mine.values()) or any(v.error for v in proofs.values()):
            continue
        bracket = bracketed(mine, proofs)
        if bracket is not None:
            found[key] = Known(example, bracket)
    return found


def proved_pr(known: Mapping[str, Known], radius: int) -> dict[str, Estimated]:
    """PR is 1, without a query, where the whole radius is proved."""
    return {
        key: Estimated(
            text.example.id, text.example.text, text.example.label, 1.0, 1.0, 1.0,
            exact=True, radius=radius, method="proved",
        )
        for key, text in known.items()
        if text.bracket.lower > radius
    }  # fmt: skip
