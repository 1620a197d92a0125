"""Runs an attack over a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unfooled import registry, settings
from unfooled.candidate_counts import CandidateCounts
from unfooled.choosing import Reference
from unfooled.companions import Encodes, Proposes
from unfooled.constraints import Constrained
from unfooled.encoders import load_encoder
from unfooled.errors import InputError, Unsupported
from unfooled.evidence import margins, tolerance
from unfooled.keys import Shard
from unfooled.limits import Limits
from unfooled.outcomes import Attempt, Outcome, Outcomes, verified
from unfooled.program import Attack, Finding, Goal, Program, Scores, Spent
from unfooled.proposers import Model, identity, proposer
from unfooled.records import Run
from unfooled.rerun import Finish
from unfooled.similarity import Metric
from unfooled.space import Space
from unfooled.task import Job, Result
from unfooled.text import Example
from unfooled.victims.base import Differentiable, Victim
from unfooled.work import Candidates, Done, Piece, Work, old_objects_at_rest


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


@old_objects_at_rest()
def attack(
    name: str | Attack,
    victim: Victim,
    examples: Any,
    *,
    preset: str | None = None,
    candidates: Candidates | None = None,
    max_rate: float | None = None,
    max_swaps: int | None = None,
    max_queries: int | str | None = None,
    target: int | str | None = None,
    max_candidates: int | None = None,
    min_similarity: float | None = None,
    similarity: Metric | None = None,
    encoder: str | Encodes | None = None,
    window: int | None = None,
    reference: Reference | None = None,
    min_word_cosine: float | None = None,
    word_vectors: str | None = None,
    masked: Model = "minilm",
    device: str | None = None,
    seed: int = 0,
    out: Path | str | None = None,
    shard: str | Shard | None = None,
    progress: bool = False,
    in_flight: int | None = None,
    batch: int | None = None,
    **options: Any,
) -> Outcomes:
    """The outcomes of an attack on every example, in the order of the data.

    `examples`: a Dataset, (text, label) pairs, or Examples. `candidates`: a spec (default: the
    attack's own, else "wordnet"), a source, a callable Text -> {position: candidates}, or ready
    spaces. With `out` every outcome is recorded in that folder as soon as it is known, and texts
    already recorded there are not run again. `target` is a class by name or number. `encoder`
    ("minilm", "use", a folder, or an encoder) answers a search that compares sentences, and judges
    `min_similarity`; `masked` (a masked language model: "minilm", a folder, or the model) proposes
    words to one that asks for them, and the filters of the candidates judge these; `device` is the
    encoder's. Limits are those of `Limits`. Further keywords are the options of the attack. A `preset` (see `unfooled.presets`) sets candidates, limits and
    options that are not given here.
    """
    _check_companions(encoder, masked)
    if reference is not None and isinstance(name, Attack):
        raise InputError(f"the reference is an option that goes into the attack itself: {name!r}")
    given = {
        "max_rate": max_rate, "max_swaps": max_swaps, "max_queries": max_queries,
        "target": _class(target, victim), "max_candidates": max_candidates,
        "min_similarity": min_similarity, "similarity": similarity, "window": window,
        "reference": reference,
        "encoder": encoder if encoder is None or isinstance(encoder, str) else encoder.name,
        "min_word_cosine": min_word_cosine, "word_vectors": word_vectors,
    }  # fmt: skip
    called = _called(name)
    applied = settings.apply(
        preset, called, candidates=candidates, limits=given, options=options, own=_source(name)
    )
    limits = applied.limits
    method = built(name, options if isinstance(name, Attack) else applied.options, victim)
    _judgeable(called, method, limits, applied.candidates)
    if encoder is None or isinstance(encoder, str):
        settings.check_encoder(preset, limits, steps=method.strict)
    consulted = _Encoder(limits.encoder if encoder is None else encoder, device=device)
    config = _config(method, limits, preset=preset, encoder=consulted, masked=masked)
    work = Work(
        called,
        victim,
        examples,
        candidates=limits.near(applied.candidates),
        config=config,
        seed=seed,
        shard=shard,
        opens=method.opens,
    )
    if isinstance(applied.candidates, str):
        work.spaces.spec = applied.candidates  # of which a limit makes what is near enough
    sifting = None if not method.opens or work.spaces.ready is not None else work.spaces.source
    proposing = proposer(masked, source=sifting, device=device)
    how = {"progress": progress, "in_flight": in_flight, "batch": batch, "masked": proposing}
    done = attacked(work, method, limits=limits, out=out, encoder=consulted, **how)
    # Of an attack that adds candidates as it goes nobody knows beforehand how many there are.
    known = preset is not None and not method.opens
    counts = _counted(work, limits, done.results) if known else None
    return Outcomes(called, done.results, done.seconds, done.resumed, candidates=counts)


def _check_companions(encoder: Any, masked: Any) -> None:
    """Refuses what is neither a name nor a model."""
    if not (encoder is None or isinstance(encoder, (str, Encodes))):
        raise InputError(f"encoder is a name, a folder or a sentence encoder, not {encoder!r:.60}")
    if not (callable(masked) or isinstance(masked, (str, Proposes))):
        raise InputError(f"masked is a name, a folder or a language model, not {masked!r:.60}")


def _config(
    method: Attack,
    limits: Limits,
    *,
    preset: str | None,
    encoder: Callable[[], Encodes],
    masked: Model,
) -> dict[str, Any]:
    """What decides the outcomes beside victim, data and candidates."""
    config = {"attack": asdict(method), **limits.config()}
    if preset is not None:
        config["preset"] = preset
    if method.opens:
        config["masked"] = masked if isinstance(masked, str) else getattr(masked, "name", None)
        config["masked_fingerprint"] = identity(masked)
    if method.strict:  # it may compare sentences itself
        config["encoder"] = limits.encoder
    if limits.min_similarity is not None:
        config["encoder_fingerprint"] = encoder().fingerprint
    return config


def _counted(work: Work, limits: Limits, found: Sequence[Outcome]) -> CandidateCounts:
    """The candidates of all texts; those that an older run has recorded are asked for again."""
    pairs = zip(work.keyed.values(), found, strict=True)
    return CandidateCounts.total(
        outcome.counts or CandidateCounts.of(limits.cut(work.spaces.of(example)))
        for example, outcome in pairs
    )


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
        # What an attack adds is a member of its own copy when the outcome is verified.
        text, space = piece.example.text, _space(piece, method, limits)
        goal = Goal(
            space, piece.example.label, limits.target, limits.swaps(text), limits.max_candidates
        )
        program = attempt(method, space, goal=goal, rng=piece.rng)
        if closeness is not None:
            constrained[piece.key] = Constrained(goal, closeness)
            program = constrained[piece.key].follow(program)
        return Job(piece.key, space, program, goal, limits.queries(text))

    def finish(example: Example, result: Result[Attempt]) -> Finish[Outcome]:
        goal = result.job.goal
        refused = 0 if goal is None else len(goal.refused)
        if closeness is None:
            return verified(example, result, refused=refused)
        space, refused = result.job.space, max(refused, constrained.pop(result.job.key).refused)
        close = partial(closeness.holds, space, encoder=consulted())
        return verified(example, result, allowed=close, refused=refused)

    return work.run(job, finish, kind=Outcome, out=out, encoder=consulted, **how)


def _judgeable(called: str, method: Attack, limits: Limits, candidates: Candidates) -> None:
    """Refuses an attack whose own candidates no limit of word vectors would see."""
    ready = isinstance(candidates, Sequence) and not isinstance(candidates, str)
    if method.opens and ready and limits.min_word_cosine is not None:
        raise InputError(
            f"{called} with these options adds candidates of its own, which min_word_cosine judges by "
            "the source of the candidates, and ready spaces have none: give a source, or proposals=0"
        )


def _space(piece: Piece, method: Attack, limits: Limits) -> Space:
    """The space that a text is searched in."""
    if piece.space.version is not None:  # open, and as yet without candidates
        return piece.space
    space = limits.cut(piece.space)
    return space.open() if method.opens else space


class _Encoder:
    """A sentence encoder that is loaded when it is first asked for."""

    def __init__(self, encoder: str | Encodes, *, device: str | None = None) -> None:
        self._encoder, self._device = encoder, device

    def __call__(self) -> Encodes:
        if isinstance(self._encoder, str):
            self._encoder = load_encoder(self._encoder, device=self._device)
        return self._encoder


def built(name: str | Attack, options: Mapping[str, Any], victim: Victim) -> Attack:
    """The attack with its options, if it has what it needs and this victim can answer its questions."""
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
    method.ready()
    return method


def _source(name: str | Attack) -> str | None:
    """The candidates that an attack searches unless it is told."""
    method = registry.get("attacks", name) if isinstance(name, str) else name
    found: str | None = getattr(method, "source", None)  # what is no attack is refused later
    return found


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
