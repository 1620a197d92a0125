"""The public door: what it lists is there, documented and typed, and opening it costs nothing."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import unfooled as uf
from unfooled import candidates, errors, outcomes, runner, victims

HEAVY = ("torch", "matplotlib", "transformers", "sklearn", "pyarrow", "scipy")


def in_new_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_list_is_what_is_there() -> None:
    assert uf.__all__ == sorted(uf.__all__)
    assert dir(uf) == sorted([*uf.__all__, "__version__"])
    homes = {
        "attack": runner, "load": victims, "victim": victims, "Victim": victims,
        "Outcome": outcomes, "Outcomes": outcomes, "UnfooledError": errors,
    }  # fmt: skip
    for name in uf.__all__:
        found = getattr(uf, name)
        if name in homes:
            assert found is getattr(homes[name], name)
        assert isinstance(found, ModuleType) or callable(found)
    with pytest.raises(AttributeError, match="module 'unfooled' has no attribute 'nothing'"):
        uf.nothing  # noqa: B018
    namespace: dict[str, Any] = {}
    exec("from unfooled import *", namespace)
    assert set(uf.__all__) <= set(namespace)


def test_the_types_of_the_list_are_declared() -> None:
    """What a type checker sees must be what `__getattr__` gives."""
    source = Path(uf.__file__).read_text()
    declared = source[source.index("if TYPE_CHECKING:") : source.index("_HOMES")]
    names = {
        name.strip()
        for line in declared.splitlines()
        if " import " in line
        for name in line.split(" import ")[1].split(",")
    }
    assert names == set(uf.__all__)


def test_the_version_is_the_package_s() -> None:
    project = Path(uf.__file__).parents[2] / "pyproject.toml"
    assert uf.__version__ == tomllib.loads(project.read_text())["project"]["version"]


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function behind the door, and every public method of every class there."""
    doors: list[tuple[str, Any]] = [("unfooled", uf)]
    doors += [
        (f"unfooled.{m}", getattr(uf, m)) for m in uf.__all__ if inspect.ismodule(getattr(uf, m))
    ]
    for place, module in doors:
        listed = getattr(module, "__all__", None)
        names = listed or [
            n for n, v in vars(module).items()
            if not n.startswith("_") and getattr(v, "__module__", None) == module.__name__
        ]  # fmt: skip
        for name in names:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                yield f"{place}.{name}", thing
                for member, value in vars(thing).items():
                    function = getattr(value, "__func__", value)
                    if not member.startswith("_") and inspect.isfunction(function):
                        yield f"{place}.{name}.{member}", function
            elif inspect.isfunction(thing):
                yield f"{place}.{name}", thing


@pytest.mark.parametrize(("name", "thing"), [pytest.param(*p, id=p[0]) for p in public()])
def test_it_is_documented_and_typed(name: str, thing: Callable[..., Any]) -> None:
    if inspect.isclass(thing):
        assert inspect.getdoc(thing), f"{name} has no docstring"
        return
    signature = inspect.signature(thing)
    assert signature.return_annotation is not inspect.Signature.empty, name
    untyped = [
        p.name for p in signature.parameters.values()
        if p.annotation is p.empty and p.name not in ("self", "cls")
    ]  # fmt: skip
    assert not untyped, f"{name} leaves {untyped} without a type"
    assert thing.__doc__, f"{name} has no docstring"


def test_arguments_after_the_data_are_keywords() -> None:
    parameters = list(inspect.signature(uf.attack).parameters.values())
    assert [p.name for p in parameters[:3]] == ["name", "victim", "examples"]
    assert {p.kind for p in parameters[3:]} <= {p.KEYWORD_ONLY for p in parameters} | {
        inspect.Parameter.VAR_KEYWORD
    }


@pytest.mark.parametrize(
    "code",
    [
        "import unfooled",
        "import unfooled as uf; uf.Text.parse('a b'); uf.Example",
        "import sys; sys.argv[1:] = ['--help']; from unfooled.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code",
        "import sys; sys.argv[1:] = ['attack', '--help']; from unfooled.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code",
        "import sys; sys.argv[1:] = ['attack', '--list']; from unfooled.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code",
    ],
    ids=["import", "text", "help", "attack help", "attack list"],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    shown = in_new_process(
        f"{code}\nimport json, sys\nprint(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    assert json.loads(shown.splitlines()[-1]) == []


def test_opening_the_door_is_quick() -> None:
    def best(code: str) -> float:  # of the processor's time: other programs may be busy
        clocked = (
            f"import atexit, time\natexit.register(lambda: print(time.process_time()))\n{code}"
        )
        return min(float(in_new_process(clocked).split()[-1]) for _ in range(3))

    bare = best("pass")
    assert best("import unfooled") - bare < 0.3
    helped = "import sys; sys.argv[1:] = ['--help']; from unfooled.cli import main; main()"
    assert best(helped) - bare < 0.8


def test_candidates_are_reached_through_the_door() -> None:
    assert uf.candidates is candidates
    assert uf.candidates.load({"a": ["b"]})(uf.Text.parse("a c")) == {0: ("b",)}
