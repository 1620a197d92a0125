"""`unfooled check`: re-verifies every claim in a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from unfooled.cli import options as o
from unfooled.cli import printing


def check(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    victim: o.VictimArgument,
    full: Annotated[
        bool, typer.Option("--full", help="Evaluate every text of every proof again.")
    ] = False,
    sample: Annotated[
        int, typer.Option(help="Texts of a proof that are evaluated again.", min=1)
    ] = 200,
    device: o.Device = None,
    as_json: o.Json = False,
) -> None:
    """Re-verify every claim of RUN about VICTIM, without searching. Exit code 1 if one is refused.

    Texts that fool are run again; proofs are recounted and sampled, or evaluated again with --full.

    Example: unfooled check runs/audit-my-model my-model --full
    """
    import unfooled as uf
    from unfooled.check import check as verify

    with printing.alone_on_stdout(as_json):
        found = verify(run, uf.load(victim, device=device), sample=sample, full=full)
    if as_json:
        refused = [{"record": record, "reason": reason} for record, reason in found.refused]
        counts = {"checked": found.checked, "spot_checked": found.spot_checked}
        print(json.dumps({**counts, "nothing_claimed": found.nothing_claimed, "refused": refused}))
    else:
        printing.figures(
            [
                ("checked", str(found.checked)),
                ("spot-checked", str(found.spot_checked)),
                ("nothing claimed", str(found.nothing_claimed)),
                ("refused", str(len(found.refused))),
            ]
        )
        for record, reason in found.refused[:10]:
            printing.line(record, reason)
    if not found.passed:
        raise typer.Exit(1)
