"""`unfooled check`: re-verifies every claim in a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.errors import InputError

if TYPE_CHECKING:
    from unfooled.check import Report


def check(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    victim: Annotated[
        str | None,
        typer.Argument(
            metavar="[VICTIM]",
            help="The classifier that the run is about; default: the one that it names.",
            show_default=False,
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Evaluate every text of every proof again.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Texts of an enumeration that are evaluated again.",
            show_default="one in 32, from 16 to 200",
            min=1,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="The data that the run is about, to compare its texts with: a file or an asset, with "
            "the --split, --limit, --seed and columns that the run was given.",
        ),
    ] = None,
    split: o.Split = None,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    labels: o.Labels = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            help="The candidates of the run, to make them again; none: do not.",
            show_default="those that the run names",
        ),
    ] = None,
    device: o.Device = None,
    as_json: o.Json = False,
) -> None:
    """Re-verify every claim of RUN without searching. Exit code 1 if one is refused.

    Texts that fool are run again; cells and bounds are computed again; enumerations are recounted and
    sampled, or evaluated again with --full; without it what only a solver says is counted as solver-trusted.
    No record may be missing or of other work. What could not be checked is listed.

    Example: unfooled check runs/audit-my-model --full
    """
    import unfooled as uf
    from unfooled import records
    from unfooled.check import check as verify

    columns = {"text_column": text_column, "label_column": label_column}
    with printing.alone_on_stdout(as_json):
        manifest = records.read(run).manifest
        loaded = uf.load(
            victim or _named(run, manifest), device=device, labels=o.class_names(labels)
        )
        how: dict[str, Any] = {"split": split, "limit": limit, "seed": seed, **columns}
        given = None if data is None else uf.data.load(data, **how)
        source = candidates or _text(manifest.get("candidates_spec"))
        found = verify(
            run,
            loaded,
            sample=sample,
            full=full,
            data=given,
            candidates=None if source == "none" else source,
            encoder=_text(manifest["options"].get("encoder")),
        )
    if as_json:
        refused = [{"record": record, "reason": reason} for record, reason in found.refused]
        names = ("checked", "spot_checked", "solver_trusted", "nothing_claimed")
        counts = {name: getattr(found, name) for name in names}
        print(json.dumps({**counts, "refused": refused, "not_checked": found.not_checked}))
    else:
        _show(found)
    if not found.passed:
        raise typer.Exit(1)


def _show(found: Report) -> None:
    """The report for people."""
    printing.figures(
        [
            ("checked", str(found.checked)),
            ("spot-checked", str(found.spot_checked)),
            ("solver-trusted", str(found.solver_trusted)),
            ("nothing claimed", str(found.nothing_claimed)),
            ("refused", str(len(found.refused))),
        ]
    )
    for record, reason in found.refused[:10]:
        printing.line(record, reason)
    for what in found.not_checked:
        printing.line("not checked:", what)


def _text(value: Any) -> str | None:
    """A field of a manifest that names something to load; None: it does not."""
    return value if isinstance(value, str) else None


def _named(run: Path, manifest: Mapping[str, Any]) -> str:
    """The victim that a run says it is about."""
    spec = _text(manifest.get("victim_spec"))
    if spec is None:
        raise InputError(
            f"{run} was made in Python with the victim {manifest.get('victim')}, which cannot be "
            f"loaded from here: give it as unfooled check {run} VICTIM"
        )
    return spec
