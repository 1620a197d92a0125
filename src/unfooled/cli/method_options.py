"""Options that belong to the method a command runs: `--width 8` is the attack beam's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import typer

from unfooled import registry
from unfooled.cli.help import Command
from unfooled.errors import InputError, did_you_mean


class MethodCommand(Command):
    """A command whose first argument names a method, with that method's options among its own.

    They may stand anywhere, and are in `context.args` afterwards, as they were written.
    """

    family: str  # of the method, as the registry has it

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        flags = {
            opt: _is_flag(p) for p in self.get_params(ctx) for opt in (*p.opts, *p.secondary_opts)
        }
        own, others, name = _sorted_out(args, flags)
        if others and name is not None:
            _check(self.family, name, others, own=flags, command=str(self.name))
        rest = super().parse_args(ctx, own)
        ctx.args = others
        return rest


class AttackCommand(MethodCommand):
    """A command that runs an attack."""

    family = "attacks"


class CertifierCommand(MethodCommand):
    """A command that runs a certifier."""

    family = "certifiers"


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


class _Sorted(NamedTuple):
    """The command's own words, the options it does not know with their values, the method named."""

    own: list[str]
    others: list[str]
    name: str | None


def _sorted_out(args: Sequence[str], flags: Mapping[str, bool]) -> _Sorted:
    own: list[str] = []
    others: list[str] = []
    name: str | None = None
    rest = list(args)
    while rest:
        word = rest.pop(0)
        option, equals, _ = word.partition("=")
        if word == "--":
            own += [word, *rest]
            break
        if option in flags:
            own.append(word)
            if not flags[option] and not equals:
                own += rest[:1]
                rest = rest[1:]
        elif option.startswith("--"):
            others.append(word)
            if not equals and rest and not rest[0].startswith("--"):
                others.append(rest.pop(0))
        else:
            own.append(word)
            name = name or word
    return _Sorted(own, others, name)


def _check(
    family: str, name: str, others: Iterable[str], *, own: Iterable[str], command: str
) -> None:
    """Refuses unknown and ill-typed options before anything is loaded."""
    fields = {option.name for option in registry.options(registry.get(family, name))}
    values = given(others)
    for key in values:
        if key not in fields:
            known = {option.removeprefix("--") for option in own if option.startswith("--")}
            known |= {field.replace("_", "-") for field in fields}
            asked = key.replace("_", "-")
            others_have = registry.lacking(family, name, key, written=_flag)
            raise InputError(
                f"neither unfooled {command} nor {name} has an option --{asked}"
                f"{others_have or f'; {did_you_mean(asked, known)}'}"
            )
    registry.build(family, name, values)


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")
