"""The chart of a sweep: one SVG that stands alone."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import unfooled as uf
from runner_toys import DATA, TABLE, victim
from unfooled.errors import InputError
from unfooled.limit_sweep import Swept
from unfooled.report import swept


@pytest.fixture(scope="module")
def found() -> Swept:
    over = {"max_rate": [0.5, 0.1], "max_queries": ["1x", "20x"]}
    return uf.sweep(["greedy", "random"], victim(), DATA, over=over, candidates=TABLE)


def test_it_is_one_picture_with_every_name(found: Swept, tmp_path: Path) -> None:
    path = swept.write(found, tmp_path / "new")
    picture = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    shown = {"".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {
        "max rate",
        "max queries",
        "greedy",
        "random",
        "clean",
        "0.1",
        "0.5",
        "1x",
        "20x",
    } <= shown
    assert "accuracy under attack" in shown
    assert "var(" not in picture
    assert not re.findall(r"(?:href|src)=\"(?!#)", picture)


def test_the_same_sweep_gives_the_same_bytes(found: Swept) -> None:
    assert swept.chart(found) == swept.chart(found)


def test_values_go_up_whatever_order_they_came_in() -> None:
    assert [swept.number(v) for v in (5, 0.1, "50x", "50xL")] == [5, 0.1, 50, 50]


def test_a_place_that_cannot_be_written(found: Swept, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write the chart"):
        swept.write(found, tmp_path / "file")
