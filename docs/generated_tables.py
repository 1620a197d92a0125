"""Directives whose content is read from the code: commands, attacks, candidates, models, assets.

```{unfooled} commands``` and the like: nothing that the code knows is typed again in a page.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from unfooled import assets, candidates, cli, registry
from unfooled.candidates import _spec
from unfooled.lexicon import minilm_head
from unfooled.models import config
from unfooled.presets import ENCODER, PRESETS, VECTORS
from unfooled.settings import DEFAULT
from unfooled.settings import told as told_preset


def commands() -> str:
    """One section a command: usage, what it does, arguments and options."""
    root: Any = typer.main.get_command(cli.app)
    return "\n\n".join(_command(*named) for named in _leaves(root, "unfooled"))


def attacks() -> str:
    """The attacks and what can be set on each."""
    rows = []
    for name in registry.names("attacks"):
        method = registry.get("attacks", name)
        options = [f"`{o.name}` = {o.default}" for o in registry.options(method)]
        source = f"`{method.source or DEFAULT}`"
        rows.append((f"`{name}`", _prose(method), source, ", ".join(options) or "none"))
    return _table(("attack", "what it does", "candidates unless given", "options"), rows)


def presets() -> str:
    """The presets, and where all of them differ from their papers."""
    rows = []
    for preset in PRESETS.values():
        told = told_preset(preset)
        single = [f"{what}: `{v}`" for what, v in told.items() if " of " in what]
        what = f"{preset.about}; {'; '.join(single)}" if single else preset.about
        limits = f"`{told['limits']}`"
        candidates_of = f"`{told['candidates']}`"
        rows.append(
            (f"`{preset.name}`", what, candidates_of, limits, preset.paper, preset.differs or "–")
        )
    head = ("preset", "what it is", "candidates", "limits", "numbers from", "differs")
    return f"{_table(head, rows)}\n\n{VECTORS} {ENCODER}"


def sources() -> str:
    """The sources of candidates, one section each with its options."""
    made = (import_module(f"unfooled.candidates.{name}").SOURCE for name in candidates.names())
    return "\n\n".join(map(_fields, candidates.names(), made))


def filters() -> str:
    """The filters of candidates, one section each with its options."""
    return "\n\n".join(
        _fields(f"|{n}", _spec._FILTERS[n], skip="source") for n in candidates.filters()
    )


def models() -> str:
    """The word architectures and their sizes."""
    head = (
        "name", "units", "layers", "word vector", "words read", "dropout", "starts from vectors"
    )  # fmt: skip
    rows = [
        (
            f"`{n}`",
            a.units,
            a.layers,
            a.dimensions,
            a.max_words,
            a.dropout,
            "glove-50" if a.pretrained else "–",
        )
        for n, a in config.ARCHITECTURES.items()
    ]
    return _table(head, rows)


def resources() -> str:
    """The assets, their licences and their sources."""
    rows = []
    for asset in map(assets.info, assets.names()):
        origins = "; ".join(asset.origins)
        rows.append((f"`{asset.name}`", asset.kind, asset.summary, asset.licence, origins))
    return _table(("name", "kind", "what it is", "licence", "from"), rows)


def masked_words() -> str:
    """How often the shipped head of the masked language model is right."""
    figures = json.loads(Path(minilm_head.ACCURACY).read_text(encoding="utf-8"))
    columns = ("masks", "top_1", "top_5", "words_top_1", "words_top_5")
    rows = [(name, *(found[c] for c in columns)) for name, found in figures["test"].items()]
    head = ("test split", "masks", "top-1", "top-5", "top-1, whole words", "top-5, whole words")
    return _table(head, rows)


def _leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
    for name, child in (children or {}).items():
        yield from _leaves(child, f"{path} {name}")


def _command(path: str, command: Any) -> str:
    given = [p for p in command.params if p.param_type_name == "argument"]
    chosen = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join([path, *(_metavar(p) for p in given), "[OPTIONS]"])
    about, _, example = _plain(command.help).partition("Example:")
    parts = [f"## {path}", f"```text\n{usage}\n```", about.strip()]
    if example:
        parts.append(f"```text\n{' '.join(example.split())}\n```")
    if given:
        told = [(f"`{_metavar(p)}`", _plain(p.help)) for p in given]
        parts.append(_table(("argument", "what it is"), told))
    rows = [(_spelled(p), _plain(p.help), _default(p)) for p in chosen]
    return "\n\n".join([*parts, _table(("option", "what it does", "default"), rows)])


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper()) + ("..." if parameter.nargs < 0 else "")


def _spelled(option: Any) -> str:
    names = [*option.opts, *option.secondary_opts]
    value = "" if option.is_flag else f" {option.name.upper()}"
    return ", ".join(f"`{name}{value if name.startswith('--') else ''}`" for name in names)


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if option.is_flag:
        return f"`{option.opts[0]}`" if option.default and option.secondary_opts else "off"
    return "" if option.default is None else f"`{option.default}`"


def _fields(name: str, kind: type[Any], *, skip: str = "") -> str:
    """A section for a dataclass: its docstring, its fields with the comments beside them."""
    notes = dict(re.findall(r"^    (\w+): [^\n#]*#\s*(.+)$", inspect.getsource(kind), re.MULTILINE))
    rows = [
        (
            f"`{f.name}`",
            notes.get(f.name, ""),
            "required" if f.default is MISSING else f"`{f.default}`",
        )
        for f in fields(kind)
        if f.name != skip
    ]
    heading = f"### `{name}`\n\n{_prose(kind)}"
    return (
        f"{heading}\n\n{_table(('option', 'what it does', 'default'), rows)}" if rows else heading
    )


def _prose(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split())


def _plain(help_text: str | None) -> str:
    """Help without the markup of the terminal, which is code on a page."""
    return re.sub(r"\[/?b\]", "`", inspect.cleandoc(help_text or ""))


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in ([*head], ["---"] * len(head), *lines)
    )


class Generated(SphinxDirective):
    """Puts one of the functions above on the page."""

    required_arguments = 1
    writers: ClassVar[dict[str, Callable[[], str]]] = {
        f.__name__: f
        for f in (commands, attacks, presets, sources, filters, models, resources, masked_words)
    }

    def run(self) -> list[nodes.Node]:
        found = self.writers[self.arguments[0]]()
        return self.parse_text_to_nodes(found, allow_section_headings=True)


def _bars(
    _app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]
) -> None:
    """Escapes |x| in docstrings: an absolute value to a reader, a substitution to docutils."""
    lines[:] = [re.sub(r"(?<!`)\|(?!`)", r"\\|", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the directive."""
    app.add_directive("unfooled", Generated)
    app.connect("autodoc-process-docstring", _bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
