"""What an audit knows: one text's bracket and PR, and the figures of all texts together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, overload

import numpy as np

from unfooled.allowed import Choices
from unfooled.estimates import Estimated
from unfooled.evidence import Bracket, margins, tolerance
from unfooled.least import NOTHING, accuracy_under_attack, mean_minimum_swaps, proved_whole
from unfooled.minima import Minimum
from unfooled.outcomes import Changes, Outcome
from unfooled.proofs import Verdict
from unfooled.text import Example, Text
from unfooled.work import named

Proved = Verdict | Minimum  # what certifiers say


TRUSTED: Final = "solver-trusted"
"""The detail of a lower bound that is a solver's word, which leaves no proof that could be checked."""


@dataclass(frozen=True)
class Audited:
    """What is known about one text.

    `bracket` is None where there is nothing to bracket: the victim misclassifies the text as it is
    (`skipped`), or failed on it (`error`).
    """

    id: str
    original: Text
    label: int
    bracket: Bracket | None
    outcomes: Mapping[str, Outcome]  # by attack
    verdicts: Mapping[str, Proved] = field(default_factory=dict)  # by certifier, as they were tried
    pr: Estimated | None = None
    error: str | None = None
    candidates: Choices = field(default_factory=dict)

    @property
    def skipped(self) -> bool:
        """Whether the victim misclassifies the text itself."""
        return self.bracket is None and self.error is None

    @property
    def near_tie(self) -> bool:
        """Whether the text itself is too near to a tie to say what the victim makes of it."""
        given = next((o.scores for o in self.outcomes.values() if o.scores), None)
        if not self.skipped or given is None:
            return False
        scores = np.array([given])
        return bool(abs(margins(scores, self.label)[0]) <= tolerance(scores)[0])

    @property
    def lower(self) -> float | None:
        """Fewer swaps never fool the victim; infinite: none do, however many."""
        return None if self.bracket is None else self.bracket.lower

    @property
    def upper(self) -> float | None:
        """So many swaps do fool it; None: not broken."""
        return None if self.bracket is None else self.bracket.upper

    @property
    def exact(self) -> bool:
        """Whether the least number of fooling swaps is known."""
        return self.bracket is not None and self.bracket.exact

    @property
    def best(self) -> Outcome | None:
        """The success of an attack with the fewest swaps."""
        won = [o for o in self.outcomes.values() if o.status == "success"]
        return min(won, key=lambda o: o.swaps, default=None)

    @property
    def fewest(self) -> Changes | None:
        """The smallest change that is known to fool the victim, whoever found it."""
        best = self.best
        found = [] if best is None else [best.changes]
        found += [v.changes for v in self.verdicts.values() if v.changes is not None]
        return min(found, key=len, default=None)


@dataclass(frozen=True)
class Audit(Sequence[Audited]):
    """The audit of a victim: every text of the data, and what each method cost."""

    all: tuple[Audited, ...]
    radius: int
    costs: Mapping[str, Mapping[str, float]]  # method -> queries, forwards, seconds

    @overload
    def __getitem__(self, index: int) -> Audited: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Audited, ...]: ...
    def __getitem__(self, index: int | slice) -> Audited | tuple[Audited, ...]:
        return self.all[index]

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Audited]:
        return iter(self.all)

    def summary(self) -> dict[str, Any]:
        """Shares among the texts that have a bracket; a mean over nothing is None.

        `mean_minimum` is the interval of the mean of m over texts that are broken: lower bounds on
        one side, upper bounds on the other. `accuracy_under_attack` and `mmws` are the figures of
        the ILP paper (module `least`): the first is a share of all texts.
        """
        held = [a.bracket for a in self.all if a.bracket is not None]
        broken = [b for b in held if b.upper is not None and b.upper != math.inf]
        values = [a.pr.value for a in self.all if a.pr is not None and a.pr.value is not None]
        every = [NOTHING if a.error is not None or a.near_tie else a.bracket for a in self.all]
        radii = range(1, self.radius + 1)
        return {
            "texts": len(self.all),
            "skipped": sum(a.skipped for a in self.all),
            "errors": sum(a.error is not None for a in self.all),
            "clean_accuracy": _mean([not a.skipped for a in self.all if a.error is None]),
            "exact": _mean([b.exact for b in held]),
            "proved": {str(r): _mean([b.lower > r for b in held]) for r in radii},
            "broken": {
                str(r): _mean([b in broken and _upper(b) <= r for b in held]) for r in radii
            },
            "not_broken": _mean([b.upper is None for b in held]),
            "mean_width": _mean([_upper(b) - b.lower for b in broken]),
            "mean_minimum": [_mean([b.lower for b in broken]), _mean([_upper(b) for b in broken])],
            "accuracy_under_attack": {str(r): accuracy_under_attack(every, r) for r in radii}
            | {"any": accuracy_under_attack(every)},
            "mmws": mean_minimum_swaps(held, [len(a.candidates) for a in self.all if a.bracket]),
            "proved_whole": proved_whole(held),
            "mean_pr": _mean(values),
            "pr_quartiles": np.percentile(values, [25, 50, 75]).tolist() if values else None,
            "pr_above_0.9": _mean([v > 0.9 for v in values]),
            "costs": {name: dict(cost) for name, cost in self.costs.items()},
        }


def merged(
    examples: Sequence[Example],
    outcomes: Mapping[str, Mapping[str, Outcome]],
    verdicts: Mapping[str, Mapping[str, Proved]],
    estimates: Mapping[str, Estimated],
    *,
    choices: Mapping[str, Choices],
    radius: int,
    costs: Mapping[str, Mapping[str, float]],
) -> Audit:
    """The audit of all examples from what each method found, by `named`."""
    everything = tuple(
        _audited(
            example,
            {name: found[named(example)] for name, found in outcomes.items()},
            {
                name: found[named(example)]
                for name, found in verdicts.items()
                if named(example) in found
            },
            estimates.get(named(example)),
            choices=choices.get(named(example), {}),
        )
        for example in examples
    )
    return Audit(everything, radius, costs)


def _audited(
    example: Example,
    outcomes: Mapping[str, Outcome],
    verdicts: Mapping[str, Proved],
    pr: Estimated | None,
    *,
    choices: Choices,
) -> Audited:
    """All that is known about a text, merged into one bracket."""
    errors = [o.error for o in outcomes.values() if o.error]
    errors += [v.error for v in verdicts.values() if v.error]
    return Audited(
        example.id,
        example.text,
        example.label,
        None if errors else bracketed(outcomes, verdicts),
        outcomes,
        verdicts,
        pr,
        errors[0] if errors else None,
        choices,
    )


def bracketed(outcomes: Mapping[str, Outcome], verdicts: Mapping[str, Proved]) -> Bracket | None:
    """What attacks and proofs come to together; None: the text itself is misclassified."""
    if any(o.status == "skipped" for o in outcomes.values()):
        return None
    bracket = Bracket.original()
    for name, outcome in outcomes.items():
        if outcome.status == "success":
            bracket = bracket.attacked(outcome.swaps, name)
        else:
            bracket = bracket.withstood(name, detail=f"not broken: {outcome.status}")
    for name, verdict in verdicts.items():
        bracket = _with_proof(bracket, verdict, certifier=name)
    return bracket


def _with_proof(bracket: Bracket, found: Proved, *, certifier: str) -> Bracket:
    """The bracket with what a certifier proved, and with the text that it met."""
    if found.changes is not None:
        bracket = bracket.attacked(len(found.changes), certifier, detail="a counterexample")
    if isinstance(found, Minimum):
        said = (found.certificate or {}).get("kind") == "solver"
        return bracket.proved(found.lower - 1, certifier, detail=TRUSTED if said else found.method)
    if found.radius < 1 and found.verdict != "certified":
        return bracket
    assert found.certificate is not None  # nothing is proved without one
    positions = len(found.certificate["candidates"])
    whole = found.verdict == "certified" and found.radius >= positions
    detail = _argument(found.certificate)
    return bracket.proved(math.inf if whole else found.radius, certifier, detail=detail)


def _argument(certificate: Mapping[str, Any]) -> str:
    """What a proof rests on, in few words."""
    match certificate.get("kind"):  # older runs have none: they scored every text
        case "bound":
            return f"margins are at least {certificate['bound']:.3g}"
        case "tree":
            cells = sum(len(level["bound"]) for level in certificate["cells"])
            return f"bounds over {counted(cells, 'cell')}, {counted(certificate['leaves'], 'text')} scored"
    return f"{counted(certificate['evaluated'], 'text')} scored"


def _upper(bracket: Bracket) -> float:
    assert bracket.upper is not None  # asked of broken texts alone
    return bracket.upper


def counted(n: int, what: str) -> str:
    """A number of things: 1 text, 1,200 texts."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
