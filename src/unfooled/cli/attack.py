"""`unfooled attack`: one attack on every text of a data set."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unfooled import registry
from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.cli.method_options import given
from unfooled.cli.stopping import stoppable
from unfooled.errors import InputError

if TYPE_CHECKING:
    from unfooled.program import Attack
    from unfooled.settings import Applied


def _list(wanted: bool) -> None:
    if wanted:
        printing.attacks()
        raise typer.Exit


def _checked(
    name: str,
    preset: str | None,
    candidates: str | None,
    *,
    limits: dict[str, Any],
    extra: Any,
    masked: str | None,
) -> tuple[Applied, Attack]:
    """What an attack runs with, and the attack, if it can be run; refuses others before anything is loaded."""
    from unfooled import settings

    # A target is a class of the victim, and the seed is no limit.
    known = {field: value for field, value in limits.items() if field not in ("target", "seed")}
    own = registry.get("attacks", name).source
    applied = settings.apply(
        preset, name, candidates=candidates, limits=known, options=extra, own=own
    )
    method: Attack = registry.build("attacks", name, applied.options)
    settings.check_encoder(preset, applied.limits, steps=method.strict)
    if masked is not None and not method.opens:
        raise InputError(
            f"{name} with these options asks no masked language model, so --masked {masked} would do "
            f"nothing: name it in the candidates, --candidates masked_lm:model={masked}"
        )
    return applied, method


def _searched(name: str, candidates: Any, *, opens: bool) -> str:
    """What is searched where no candidates were given."""
    if opens:
        return (
            f"{name} asks the masked language model at every step; which words may be swapped and by what "
            f"is up to {candidates}"
        )
    return f"{name} searches the candidates {candidates}"


def attack(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The attack; see --list.", show_default=False)
    ],
    victim: o.VictimArgument,
    data: o.DataArgument,
    listing: Annotated[
        bool,
        typer.Option(
            "--list", callback=_list, is_eager=True, help="List the attacks and their options."
        ),
    ] = False,
    preset: o.Preset = None,
    candidates: o.OwnCandidates = None,
    max_rate: o.MaxRate = None,
    max_swaps: Annotated[
        int | None,
        typer.Option(help="Swap at most so many words.", min=0, rich_help_panel=o.LIMITS),
    ] = None,
    max_queries: o.MaxQueriesPerWord = None,
    max_candidates: o.MaxCandidates = None,
    min_similarity: o.MinSimilarity = None,
    similarity: o.Similarity = None,
    encoder: o.Encoder = None,
    window: o.Window = None,
    reference: o.Reference = None,
    masked: o.Masked = None,
    min_word_cosine: o.MinWordCosine = None,
    word_vectors: o.WordVectors = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="Make the victim say this class (name or number).", rich_help_panel=o.LIMITS
        ),
    ] = None,
    split: o.Split = None,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    labels: o.Labels = None,
    out: o.Out = None,
    shard: o.Shard = None,
    device: o.Device = None,
    batch: o.Batch = None,
    in_flight: o.InFlight = None,
    show: Annotated[
        int, typer.Option(help="Show so many fooling texts with their swaps.", min=0)
    ] = 3,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Search for texts that fool VICTIM by swapping words of the texts in DATA.

    Each outcome is recorded as soon as it is known; the same command again continues where it was stopped.
    Options of the attack itself (see --list) are given like any other, such as --width 8.
    With --encoder, or --min-similarity, the table says how similar the fooling texts are.
    --min-similarity compares with the original text. The attacks bae, textbugger and textfooler compare step
    by step too, as their authors' do, with the encoder of the extra hf or the one in --encoder;
    --step-similarity none compares nothing, --reference previous compares with the text before the swap. Given
    both, --min-similarity and --reference previous, these attacks hold every step to that similarity, and
    finished texts may drift away from the original; other attacks have no such rule and refuse it.
    --preset runs it as a paper does (see unfooled presets).

    Example: unfooled attack beam my-model reviews.csv --width 8 --max-rate 0.2
    """
    import unfooled as uf
    from unfooled.encoders import load_encoder

    extra = given(context.args)
    columns = {"text_column": text_column, "label_column": label_column}
    asked: dict[str, Any] = {
        "max_rate": max_rate, "max_swaps": max_swaps,
        "max_queries": int(max_queries) if max_queries and max_queries.isdecimal() else max_queries,
        "target": target, "seed": seed,
    }  # fmt: skip
    close = {
        "min_similarity": min_similarity, "similarity": similarity, "window": window,
        "reference": reference,
    }  # fmt: skip
    words = {"min_word_cosine": min_word_cosine, "word_vectors": word_vectors}
    more: dict[str, Any] = {"max_candidates": max_candidates, "encoder": encoder, **close, **words}
    applied, method = _checked(
        name, preset, candidates, limits=asked | more, extra=extra, masked=masked
    )
    limits = applied.limits
    # The name of a folder stays what it was where none of these is given.
    unusual = {
        key: value
        for key, value in (more | {"preset": preset, "masked": masked}).items()
        if value is not None
    }
    source = {"victim": victim, "data": data, "split": split, "limit": limit, **columns}
    source |= {} if labels is None else {"labels": labels}
    allowed = candidates if preset else applied.candidates
    question = {**source, "candidates": allowed, **asked, **unusual, **extra}
    folder = out or printing.default_folder(name, victim, data, question, shard=shard)
    with stoppable(folder), printing.alone_on_stdout(as_json):
        loaded = uf.load(victim, device=device, labels=o.class_names(labels))
        dataset = uf.data.load(data, split=split, limit=limit, seed=seed, **columns)
        if candidates is None and not (quiet or as_json):
            print(_searched(name, applied.candidates, opens=method.opens), file=sys.stderr)
        outcomes = uf.attack(
            name, loaded, dataset, out=folder, shard=shard, in_flight=in_flight, batch=batch,
            progress=not (quiet or as_json), device=device, preset=preset, candidates=candidates,
            masked=masked or "minilm",
            **asked, **more, **extra,
        )  # fmt: skip
        measured = encoder is not None or limits.min_similarity is not None
        judge = load_encoder(limits.encoder, device=device) if measured else None
        summed = outcomes.summary(encoder=judge)
    counted = printing.candidate_figures(outcomes)
    if as_json:
        shown = {"run": str(folder), "seconds": outcomes.seconds, **summed, **counted}
        print(json.dumps(shown))
    else:
        if preset:
            printing.preset(preset, counted)
        printing.outcomes(outcomes, loaded.labels, folder=folder, show=show, summed=summed)
