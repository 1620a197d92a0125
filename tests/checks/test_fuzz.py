"""Every leaf of every record and manifest, changed in every way: refused, or in a table that says why not.

The checks are run with all texts of enumerations, with the data and with the candidates of the run.
"""

from __future__ import annotations

import copy
import itertools
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

NEAR = {word: [KNOWN[(i + 7) % 24], KNOWN[(i + 11) % 24], "xq"] for i, word in enumerate(KNOWN)}
MIXED = [("bad film", "pos"), *DATA]

# Leaves that make no claim which a check could refute, and why. Paths begin at the record, or at the
# manifest; * is any index. What is free only under a condition is in `excused`.
RECORD_FREE = {
    "seconds": "a cost",
    "queries": "a cost",
    "forwards": "a cost",
    "first_swaps": "what a search says of its own way; the text that it found is checked",
    "refused": "what a search says of its own way; it counts texts that nobody has seen",
    "reason": "words on why something was left undecided; a text, there exactly where it is",
    "decided_by": "the name of the part that decided, for people; the argument is checked",
    "certificate.solver": "a name; what it says is counted as solver-trusted whoever it is",
}
ESTIMATE_FREE = {
    "low": "sampled: as far from texts drawn anew as chance may be",
    "high": "sampled: as far from texts drawn anew as chance may be",
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

    def lines(self) -> list[dict[str, Any]]:
        text = (self.folder / "records.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

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


def labelled(model: Any, *, words: int, picked: tuple[int, ...]) -> list[tuple[str, str]]:
    """Some of the texts of one draw, which differ in what their certificates rest on."""
    rng = np.random.default_rng(3)
    drawn = [" ".join(rng.choice(KNOWN, words).tolist()) for _ in range(12)]
    drawn = [drawn[i] for i in picked]
    scores = model.scores(drawn)
    return [(t, model.labels[int(s.argmax())]) for t, s in zip(drawn, scores, strict=True)]


def attacked(out: Path) -> Ran:
    uf.attack("pdp", toy(), MIXED, candidates=TABLE, max_rate=0.7, out=out)
    return Ran(out, toy(), MIXED, TABLE)


def collected(out: Path) -> Ran:
    given: dict[str, Any] = {"max_queries": 60, "max_candidates": 2, "vectors": None}
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
    attacks, certifiers, data = ("pdp", "greedy"), ("exhaustive",), [MIXED[i] for i in (0, 1, 3)]
    given: dict[str, Any] = {"attacks": attacks, "certifiers": certifiers, "radius": 2}
    uf.audit(toy(), data, candidates=TABLE, out=out, **given)
    return Ran(out, toy(), data, TABLE)


def proved_in_turn(out: Path) -> Ran:
    model = network("mlp", seed=4, classes=2)
    data = labelled(model, words=3, picked=(0, 1))
    given: dict[str, Any] = {"attacks": ("beam",), "certifiers": ("intervals", "minimum")}
    uf.audit(model, data, candidates=NEAR, radius=1, out=out, **given)
    return Ran(out, model, data, NEAR)


def exhaustive(out: Path) -> Ran:
    data = [MIXED[i] for i in (0, 3, 4, 5)]
    uf.certify("exhaustive", toy(), data, candidates=TABLE, radius=2, out=out)
    return Ran(out, toy(), data, TABLE)


def certified(
    name: str, arch: str, *, picked: tuple[int, ...], words: int = 4, **given: Any
) -> Callable[[Path], Ran]:
    def run(out: Path) -> Ran:
        model = network(arch, seed=4 if arch == "mlp" else 5, classes=2)
        data = labelled(model, words=words, picked=picked)
        text, label = data[0]
        data.append((text, "c1" if label == "c0" else "c0"))  # misclassified as it is
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
    "intervals": certified("intervals", "mlp", picked=(0, 1), radius=1),
    "linear": certified("linear", "cnn", picked=(9, 0), radius=1, bounds="optimised"),
    "tree-mlp": certified("branch-and-bound", "mlp", picked=(7, 3), radius=2),
    "tree-cnn": certified("branch-and-bound", "cnn", picked=(9,), radius=2),
    "splits": certified("minimum", "mlp", picked=(6, 7), words=5),
    "solver": certified("minimum", "cnn", picked=(0, 3, 4)),
}
KINDS = {
    "exhaustive": "enumeration",
    "linear": "bound",
    "tree-mlp": "tree",
    "splits": "splits",
    "solver": "solver",
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
    kinds = [(r.get("certificate") or {}).get("kind") for r in found.lines()]
    assert KINDS.get(request.param) in (None, *kinds)
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
        deep = len(path) > 2  # entries of long lists: fewer of each, all kinds in turn
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


def excused(ran: Ran, record: dict[str, Any], place: tuple[Any, ...], value: Any) -> bool:
    """Whether a record that passes with a value changed may: it says the same, or less."""
    if shown(place) in ran.free:
        return True
    changed = put(record, place, value)
    old, new = record.get("certificate") or {}, changed.get("certificate") or {}
    match place:
        case ("changes",):  # in another order the text is the same
            return sorted(changed["changes"]) == sorted(record["changes"])
        case ("others", *_):  # other texts than were found, and they fool as well
            return all(fools(ran, record, changes) for changes in changed["others"])
        case ("certificate",):  # of an unknown that proves nothing, it is of no use
            return value is None and (record.get("verdict"), record["radius"]) == ("unknown", -1)
        case ("certificate", "evaluated"):  # a cost, beyond the region that is proved
            return record.get("verdict") != "certified" and record.get("status") != "robust"
        case ("certificate", "order"):  # of columns in one cell that is the whole region
            whole = [len(level["start"]) for level in old["cells"]] == [
                1,
                *[0] * (record["radius"] - 1),
            ]
            return whole and old["cells"][0]["start"] == [0] and bool(region(ran, record).min() > 0)
        case ("certificate", "slopes", *_):  # of a neuron that never bends: the bound is the same
            near = old["tolerance"]  # the victim's own margins are in float32
            return bool(region(ran, record).min() + near > old["bound"] > near)
        case ("certificate", "weights", *_):  # any are sound, and the bounds are as they were
            return bool(region(ran, record).min() > 0)
        case ("certificate", "targets", *_):  # any slopes are sound, and the cuts are as they were
            return skeleton(old) == skeleton(new) and bool(region(ran, record).min() > 0)
    return False


def fools(ran: Ran, record: dict[str, Any], changes: list[list[Any]]) -> bool:
    text = uf.Text.parse(record["original"]).swap({p: new for p, _, new in changes})
    (scores,) = ran.victim.scores([text.source])
    return bool(np.argmax(scores) != record["label"])


def margins(ran: Ran, record: dict[str, Any], rows: Any) -> Any:
    """The margins of rows of a certificate, by the victim's public entry alone."""
    table = {int(p): c for p, c in record["certificate"]["candidates"].items()}
    space = uf.Space(record["original"], table)
    scores = ran.victim.scores(space.sources(np.asarray(rows)))
    return np.asarray(scores)[:, record["label"]] - np.asarray(scores)[:, 1 - record["label"]]


def region(ran: Ran, record: dict[str, Any]) -> Any:
    """The margins of all texts within the radius of a certificate."""
    certificate = record["certificate"]
    counts = [range(len(words) + 1) for words in certificate["candidates"].values()]
    rows = np.array(list(itertools.product(*counts)), dtype=np.int16)
    return margins(ran, record, rows[np.count_nonzero(rows, axis=1) <= certificate["radius"]])


def skeleton(certificate: dict[str, Any]) -> Any:
    """The cuts of a tree of splits, without the slopes of its closed cells."""
    trees = certificate["targets"]
    return {t: [entry[:1] if entry[0] == "slopes" else entry for entry in trees[t]] for t in trees}


def test_every_leaf_of_every_record(ran: Ran) -> None:
    path = ran.folder / "records.jsonl"
    before = path.read_text()
    lines, passed = before.splitlines(), []
    try:
        for at, record in enumerate(map(json.loads, before.splitlines())):
            for place, value in mutants(record, most=2):
                changed = json.dumps(put(record, place, value))
                path.write_text("\n".join([*lines[:at], changed, *lines[at + 1 :], ""]))
                if ran.verdict() is None and not excused(ran, record, place, value):
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
