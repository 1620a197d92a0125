"""uf.estimate over a data set: PR by hand, records, resume, errors of one text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner_toys import DATA, TABLE, Counted, victim
from unfooled.errors import InputError
from unfooled.estimates import Estimated, estimate


def measure(**more: Any) -> tuple[Estimated, ...]:
    more.setdefault("candidates", TABLE)
    return estimate(more.pop("who", None) or victim(), DATA, **more)


def test_pr_by_hand() -> None:
    found = measure(radius=1)
    # a good film: good, nice, ok; film, movie. Of 4 texts within one swap only "ok" loses.
    assert found[0].value == pytest.approx(3 / 4)
    assert found[4].value == 1.0
    assert all(e.exact for e in (found[0], found[1], found[2], found[4]))
    assert all(e.low <= e.value <= e.high for e in found if e.value is not None)


def test_the_default_radius_is_a_quarter_of_the_words() -> None:
    found = measure()
    assert [e.radius for e in found] == [len(e.original) // 4 for e in found]


def test_records_come_back_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    first = measure(radius=1, out=tmp_path / "run")
    function = Counted()
    again = measure(radius=1, who=victim(function), out=tmp_path / "run")
    assert again == first
    assert not {text for text, _ in DATA} & set(function.seen)
    assert [Estimated.from_record(e.record()) for e in first] == list(first)


def test_a_victim_that_fails_on_a_text_spoils_only_that() -> None:
    class Picky(Counted):
        def __call__(self, texts: list[Any]) -> list[list[float]]:
            if any("great" in text for text in texts):
                raise RuntimeError("too great")
            return super().__call__(texts)

    found = measure(radius=1, who=victim(Picky()))
    assert [e.error is None for e in found] == [True, True, True, True, False]
    assert found[4].value is None
    assert "too great" in str(found[4].error)


def test_bad_options_are_named() -> None:
    with pytest.raises(InputError, match="either a radius"):
        measure(radius=1, rate=0.5)
    with pytest.raises(InputError, match="epsilon lies between"):
        measure(radius=1, epsilon=0.7)
