"""Options that belong to the method a command runs: `--width 8` is the attack beam's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from unfooled import registry
from unfooled.errors import InputError, did_you_mean


class AttackCommand(TyperCommand):
    """A command whose first argument names an attack, with that attack's options among its own.

    They may stand anywhere, and are in `context.args` afterwards, as they were written.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        flags = {
            opt: _is_flag(p) for p in self.get_params(ctx) for opt in (*p.opts, *p.secondary_opts)
        }
        own, others = _sorted_out(args, flags)
        named = [word for word in own if not word.startswith("-")]
        if others and named:
            _check(named[0], others, own=flags)
        rest = super().parse_args(ctx, own)
        ctx.args = others
        return rest


def given(args: Iterable[str]) -> dict[str, Any]:
    """`--width 8` and `--width=8` as {"width": "8"}."""
    found: dict[str, Any] = {}
    rest = list(args)
    while rest:
        key, equals, value = rest.pop(0).removeprefix("--").partition("=")
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise InputError(f"option --{key} needs a value")
            value = rest.pop(0)
        found[key.replace("-", "_")] = value
    return found


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False) or getattr(parameter, "count", False))


def _sorted_out(args: Sequence[str], flags: dict[str, bool]) -> tuple[list[str], list[str]]:
    """The command's own words, and the options it does not know with their values."""
    own: list[str] = []
    others: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*own, word, *rest], others
        option, equals, _ = word.partition("=")
        known = option in flags or not option.startswith("--")
        (own if known else others).append(word)
        takes_value = not flags.get(option, False) if option in flags else not known
        if takes_value and not equals and rest and (known or not rest[0].startswith("--")):
            (own if known else others).append(rest.pop(0))
    return own, others


def _check(name: str, others: Iterable[str], *, own: Iterable[str]) -> None:
    """Refuses unknown and ill-typed options before anything is loaded."""
    fields = {option.name for option in registry.options(registry.get("attacks", name))}
    values = given(others)
    for key in values:
        if key not in fields:
            known = {option.removeprefix("--") for option in own if option.startswith("--")}
            known |= {field.replace("_", "-") for field in fields}
            asked = key.replace("_", "-")
            raise InputError(
                f"neither unfooled attack nor {name} has an option --{asked}; "
                f"{did_you_mean(asked, known)}"
            )
    registry.build("attacks", name, values)
