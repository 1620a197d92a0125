"""The result page: what was compared, on how many texts both sides agree, and where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.peers.compare import Difference, Tally
from benchmarks.peers.exchange import DIGITS
from results.markdown import table

NAMES = {
    "unk": "word importance, word unknown",
    "delete": "word importance, word deleted",
    "weighted-saliency": "word importance, weighted saliency",
    "greedy": "greedy (beam of width 1)",
    "beam": "beam of width 4",
}
HEAD = (
    "model",
    "search",
    "texts",
    "attacked",
    "equal",
    "fooled",
    "not fooled",
    "queries",
    "differ",
)


def page(
    tallies: Mapping[str, Sequence[Tally]],
    *,
    rate: float,
    versions: Mapping[str, str],
    command: str,
) -> str:
    """The page; `tallies` are those of each model."""
    every = [t for found in tallies.values() for t in found]
    return f"""# Our searches and TextAttack's

Written by `{command}`,
which installs TextAttack 0.3.11 into an environment of its own (`make peers` does only that) and runs its
searches there: on our model, our texts and our candidates. Ours are the programs of
`benchmarks/peers/compatible.py`, run by the engine: TextAttack's rules in place of our own where they
differ, and its order of ties. A text is *equal* when both sides end with the same status (fooled or not),
the same text, letter by letter, also where the model was not fooled, and the same number of counted
queries. Both sides ran with numpy {versions["numpy"]} and torch {versions["torch"]}.

Sentences are drawn from the test split of `mr` (seed 0); candidates are those of `wordnet` that are one
word of ASCII letters; at most {rate:.0%} of the words are swapped, each once. Both sides read the model in
float64 and round probabilities to {DIGITS} decimals, so that words which the model does not know are exact
ties on both.

{table(HEAD, [row(model, t) for model, found in tallies.items() for t in found])}

*attacked* leaves out the texts that both skip, because the model misclassifies them, and those that
TextAttack cuts into other words; *queries* are ours and, where nothing differs, TextAttack's. It
counts every text that a search asks about, the first prediction and repeated texts included, and so does
the engine.

## Differences

{_differences(every)}

## Texts left out

{_left_out(every)}

## What the compatible mode gives up

The attacks that `unfooled attack` runs are not bent to these rules. TextAttack asks about every word, also
those without candidates. It keeps a swap that beats the current text by any amount, where ours ask for
more than float noise; ties go by the alphabet, ours by the order of candidates. Its beam keeps equal
texts that were reached in another order as if they were several, and ends with the best text of the last
step. Its weighted saliency weighs 1 - p and asks again at every step, where the authors of PWWS weigh the
gain and do not. Its particle swarm and genetic search turn away from the fitter texts, so they are no
oracle and are not compared here.
"""


def row(model: str, tally: Tally) -> list[str]:
    """The line of one search in the table."""
    attacked = tally.equal + len(tally.differences)
    numbers = (tally.texts, attacked, tally.equal, tally.fooled, tally.failed, tally.queries)
    cells = [f"{number:,}" for number in numbers]
    return [model, NAMES[tally.search], *cells, str(len(tally.differences))]


def _differences(tallies: Sequence[Tally]) -> str:
    rows = [[t.search, d.case.id, d.case.source, *_end(d)] for t in tallies for d in t.differences]
    if not rows:
        return "There are none."
    return table(("search", "id", "text", "ours", "TextAttack's"), rows)


def _end(difference: Difference) -> list[str]:
    sides = (difference.ours, difference.theirs)
    return [f"{side.status}, {side.queries} queries: {side.text}" for side in sides]


def _left_out(tallies: Sequence[Tally]) -> str:
    cut = {d.case.source: d for t in tallies for d in t.left_out}
    if not cut:
        return "There are none: both cut every text into the same words."
    rows = [[d.case.id, *_apart(d)] for d in cut.values()]
    return "TextAttack cuts these texts into other words than we do.\n\n" + table(
        ("id", "our words", "TextAttack's"), rows
    )


def _apart(difference: Difference) -> list[str]:
    """The words that only one side has."""
    ours, theirs = difference.case.words, difference.theirs.text.split()
    sides = ([w for w in ours if w not in theirs], [w for w in theirs if w not in ours])
    return [" ".join(f"`` {word} ``" for word in side) or "–" for side in sides]
