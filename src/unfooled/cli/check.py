"""`unfooled check`: re-verifies every claim in a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli import printing
from unfooled.errors import InputError


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
        int, typer.Option(help="Texts of a proof that are evaluated again.", min=1)
    ] = 200,
    device: o.Device = None,
    as_json: o.Json = False,
) -> None:
    """Re-verify every claim of RUN without searching. Exit code 1 if one is refused.

    Texts that fool are run again; cells and bounds are computed again; enumerations are recounted and
    sampled, or evaluated again with --full; what only a solver says is counted as solver-trusted.

    Example: unfooled check runs/audit-my-model --full
    """
    import unfooled as uf
    from unfooled.check import check as verify

    with printing.alone_on_stdout(as_json):
        loaded = uf.load(victim or _named(run), device=device)
        found = verify(run, loaded, sample=sample, full=full)
    if as_json:
        refused = [{"record": record, "reason": reason} for record, reason in found.refused]
        names = ("checked", "spot_checked", "solver_trusted", "nothing_claimed")
        counts = {name: getattr(found, name) for name in names}
        print(json.dumps({**counts, "refused": refused}))
    else:
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
    if not found.passed:
        raise typer.Exit(1)


def _named(run: Path) -> str:
    """The victim that a run says it is about."""
    from unfooled import records

    manifest = records.read(run).manifest
    spec: str | None = manifest.get("victim_spec")
    if spec is None:
        raise InputError(
            f"{run} was made in Python with the victim {manifest.get('victim')}, which cannot be "
            f"loaded from here: give it as unfooled check {run} VICTIM"
        )
    return spec
