"""Certificates of every kind: honest ones pass with their label, changed ones are refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unfooled as uf
from sweep_toys import KNOWN, victim
from unfooled.bounds.replay import recomputed
from unfooled.certifiers import branch_and_bound, minimum
from unfooled.check import Report, check
from unfooled.checks import claim
from unfooled.errors import RunError
from unfooled.victims.words import WordVictim

TABLE = {word: [KNOWN[(i + 7) % 24], KNOWN[(i + 11) % 24], "xq"] for i, word in enumerate(KNOWN)}
CASES = {  # kind -> method, architecture, label of the check, options
    "enumeration": ("exhaustive", "bilstm", "spot-checked", {"radius": 2}),
    "tree": ("branch-and-bound", "mlp", "checked", {"radius": 3}),
    "tree-cnn": ("branch-and-bound", "cnn", "checked", {"radius": 2}),
    "bound": ("linear", "mlp", "checked", {"radius": 2}),
    "optimised": ("linear", "cnn", "checked", {"radius": 1, "bounds": "optimised"}),
    "splits": ("minimum", "mlp", "checked", {}),
    "solver": ("minimum", "cnn", "solver-trusted", {}),
}
# Some of their mutations are sound: these are told apart in `test_fuzz`. A solver's name proves nothing.
ELSEWHERE = {"slopes", "targets", "evaluated", "solver"}


@dataclass
class Kind:
    """A run with certificates of one kind."""

    name: str
    folder: Path
    model: WordVictim
    label: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        text = (self.folder / "records.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def claims(self) -> list[int]:
        """The records whose argument is of this kind."""
        name = self.name.split("-")[0].replace("optimised", "bound")
        return [
            i for i, r in enumerate(self.lines) if (r.get("certificate") or {}).get("kind") == name
        ]

    def checked(self, lines: list[dict[str, Any]] | None = None, **how: Any) -> Report:
        """The report on the run, with other records than it has."""
        path = self.folder / "records.jsonl"
        before = path.read_text()
        try:
            if lines is not None:
                path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            return check(self.folder, self.model, **how)
        finally:
            path.write_text(before)


@pytest.fixture(scope="module", params=CASES)
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kind:
    method, arch, label, given = CASES[request.param]
    model = victim(arch, seed=4 if arch == "mlp" else 5, classes=2)
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(KNOWN, 5).tolist()) for _ in range(8)]
    scores = model.scores(texts)
    data = [(t, model.labels[int(s.argmax())]) for t, s in zip(texts, scores, strict=True)]
    folder = tmp_path_factory.mktemp(request.param) / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "_AT_ONCE", -1)
        patch.setattr(branch_and_bound, "_SOON", -1.0)
        patch.setattr(branch_and_bound, "_PATIENCE", np.inf)
        patch.setattr(branch_and_bound, "seconds_of", lambda *_, **__: -1.0)
        patch.setattr(minimum, "_FEW", 0)  # the solver is asked about small spaces too
        uf.certify(method, model, data, candidates=TABLE, out=folder, **given)
    found = Kind(request.param, folder, model, label)
    assert found.claims()
    return found


def test_honest_certificates_pass_with_their_label(kind: Kind) -> None:
    found = kind.checked()
    assert found.refused == []
    label = kind.label.replace("-", "_")
    assert getattr(found, label) >= len(kind.claims())
    full = kind.checked(full=True)
    assert full.passed
    assert full.spot_checked == 0
    assert full.solver_trusted == 0


def refusal(kind: Kind, at: int, record: dict[str, Any]) -> str:
    lines = kind.lines
    lines[at] = record
    found = kind.checked(lines, full=True)
    assert len(found.refused) == 1, record
    return found.refused[0][1]


def test_what_every_certificate_has_is_looked_at(kind: Kind) -> None:
    at = kind.claims()[0]
    for name, value, reason in (
        ("tolerance", 0.0, "the tolerance is 0.0"),
        ("tolerance", 1e-6, "the tolerance is 1e-06"),
        ("size", "0", "texts within"),
        ("victim", "other", "another victim than the run"),
        ("example", "0" * 16, "another text or label"),
        ("space", "0" * 16, "not those of the space"),
        ("method", "genie", "the certificate is by genie"),
        ("kind", "genie", "no argument of the kind"),
        ("kind", ["tree"], "the kind of a certificate is a word"),
    ):
        record = copy.deepcopy(kind.lines[at])
        record["certificate"][name] = value
        assert reason in refusal(kind, at, record)
    swapped = copy.deepcopy(kind.lines[at])
    swapped["label"] = 1 - swapped["label"]
    assert "another text or label" in refusal(kind, at, swapped)
    bare = copy.deepcopy(kind.lines[at])
    bare["certificate"] = None
    assert "no certificate" in refusal(kind, at, bare)


def test_a_larger_radius_is_refused(kind: Kind) -> None:
    """One more swap is claimed, with the size that belongs to it, and nothing else is changed."""
    for at in kind.claims():
        record = copy.deepcopy(kind.lines[at])
        certificate = record["certificate"]
        space = uf.Space(
            record["original"], {int(p): c for p, c in certificate["candidates"].items()}
        )
        fooled = record["changes"]
        if fooled is None or kind.name == "solver":
            continue  # it may be true
        certificate["radius"] += 1
        certificate["size"] = str(space.size(certificate["radius"]))
        for name in ("radius", "lower"):
            if name in record:
                record[name] += 1
        if "evaluated" in certificate:
            certificate["evaluated"] = space.size(certificate["radius"])
        assert refusal(kind, at, record)


def test_another_model_is_refused(kind: Kind) -> None:
    other = victim(CASES[kind.name][1], seed=6, classes=2)
    with pytest.raises(RunError, match="speaks of another victim"):
        check(kind.folder, other)
    fingerprint = str(kind.model.fingerprint)
    posing = WordVictim(other.model, name=kind.model.name, fingerprint=fingerprint)
    liar = Kind(kind.name, kind.folder, posing, kind.label)
    if kind.name != "solver":
        assert not liar.checked(full=True).passed


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything inside a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield (*path, i)
            yield from places(inner, (*path, i))


def mutated(value: Any, rng: np.random.Generator) -> Any:
    """Something else of the same kind, or of none."""
    options: list[Any] = [None, "x", [], {}, -1, True, 1e30, [[[0]]]]
    if isinstance(value, bool) or value is None:
        pass
    elif isinstance(value, int):
        options += [value + 1, value - 1, value + 0.5, str(value), 2**70] * 2
    elif isinstance(value, float):
        options += [value + 0.01, value - 0.01, -value, 2 * value + 1] * 2
    elif isinstance(value, str):
        options += [value + "x", value[1:]] * 3
    elif isinstance(value, list) and value:
        at = int(rng.integers(len(value)))
        options += [value[:at] + value[at + 1 :], [*value, value[at]], value[::-1]] * 3
    elif isinstance(value, dict) and value:
        gone = str(rng.choice(list(value)))
        options += [{k: v for k, v in value.items() if k != gone}] * 5
    return options[int(rng.integers(len(options)))]


def test_no_mutation_of_a_claim_passes_and_none_crashes(kind: Kind) -> None:
    rng = np.random.default_rng(7)
    honest, refused = kind.checked(full=True), 0
    for _ in range(60):
        lines = kind.lines
        at = int(rng.choice(kind.claims()))
        record = lines[at]
        paths = [p for p in places(record["certificate"]) if p[0] not in ELSEWHERE]
        heads = sorted({p[0] for p in paths})
        head = heads[int(rng.integers(len(heads)))]  # so that long lists do not take all
        inside = [p for p in paths if p[0] == head]
        path = inside[int(rng.integers(len(inside)))]
        place = record["certificate"]
        for step in path[:-1]:
            place = place[step]
        old = place[path[-1]]
        new = mutated(old, rng)
        if json.dumps(new) == json.dumps(old):
            continue
        place[path[-1]] = new
        found = kind.checked(lines, full=True)
        if found.passed:
            weaker = head == "kind" and new in ("solver", "original")
            weaker |= (
                path[0] == "weights" and path[-2] == "lift"
            )  # any is sound: no bound has moved
            assert weaker or same_space(record, old, new, head), (path, old, new)
        else:
            refused += 1
            assert len(found.refused) == 1
            assert found.checked >= honest.checked - 1
    assert refused > 30


def same_space(record: dict[str, Any], old: Any, new: Any, head: str) -> bool:
    """Whether a change of the candidates is none: a duplicate is dropped, order of columns is not."""
    if head != "candidates":
        return False
    certificate = record["certificate"]
    space = uf.Space(record["original"], {int(p): c for p, c in certificate["candidates"].items()})
    return space.fingerprint == certificate["space"]


@pytest.mark.parametrize("kind", ["optimised"], indirect=True)
def test_slopes_are_those_of_the_bound(kind: Kind) -> None:
    """A slope moves the bound, which then is not the stored one; or it is of a neuron that never bends."""
    at = next(at for at in kind.claims() if kind.lines[at]["radius"])  # of more than one text
    honest, refused = kind.lines[at]["certificate"], []
    for path in [p for p in places(honest["slopes"]) if len(p) > 2]:
        lines = kind.lines
        place = lines[at]["certificate"]["slopes"]
        for step in path[:-1]:
            place = place[step]
        if not isinstance(place[path[-1]], float):
            continue
        place[path[-1]] += -0.3 if place[path[-1]] > 0.5 else 0.3
        bound = moved_bound(kind, lines[at])
        apart = abs(bound - honest["bound"]) > 1e-6 * max(1.0, abs(bound))
        assert kind.checked(lines).passed != apart
        refused.append(apart)
    assert 0 < sum(refused) < len(refused)


def moved_bound(kind: Kind, record: dict[str, Any]) -> float:
    """What the slopes of a record lead to."""
    certificate = record["certificate"]
    table = {int(p): c for p, c in certificate["candidates"].items()}
    reading = kind.model.layers(kind.model.prepare(uf.Space(record["original"], table)))
    assert reading is not None
    radius = certificate["radius"]
    found = recomputed(reading, record["label"], radius=radius, argument=certificate)
    return float(found.margin[0])


@pytest.mark.parametrize("kind", ["splits"], indirect=True)
def test_splits_without_their_slopes_are_refused_where_they_need_them(kind: Kind) -> None:
    refused = 0
    for at in kind.claims():
        for target, tree in kind.lines[at]["certificate"]["targets"].items():
            for i, entry in enumerate(tree):
                if entry[0] == "slopes":
                    lines = kind.lines
                    lines[at]["certificate"]["targets"][target][i] = ["slopes", [], []]
                    why = kind.checked(lines).refused
                    assert all("which is not above" in reason for _, reason in why)
                    refused += len(why)
    assert refused


def test_a_certificate_has_no_fields_of_another_kind(kind: Kind) -> None:
    at = kind.claims()[0]
    record = copy.deepcopy(kind.lines[at])
    record["certificate"]["note"] = "trust me"
    assert "has other fields: note" in refusal(kind, at, record)


def test_the_verdict_is_part_of_the_claim(kind: Kind) -> None:
    at = kind.claims()[0]
    record = copy.deepcopy(kind.lines[at])
    if "verdict" in record:
        others = {"certified", "falsified", "unknown", "error", "maybe"} - {record["verdict"]}
        changed = [("verdict", v) for v in sorted(others)] + [("radius", record["radius"] - 1)]
    else:
        others = {"optimal", "robust", "bracketed", "skipped", "done"} - {record["status"]}
        changed = [("status", s) for s in sorted(others)]
        changed += [("lower", 7), ("lower", 1.5), ("upper", 99), ("upper", -1)]
    for name, value in changed:
        assert refusal(kind, at, {**record, name: value})


def test_texts_whose_words_cannot_be_told_apart_are_robust_and_pass(tmp_path: Path) -> None:
    model = victim("mlp", seed=4, classes=2)
    text = "xq xr xq"
    label = model.labels[int(model.scores([text])[0].argmax())]
    table = {"xq": ["xs", "xt"], "xr": ["xu"]}
    found = uf.certify("minimum", model, [(text, label)], candidates=table, out=tmp_path / "run")
    assert found[0].status == "robust"
    report = check(tmp_path / "run", model)
    assert report.refused == []
    assert report.checked == 1


def test_the_text_alone_proves_no_swap_that_the_network_sees(kind: Kind) -> None:
    for at in kind.claims():
        record = copy.deepcopy(kind.lines[at])
        if record["certificate"]["radius"]:
            record["certificate"]["kind"] = "original"
            assert refusal(kind, at, record)


def test_a_solver_proves_nothing_that_a_sample_refutes(kind: Kind) -> None:
    """A text that is fooled is said to be robust, by the word of a solver."""
    hits = 0
    for at, record in enumerate(kind.lines):
        certificate = record["certificate"]
        if certificate is None or ("decided_by" in record and not record["changes"]):
            continue
        common = claim._COMMON | {"kind", "solver"}
        certificate.update(kind="solver", solver="HiGHS", witness_row=None)
        certificate["radius"] = len(certificate["candidates"])
        record["certificate"] = certificate = {n: v for n, v in certificate.items() if n in common}
        space = uf.Space(
            record["original"], {int(p): c for p, c in certificate["candidates"].items()}
        )
        certificate["size"] = str(space.size(certificate["radius"]))
        record["changes"] = None
        if "verdict" in record:
            record.update(verdict="certified", reason="", radius=certificate["radius"])
            assert "least number of swaps alone" in refusal(kind, at, record)
        else:
            scores, label = kind.model.scores([record["original"]])[0], record["label"]
            margin = float(scores[label] - scores[1 - label])
            record.update(status="robust", lower=None, upper=None, margin=margin)
            lines = kind.lines
            lines[at] = record
            ((_, reason),) = kind.checked(lines, sample=100_000).refused
            assert "is in the region and fools" in reason
        hits += 1
    assert hits


def test_bounds_without_a_certificate_and_margins_are_looked_at(kind: Kind) -> None:
    at = kind.claims()[0]
    bare = copy.deepcopy(kind.lines[at]) | {"certificate": None, "changes": []}
    if "verdict" in bare:
        bare |= {"verdict": "unknown", "radius": -1}
        assert "no certificate" in refusal(kind, at, bare)
        return
    bare |= {"status": "bracketed", "lower": 0, "upper": None}
    assert "no certificate" in refusal(kind, at, bare)
    assert "no certificate" in refusal(kind, at, bare | {"changes": None, "upper": 0})
    record = copy.deepcopy(kind.lines[at])
    assert "the margin is" in refusal(kind, at, record | {"margin": record["margin"] + 0.01})
    assert "the margin is no number" in refusal(kind, at, record | {"margin": None})
    for at, record in enumerate(kind.lines):
        if record["upper"] == 1:
            assert "the upper bound is True" in refusal(kind, at, record | {"upper": True})
