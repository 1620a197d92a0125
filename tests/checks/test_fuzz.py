"""Every leaf of every record and manifest, changed in every way: refused, or in a table that says why not.

The checks are run with all texts of enumerations, with the data and with the candidates of the run.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unfooled as uf
from runner_toys import DATA, TABLE
from runner_toys import victim as toy
from sweep_toys import KNOWN
from sweep_toys import victim as network
from unfooled.certifiers import branch_and_bound, minimum
from unfooled.check import check
from unfooled.errors import UnfooledError

NEAR = {word: [KNOWN[(i + 7) % 24], KNOWN[(i + 11) % 24]] for i, word in enumerate(KNOWN)}
MIXED = [("bad film", "pos"), *DATA]

# Leaves that make no claim which a check could refute, and why. Paths begin at the record, or at the
# manifest; * is any index.
RECORD_FREE = {
    "seconds": "a cost",
    "queries": "a cost",
    "forwards": "a cost",
    "first_swaps": "what a search says of its own way; the text that it found is checked",
    "refused": "what a search says of its own way; it counts texts that nobody has seen",
    "reason": "words on why something was left undecided; a text, there exactly where it is",
    "decided_by": "the name of the part that decided, for people; the argument is checked",
    "changes": "the order of the swaps: the text is the same",
    "others": "fewer texts that fool, or one twice, claim no more",
    "others.*": "the order of the swaps: the text is the same",
    "certificate.evaluated": "a cost beyond the region that is proved, up to the text that fools",
}
ESTIMATE_FREE = {
    "value": "sampled: as far from texts drawn anew as chance may be",
    "low": "sampled: as far from texts drawn anew as chance may be",
    "high": "sampled: as far from texts drawn anew as chance may be",
    "samples": "sampled: how many texts are drawn is not repeated",
    "rule": "sampled: which of two rules ended the drawing is not repeated",
}
MANIFEST_FREE = {
    "format": "another spelling of the number, such as 1.0; other numbers are refused",
    "created": "when",
    "command": "how it was called, for people",
    "command.*": "how it was called, for people",
    "versions": "with what",
    "versions.*": "with what",
    "promise": "what dtype means, in words",
    "seed": "what repeats the run, which a check does not",
    "victim": "a name, where the victim has a fingerprint; else it is in every key",
    "victim_spec": "from where to load the victim, which is then known by its fingerprint",
    "candidates": "a description, for people; the fingerprint is checked",
    "candidates_spec": "from where to load candidates, which are then known by their fingerprint",
}


@dataclass
class Ran:
    """A run with what it was made of."""

    folder: Path
    victim: Any
    data: Any
    candidates: Any
    free: dict[str, str] = field(default_factory=lambda: dict(RECORD_FREE))

    def verdict(self) -> str | None:
        """Why the run is refused; None: it passes."""
        try:
            found = check(
                self.folder, self.victim, full=True, data=self.data, candidates=self.candidates
            )
        except UnfooledError as error:
            return str(error)
        assert all(isinstance(why, str) and why for _, why in found.refused)
        return None if found.passed else found.refused[0][1]


def labelled(model: Any, *, words: int, texts: int) -> list[tuple[str, str]]:
    rng = np.random.default_rng(3)
    drawn = [" ".join(rng.choice(KNOWN, words).tolist()) for _ in range(texts)]
    scores = model.scores(drawn)
    return [(t, model.labels[int(s.argmax())]) for t, s in zip(drawn, scores, strict=True)]


def attacked(out: Path) -> Ran:
    uf.attack("pdp", toy(), MIXED, candidates=TABLE, max_rate=0.7, out=out)
    return Ran(out, toy(), MIXED, TABLE)


def collected(out: Path) -> Ran:
    given: dict[str, Any] = {"max_queries": 60, "max_candidates": 2}
    uf.attack("mcts", toy(), DATA[:3], candidates=TABLE, out=out, **given)
    return Ran(out, toy(), DATA[:3], TABLE)


def estimated(out: Path) -> Ran:
    uf.estimate(toy(), MIXED, candidates=TABLE, radius=1, out=out)
    return Ran(out, toy(), MIXED, TABLE)


def sampled(out: Path) -> Ran:
    given: dict[str, Any] = {"method": "hoeffding", "epsilon": 0.2, "delta": 0.1}
    uf.estimate(toy(), MIXED[:3], candidates=TABLE, rate=0.7, out=out, **given)
    return Ran(out, toy(), MIXED[:3], TABLE, RECORD_FREE | ESTIMATE_FREE)


def audited(out: Path) -> Ran:
    attacks, certifiers = ("pdp", "greedy"), ("exhaustive",)
    given: dict[str, Any] = {"attacks": attacks, "certifiers": certifiers, "radius": 2}
    uf.audit(toy(), MIXED, candidates=TABLE, out=out, **given)
    return Ran(out, toy(), MIXED, TABLE)


def proved_in_turn(out: Path) -> Ran:
    model = network("mlp", seed=4, classes=2)
    data = labelled(model, words=3, texts=3)
    given: dict[str, Any] = {"attacks": ("beam",), "certifiers": ("intervals", "minimum")}
    uf.audit(model, data, candidates=NEAR, radius=1, out=out, **given)
    return Ran(out, model, data, NEAR)


def exhaustive(out: Path) -> Ran:
    uf.certify("exhaustive", toy(), MIXED, candidates=TABLE, radius=2, out=out)
    return Ran(out, toy(), MIXED, TABLE)


def certified(name: str, arch: str, **given: Any) -> Callable[[Path], Ran]:
    def run(out: Path) -> Ran:
        model = network(arch, seed=4 if arch == "mlp" else 5, classes=2)
        data = labelled(model, words=3, texts=2)
        uf.certify(name, model, data, candidates=NEAR, out=out, **given)
        return Ran(out, model, data, NEAR)

    return run


RUNS: dict[str, Callable[[Path], Ran]] = {
    "attack": attacked,
    "attack-mcts": collected,
    "estimate": estimated,
    "estimate-sampled": sampled,
    "audit": audited,
    "audit-minimum": proved_in_turn,
    "exhaustive": exhaustive,
    "intervals": certified("intervals", "mlp", radius=1),
    "linear": certified("linear", "cnn", radius=1, bounds="optimised"),
    "branch-and-bound": certified("branch-and-bound", "mlp", radius=2),
    "minimum-splits": certified("minimum", "mlp"),
    "minimum-solver": certified("minimum", "cnn"),
}


@pytest.fixture(scope="module", params=RUNS)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "_AT_ONCE", -1)
        patch.setattr(branch_and_bound, "_SOON", -1.0)
        patch.setattr(branch_and_bound, "_PATIENCE", np.inf)
        patch.setattr(branch_and_bound, "seconds_of", lambda *_, **__: -1.0)
        patch.setattr(minimum, "_FEW", 0)
        found = RUNS[request.param](tmp_path_factory.mktemp(request.param) / "run")
    assert found.verdict() is None
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything inside a JSON value, containers too."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, found in inner:
        yield (*path, key)
        if isinstance(found, (dict, list)):
            yield from places(found, (*path, key))


def mutations(value: Any) -> list[Any]:
    """What may be put in the place of a value: near it, and of other kinds."""
    match value:
        case bool():
            return [not value, None, int(value), "x"]
        case int():
            return [value + 1, value - 1, value + 0.5, float(value), str(value), True, None, "nan"]
        case float():
            far = 0.01 * max(1.0, abs(value))
            return [value + far, value - far, -value - 1, str(value), True, None, "nan", [value]]
        case str():
            return [value + "x", value[1:], value.upper() + ".", None, 5, [value]]
        case None:
            return ["x", 0, [], True]
        case list() if value:
            turned = [*value[1:], value[0]]
            return [value[1:], value[:-1], [*value, value[0]], turned, None, "x", {}]
        case dict() if value:
            first = next(iter(value))
            gone = {k: v for k, v in value.items() if k != first}
            return [gone, value | {"99": value[first]}, None, [], "x"]
    return [None, "x", [0], {"0": []}]


def mutants(whole: Any, *, most: int) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place with its mutations; of many alike the `most` that come in turn."""
    for turn, path in enumerate(places(whole)):
        old = whole
        for step in path:
            old = old[step]
        new = [m for m in mutations(old) if json.dumps(m) != json.dumps(old)]
        deep = len(path) > 3  # entries of long lists: fewer of each, all kinds in turn
        chosen = [new[(turn * most + k) % len(new)] for k in range(most)] if deep else new
        for value in chosen:
            yield path, value


def put(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(whole)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


def shown(path: tuple[Any, ...]) -> str:
    return ".".join("*" if isinstance(step, int) else str(step) for step in path)


def test_every_leaf_of_every_record(ran: Ran) -> None:
    path = ran.folder / "records.jsonl"
    before = path.read_text()
    lines = [json.loads(line) for line in before.splitlines()]
    passed = []
    try:
        for at, record in enumerate(lines):
            for place, value in mutants(record, most=2):
                changed = [*lines[:at], put(record, place, value), *lines[at + 1 :]]
                path.write_text("".join(json.dumps(line) + "\n" for line in changed))
                if ran.verdict() is None and shown(place) not in ran.free:
                    passed.append((at, record["method"], place, value))
    finally:
        path.write_text(before)
    assert passed == [], "\n".join(map(str, passed))


def test_every_leaf_of_the_manifest(ran: Ran) -> None:
    path = ran.folder / "manifest.json"
    before = path.read_text()
    manifest, passed = json.loads(before), []
    try:
        for place, value in mutants(manifest, most=3):
            path.write_text(json.dumps(put(manifest, place, value)))
            where = shown(place)
            free = where in MANIFEST_FREE or where.split(".")[0] == "versions"
            if ran.verdict() is None and not free:
                passed.append((place, value))
    finally:
        path.write_text(before)
    assert passed == [], "\n".join(map(str, passed))
