"""Pairs for a victim of single texts, and the other way round: one sentence before anything is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unfooled as uf
from sweep_toys import victim
from unfooled.errors import InputError
from victim_doubles import Double, constant

SINGLE = [("wa wb wc", 0), ("wd we wf", 1)]
PAIRS = [(("wa wb", "wc wd"), 0), (("we wf", "wg wh"), 1)]
TABLE = {"wa": ["wz"], "wc": ["wz"], "wg": ["wz"]}

COMMANDS: dict[str, Callable[..., Any]] = {
    "attack": lambda *a, **k: uf.attack("greedy", *a, **k),
    "audit": uf.audit,
    "estimate": uf.estimate,
    **{
        name: lambda *a, name=name, **k: uf.certify(name, *a, **k)
        for name in ("minimum", "branch-and-bound", "linear", "intervals", "exhaustive")
    },
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("pair", [False, True])
def test_a_word_model_is_not_run_on_what_it_does_not_read(
    command: str, pair: bool, tmp_path: Path
) -> None:
    model, data = victim("mlp", pair=pair, classes=2), SINGLE if pair else PAIRS
    said = r"mlp reads pairs.*list:0: 'wa wb wc'" if pair else "mlp reads single texts.*has pairs"
    with pytest.raises(InputError, match=said):
        COMMANDS[command](model, data, candidates=TABLE, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_one_text_of_the_other_kind_is_enough() -> None:
    with pytest.raises(InputError, match="list:2"):
        uf.attack("greedy", victim("cnn", classes=2), [*SINGLE, PAIRS[0]], candidates=TABLE)


@pytest.mark.parametrize("data", [SINGLE, PAIRS])
def test_who_may_read_both_is_asked(data: Any) -> None:
    either = Double(constant())
    assert either.pair is None
    assert not uf.attack("greedy", either, data, candidates=TABLE).summary()["errors"]
