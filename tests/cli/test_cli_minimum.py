"""`unfooled certify minimum` on the command line."""

from __future__ import annotations

import json

from cli_desk import Desk

from sweep_toys import space, victim
from unfooled import models
from unfooled.text import Example


def files(desk: Desk) -> tuple[str, str, str]:
    """A model folder, texts with the labels it gives them, and a table of synonyms."""
    model = victim("mlp", classes=2)
    models.save(model.model, "mlp")
    spaces = [space(seed=i, words=6, columns=3, candidates=2) for i in range(8)]
    labels = model.scores([s.original.source for s in spaces]).argmax(axis=1)
    rows = [Example(s.original, int(y), "") for s, y in zip(spaces, labels, strict=True)]
    with open("texts.csv", "w", encoding="utf-8") as file:
        file.write("text,label\n")
        file.writelines(f"{row.text},c{row.label}\n" for row in rows)
    table = {w: [x for x in ("wa", "wb", "wc") if x != w] for row in rows for w in row.text.words}
    with open("table.json", "w", encoding="utf-8") as file:
        json.dump(table, file)
    return "mlp", "texts.csv", "table:table.json"


def test_minimum_prints_statuses_figures_and_times(desk: Desk) -> None:
    model, data, table = files(desk)
    done = desk.run(
        "certify", "minimum", model, data, "--candidates", table, "--time-limit", "30", "-q"
    )
    shown = " ".join(done.out.split())
    assert done.code == 0, done.err
    for part in ("status texts", "accuracy under attack", "mean minimum swaps", "seconds a text"):
        assert part in shown


def test_minimum_as_json_has_no_infinity(desk: Desk) -> None:
    model, data, table = files(desk)
    done = desk.run(
        "certify", "minimum", model, data, "--candidates", table, "--time-limit", "0", "--json"
    )
    assert done.code == 0, done.err
    found = json.loads(done.out, parse_constant=lambda name: 1 / 0)
    decided = ("optimal", "robust", "bracketed", "skipped", "error")
    assert sum(found[name] for name in decided) == found["texts"] == 8


def test_a_radius_is_refused_in_one_sentence(desk: Desk) -> None:
    model, data, table = files(desk)
    done = desk.run("certify", "minimum", model, data, "--candidates", table, "--radius", "2")
    assert done.code == 2
    assert done.err == (
        "unfooled: neither unfooled certify nor minimum has an option --radius, as it looks for the least "
        "number of swaps that fools, over all radii: branch-and-bound, exhaustive, intervals and linear have "
        "it, minimum has --time-limit and --solver\n"
    )


def test_a_time_limit_is_not_exhaustives(desk: Desk) -> None:
    model, data, table = files(desk)
    done = desk.run(
        "certify", "exhaustive", model, data, "--candidates", table, "--time-limit", "2"
    )
    assert done.code == 2
    assert "exhaustive has an option --time-limit: branch-and-bound and minimum have it" in done.err
