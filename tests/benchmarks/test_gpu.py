"""The benchmark of a GPU, tried out on the CPU with small networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import gpu
from benchmarks.attacks import labelled
from benchmarks.engine import examples
from unfooled import attack

SMALL = {"minilm": gpu.Size(5, 8, 1, 32, 2), "bilstm": gpu.Size(4, 5)}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "SIZES", SMALL)
    monkeypatch.setattr(gpu, "BATCHES", {"cpu": (2, 8)})


def test_the_figures_of_small_networks(capsys: pytest.CaptureFixture[str]) -> None:
    found = gpu.measure("cpu", texts=10, seconds=0.01, queries=40, runs=3)
    wanted = {"device"}
    for key in SMALL:
        wanted |= {
            f"ceiling_{key}",
            *(f"{mark}{name}_{key}" for name in gpu.ATTACKS for mark in ("", "share_", "runs_")),
        }
    assert set(found) == wanted
    for key in SMALL:
        for name in gpu.ATTACKS:
            share = found[f"{name}_{key}"] / found[f"ceiling_{key}"]
            assert math.isclose(found[f"share_{name}_{key}"], share, abs_tol=0.01)
            slowest, median, fastest = found[f"runs_{name}_{key}"]
            assert slowest <= median == found[f"{name}_{key}"] <= fastest
    assert "waiting" in capsys.readouterr().out


def test_forwards_are_those_of_the_attack_and_its_time_is_divided() -> None:
    rng = np.random.default_rng(1)
    fresh, known = gpu.victim(SMALL["bilstm"], device="cpu", rng=rng)
    who = fresh()
    spaces = examples(known, length=4, count=12, rng=rng)
    spent = gpu.spend("greedy", who, spaces, queries=40, first=spaces[:2])
    again = attack("greedy", who, labelled(who, spaces), candidates=spaces, max_queries=40)
    assert spent.forwards == sum(outcome.forwards for outcome in again) > 12
    assert 0 < spent.assembling + spent.waiting < spent.seconds
    assert spent.rate == spent.forwards / spent.seconds


def test_the_ceiling_counts_the_rows_that_went_through() -> None:
    fresh, _ = gpu.victim(SMALL["minilm"], device="cpu", rng=np.random.default_rng(2))
    who = fresh()
    rows: list[int] = []
    forward = who.network.forward

    def counted(**inputs: Any) -> Any:
        rows.append(len(inputs["input_ids"]))
        assert inputs["input_ids"].shape[1] == 8
        return forward(**inputs)

    who.network.forward = counted
    rate = gpu._raw(who, SMALL["minilm"], 4, seconds=0.05)
    assert set(rows) == {4}
    assert len(rows) % 4 == 1  # one warms up
    assert 0 < rate <= sum(rows) / 0.05


def test_without_a_gpu_a_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.measure() == {"skipped": gpu.NEEDS}
    monkeypatch.setattr("sys.argv", ["gpu"])
    with pytest.raises(SystemExit) as ended:
        gpu.main()
    assert ended.value.code == 2
    assert capsys.readouterr().out.count("needs a GPU") == 2
