"""The folder is the registry: names, plug-ins, options, errors that name the field."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from unfooled import attacks, registry
from unfooled.attacks.beam import Beam
from unfooled.errors import InputError


@dataclass(frozen=True)
class Plugged:
    """A method of another package."""

    depth: int
    rate: float = 0.5
    kind: str | None = None
    words: tuple[str, ...] = field(default_factory=tuple)
    fast: bool = False


class Point:
    """An entry point, as far as the registry looks at it."""

    name = "plugged"

    def load(self) -> Any:
        return Plugged


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(group: str) -> list[Point]:
        return [Point()] if group == "unfooled.attacks" else []

    monkeypatch.setattr(registry, "entry_points", points)


def test_every_public_file_is_a_method() -> None:
    folder = Path(attacks.__path__[0])
    files = {p.stem.replace("_", "-") for p in folder.glob("*.py") if not p.stem.startswith("_")}
    names = registry.names("attacks")
    assert set(names) >= files >= {"beam", "greedy"}
    assert list(names) == sorted(names)
    for name in files:
        method = registry.get("attacks", name)
        assert method.__doc__
        assert registry.build("attacks", name) == method()


def test_listing_imports_no_method() -> None:
    code = (
        "import sys; from unfooled import registry; names = registry.names('attacks');"
        "print([m for m in sys.modules if m.startswith('unfooled.attacks.')], names[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[] bae\n"


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("bream", "did you mean 'beam'"),
        ("Greedy", "did you mean 'greedy'?"),
        ("_beam", "did you mean 'beam'"),
        ("../records", "known: bae, beam, "),
        ("", "known: bae, beam, "),
        ("__init__", "known: bae, beam, "),
    ],
)
def test_an_unknown_name(name: str, end: str) -> None:
    with pytest.raises(InputError) as found:
        registry.get("attacks", name)
    assert str(found.value).startswith(f"there is no attack named {name!r}; {end}")


def test_options_have_types_and_defaults() -> None:
    assert registry.options(Beam) == (registry.Option("width", int, 4),)
    assert [(o.name, o.default) for o in registry.options(Plugged)] == [
        ("depth", None),
        ("rate", 0.5),
        ("kind", None),
        ("words", ()),
        ("fast", False),
    ]


def test_options_are_typed_fields() -> None:
    assert registry.build("attacks", "beam", {"width": "8"}) == Beam(width=8)
    with pytest.raises(InputError, match="beam has no option 'with'; did you mean 'width'"):
        registry.build("attacks", "beam", {"with": 8})
    with pytest.raises(InputError, match="greedy has no option 'with'; known: none"):
        registry.build("attacks", "greedy", {"with": 8})
    for bad in ("eight", "8.5", None, [8]):
        with pytest.raises(InputError) as found:
            registry.build("attacks", "beam", {"width": bad})
        assert str(found.value).startswith(
            f"option width of beam cannot be {bad!r}: Input should be"
        )


@pytest.mark.usefixtures("plugged")
def test_a_plug_in_is_a_method_like_any_other() -> None:
    assert set(registry.names("attacks")) >= {"beam", "greedy", "plugged"}
    assert registry.get("attacks", "plugged") is Plugged
    asked = {"depth": "3", "rate": "0.25", "kind": "x", "fast": "true"}
    assert registry.build("attacks", "plugged", asked) == Plugged(3, 0.25, "x", (), True)
    with pytest.raises(InputError, match="plugged needs a value for its option 'depth'"):
        registry.build("attacks", "plugged", {"rate": 1})
    with pytest.raises(InputError, match="did you mean 'plugged'"):
        registry.get("attacks", "plugd")


def test_what_is_not_a_number_is_no_value() -> None:
    with pytest.raises(InputError, match="option tail_weight of deepwordbug cannot be 'nan'"):
        registry.build("attacks", "deepwordbug", {"tail_weight": "nan"})


@pytest.mark.parametrize("name", ["textfooler", "textbugger", "bae"])
def test_none_can_be_spelled_where_it_is_a_value(name: str) -> None:
    assert registry.build("attacks", name, {"step_similarity": "none"}).step_similarity is None
    with pytest.raises(InputError, match="option width of beam cannot be 'none'"):
        registry.build("attacks", "beam", {"width": "none"})


@pytest.mark.parametrize(
    ("name", "option", "sentence"),
    [
        ("exhaustive", "time_limit", ": branch-and-bound and minimum have it, exhaustive has radius and order"),
        ("intervals", "order", ": exhaustive has it, intervals has radius"),
        (
            "minimum", "radius", ", as it looks for the least number of swaps that fools, over all radii: "
            "branch-and-bound, exhaustive, intervals and linear have it, minimum has time_limit and solver",
        ),
    ],
)  # fmt: skip
def test_who_has_an_option_that_a_method_lacks(name: str, option: str, sentence: str) -> None:
    with pytest.raises(InputError) as found:
        registry.build("certifiers", name, {option: 1})
    assert str(found.value) == f"{name} has no option {option!r}{sentence}"


def test_a_method_without_options_says_so() -> None:
    with pytest.raises(InputError, match=r": beam has it, greedy has none of its own"):
        registry.build("attacks", "greedy", {"width": 8})
    assert registry.lacking("attacks", "beam", "width") is None
    assert registry.lacking("attacks", "beam", "nothing") is None
