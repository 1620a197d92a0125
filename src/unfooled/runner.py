"""Runs an attack over a data set."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from unfooled import registry
from unfooled.companions import Encodes, Proposes
from unfooled.constraints import Closeness, Constrained
from unfooled.encoders import load_encoder
from unfooled.errors import InputError, Unsupported
from unfooled.evidence import margins, tolerance
from unfooled.keys import Shard
from unfooled.outcomes import Attempt, Outcome, Outcomes, verified
from unfooled.program import Attack, Finding, Goal, Program, Scores, Spent
from unfooled.records import Run
from unfooled.similarity import Metric, as_cosine
from unfooled.space import Space
from unfooled.subspaces import first_candidates
from unfooled.task import Job, Result
from unfooled.text import Example, Text
from unfooled.victims.base import Differentiable, Victim
from unfooled.work import Candidates, Done, Piece, Work


@dataclass(frozen=True)
class Limits:
    """What every attack has to keep to.

    `max_queries` is a number, or "50x" for 50 queries per word of the text. `min_similarity` is the
    least similarity to the original text by the sentence encoder `encoder`, as a cosine or angular;
    with a `window`, of so many words around each swapped one.
    """

    max_rate: float | None = None  # share of the words of a text that may be swapped
    max_swaps: int | None = None
    max_queries: int | str | None = None
    target: int | None = None
    max_candidates: int | None = None  # only the first so many of each word
    min_similarity: float | None = None
    similarity: Metric = "cosine"
    encoder: str = "minilm"
    window: int | None = None
    reference: Literal["original"] = "original"

    def __post_init__(self) -> None:
        if self.max_rate is not None and not 0 <= self.max_rate <= 1:
            raise InputError(f"max_rate is a share of the words from 0 to 1, not {self.max_rate}")
        if self.max_swaps is not None and self.max_swaps < 0:
            raise InputError(f"max_swaps is 0 or more, not {self.max_swaps}")
        for name in ("max_candidates", "window"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise InputError(f"{name} is 1 or more, not {getattr(self, name)}")
        if self.reference != "original":
            raise InputError(
                f"min_similarity compares with the original, not with {self.reference!r}: a limit "
                "does not know the steps of a search"
            )
        as_cosine(1.0 if self.min_similarity is None else self.min_similarity, self.similarity)
        _queries(self.max_queries)

    def swaps(self, text: Text) -> int | None:
        """The most swaps in a text: floor(rate x words), or the given number if that is less."""
        most = [] if self.max_swaps is None else [self.max_swaps]
        if self.max_rate is not None:
            most.append(math.floor(self.max_rate * len(text) + 1e-9))  # 0.29 x 100 is 28.999...
        return min(most, default=None)

    def queries(self, text: Text) -> int | None:
        """The most queries for a text: the number, or so many per word of it and at least one."""
        found = _queries(self.max_queries)
        if found is None or not found.per_word:
            return None if found is None else found.number
        return max(1, found.number * len(text))

    @property
    def closeness(self) -> Closeness | None:
        """The similarity asked for; None: none."""
        if self.min_similarity is None:
            return None
        return Closeness(as_cosine(self.min_similarity, self.similarity), self.window)

    def config(self) -> dict[str, Any]:
        """The limits as JSON values; those of similarity and candidates only where they are set."""
        found = asdict(self)
        beyond = ["similarity", "encoder", "window", "reference", "min_similarity"]
        unset = beyond if self.min_similarity is None else []
        unset += ["max_candidates"] if self.max_candidates is None else []
        return {key: value for key, value in found.items() if key not in unset}


class _Queries(NamedTuple):
    """A number of queries, in all or for each word."""

    number: int
    per_word: bool


def _queries(asked: int | str | None) -> _Queries | None:
    if asked is None:
        return None
    match = re.fullmatch(r"(\d+)(?:(x)[lL]?)?", str(asked))
    if match is None or int(match[1]) < 1:
        raise InputError(
            f"max_queries is 1 or more, or such as 50x for 50 queries per word, not {asked}"
        )
    return _Queries(int(match[1]), match[2] is not None)


def attempt(
    attack: Attack, space: Space, *, goal: Goal, rng: np.random.Generator
) -> Program[Attempt]:
    """Asks for the original first (one query), skips a misclassified text, then searches."""
    scores = yield Scores(space.rows(space.origin))
    near_tie = tolerance(scores)[0]  # an original that could be either is not classified correctly
    if margins(scores, goal.label)[0] <= near_tie or (
        goal.target is not None and goal.gain(scores)[0] > -near_tie
    ):
        return Attempt(None, skipped=True)
    try:
        found = yield from attack.search(space, goal, rng)
    except Spent:
        if not attack.strict:
            raise
        found = None
    if isinstance(found, Finding):
        more: dict[str, Any] = {"first_swaps": found.first_swaps, "others": found.others}
        return Attempt(found.row, strict=attack.strict, **more)
    return Attempt(found, strict=attack.strict)


def attack(
    name: str | Attack,
    victim: Victim,
    examples: Any,
    *,
    candidates: Candidates = "wordnet",
    max_rate: float | None = None,
    max_swaps: int | None = None,
    max_queries: int | str | None = None,
    target: int | str | None = None,
    max_candidates: int | None = None,
    min_similarity: float | None = None,
    similarity: Metric = "cosine",
    encoder: str | Encodes = "minilm",
    window: int | None = None,
    masked: Proposes | Callable[[], Proposes] | None = None,
    device: str | None = None,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int = 64,
    batch: int | None = None,
    **options: Any,
) -> Outcomes:
    """The outcomes of an attack on every example, in the order of the data.

    `examples`: a Dataset, (text, label) pairs, or Examples. `candidates`: a spec ("wordnet"), a
    source, a callable Text -> {position: candidates}, or ready spaces. With `out` every outcome is
    recorded in that folder as soon as it is known, and texts already recorded there are not run
    again. `target` is a class by name or number. `encoder` ("minilm", "use", a folder, or an encoder)
    answers a search that compares sentences, and judges `min_similarity`; `masked` proposes words to
    one that asks for them; `device` is the encoder's. Limits are those of `Limits`. Further keywords
    are the options of the attack.
    """
    method = built(name, options, victim)
    called = _called(name)
    limits = Limits(
        max_rate, max_swaps, max_queries, _class(target, victim), max_candidates, min_similarity,
        similarity, encoder if isinstance(encoder, str) else encoder.name, window,
    )  # fmt: skip
    consulted = _Encoder(encoder, device=device)
    config = {"attack": asdict(method), **limits.config()}
    if limits.closeness is not None:
        config["encoder_fingerprint"] = consulted().fingerprint
    work = Work(
        called,
        victim,
        examples,
        candidates=candidates,
        config=config,
        seed=seed,
        shard=shard,
    )
    how = {"progress": progress, "in_flight": in_flight, "batch": batch, "masked": masked}
    done = attacked(work, method, limits=limits, out=out, encoder=consulted, **how)
    return Outcomes(called, done.results, done.seconds, resumed=done.resumed)


def attacked(
    work: Work,
    method: Attack,
    *,
    limits: Limits,
    out: Path | str | Run | None,
    encoder: Callable[[], Encodes] | None = None,
    **how: Any,
) -> Done[Outcome]:
    """Runs an attack over the work; `encoder` is loaded when it is first needed."""
    consulted = _Encoder(limits.encoder) if encoder is None else encoder
    closeness = limits.closeness
    constrained: dict[str, Constrained[Attempt]] = {}

    def job(piece: Piece) -> Job[Attempt]:
        text, space = piece.example.text, piece.space
        if limits.max_candidates is not None:
            space = first_candidates(space, limits.max_candidates)
        if method.opens:  # what it adds is a member of its copy when the outcome is verified
            space = space.open()
        goal = Goal(space, piece.example.label, limits.target, limits.swaps(text))
        program = attempt(method, space, goal=goal, rng=piece.rng)
        if closeness is not None:
            constrained[piece.key] = Constrained(goal, closeness)
            program = constrained[piece.key].follow(program)
        return Job(piece.key, space, program, goal, limits.queries(text))

    def finish(example: Example, result: Result[Attempt]) -> Outcome:
        if closeness is None:
            return verified(example, result, victim=work.victim)
        space, refused = result.job.space, constrained.pop(result.job.key).refused
        close = partial(closeness.holds, space, encoder=consulted())
        return verified(example, result, victim=work.victim, allowed=close, refused=refused)

    return work.run(job, finish, kind=Outcome, out=out, encoder=consulted, **how)


class _Encoder:
    """A sentence encoder that is loaded when it is first asked for."""

    def __init__(self, encoder: str | Encodes, *, device: str | None = None) -> None:
        self._encoder, self._device = encoder, device

    def __call__(self) -> Encodes:
        if isinstance(self._encoder, str):
            self._encoder = load_encoder(self._encoder, device=self._device)
        return self._encoder


def built(name: str | Attack, options: Mapping[str, Any], victim: Victim) -> Attack:
    """The attack with its options, if this victim can answer its questions."""
    if not isinstance(name, (str, Attack)):
        raise InputError(f"an attack is a name or an instance such as Beam(width=8), not {name!r}")
    if isinstance(name, Attack) and options:
        raise InputError(f"options {', '.join(options)} go into the attack itself: {name!r}")
    method = name if isinstance(name, Attack) else registry.build("attacks", name, options)
    if method.needs == "gradients" and not isinstance(victim, Differentiable):
        raise Unsupported(
            f"{_called(name)} follows gradients and {victim.name} has none; word models (unfooled train) and "
            "Hugging Face classifiers have them"
        )
    return method


def _called(name: str | Attack) -> str:
    return name if isinstance(name, str) else type(name).__name__.lower()


def _class(target: int | str | None, victim: Victim) -> int | None:
    """The index of the target class, given by name in any case, or by number."""
    names = [label.casefold() for label in victim.labels]
    if target is None or str(target).casefold() in names:
        return None if target is None else names.index(str(target).casefold())
    if str(target).isdecimal() and int(target) < len(names):
        return int(target)
    raise InputError(
        f"the target {target!r} is no class of {victim.name}: {', '.join(victim.labels)}"
    )
