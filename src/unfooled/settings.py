"""Settings: what an attack runs with, once a preset and what was given beside it are put together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from unfooled import registry
from unfooled.errors import InputError, MissingExtra
from unfooled.limits import Limits
from unfooled.presets import ENCODER, VECTORS, Preset, Setting, get
from unfooled.similarity import as_cosine
from unfooled.work import Candidates

DEFAULT: Final = "wordnet"  # the candidates of attacks that have none of their own


class Applied(NamedTuple):
    """Candidates, limits and options of an attack."""

    candidates: Candidates
    limits: Limits
    options: dict[str, Any]


def apply(
    preset: str | None,
    attack: str,
    *,
    candidates: Candidates | None,
    limits: Mapping[str, Any],
    options: Mapping[str, Any],
    own: str | None = None,
) -> Applied:
    """What was given, and for the rest what the preset says; a limit that is None was not given.

    Without a preset the rest are the defaults, and candidates the attack's `own`, where it has some.
    Whoever names candidates, or a preset that has some, says what is searched: an attack then adds none
    of its own. A preset also says whether and how sentences are compared: what an attack compares of its
    own is off. With the reference "previous" the least similarity becomes the attack's rule for its steps;
    a reference without a least similarity is the attack's own.
    """
    chosen = {name: value for name, value in limits.items() if value is not None}
    setting = None if preset is None else get(preset).setting(attack)
    if setting is not None:
        chosen = asdict(setting.limits) | chosen
    options = {**_reference(attack, limits.get("reference"), chosen), **options}
    merged = _limited(chosen)
    wanted = dict(options)
    if setting is not None:
        alone = comparing_nothing(attack) | adding_nothing(attack)
        wanted = {**alone, **setting.options, **options}
    elif candidates is not None:
        wanted = {**adding_nothing(attack), **options}
    if merged.reference == "previous":
        wanted |= _by_steps(attack, merged, given=options)
    if candidates is None:
        candidates = (own or DEFAULT) if setting is None else written(setting.candidates, merged)
    return Applied(candidates, merged, wanted)


def _reference(attack: str, asked: str | None, limits: dict[str, Any]) -> dict[str, Any]:
    """The reference that was asked for as an option of the attack; taken out of limits without similarity."""
    limited = limits.get("min_similarity") is not None
    if asked is None or (limited and asked == "previous"):
        return {}
    its = _had(attack, {"reference": asked})
    if its and not limited:
        del limits["reference"]
    return its


def _by_steps(attack: str, limits: Limits, *, given: Collection[str]) -> dict[str, Any]:
    """The options with which an attack holds every step to the least similarity of the limits."""
    assert limits.min_similarity is not None  # which the limits have seen to
    least = as_cosine(limits.min_similarity, limits.similarity)
    wanted = {"step_similarity": least, "step_window": limits.window, "reference": "previous"}
    if len(_had(attack, wanted)) < len(wanted):
        able = [n for n in registry.names("attacks") if len(_had(n, wanted)) == len(wanted)]
        raise InputError(
            "min_similarity with reference previous is a rule for every step, which "
            f"{', '.join(able[:-1])} and {able[-1]} have and {attack} has not: leave reference out to "
            "compare with the original"
        )
    twice = [option for option in ("step_similarity", "step_window") if option in given]
    if twice:
        raise InputError(
            f"with reference previous min_similarity and window are what {attack} calls step_similarity "
            f"and step_window, so {' and '.join(twice)} would be given twice: leave out one"
        )
    return wanted


def comparing_nothing(attack: str) -> dict[str, Any]:
    """The options with which an attack of that name compares no sentences of its own."""
    return _had(attack, {"step_similarity": None})


def adding_nothing(attack: str) -> dict[str, Any]:
    """The options with which an attack of that name searches the given candidates and no others."""
    return _had(attack, {"proposals": 0})


def _had(attack: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that an attack of that name has."""
    if attack.replace("_", "-") not in registry.names("attacks"):
        return {}
    has = {option.name for option in registry.options(registry.get("attacks", attack))}
    return {name: value for name, value in wanted.items() if name in has}


def _limited(given: Mapping[str, Any]) -> Limits:
    return registry.made(Limits, given, name="the limits")


def written(candidates: str, limits: Limits) -> str:
    """The spec of candidates under these limits."""
    return candidates.format(k=limits.max_candidates)


def told(preset: Preset) -> dict[str, str]:
    """All that a preset sets, in words; of the settings of single attacks what they have else."""
    rows = {"from": preset.paper}
    for attack, setting in {"": preset.every, **preset.own}.items():
        parts = _told(setting)
        for what, value in parts.items():
            if not attack or value != _told(preset.every).get(what, ""):
                rows[f"{what} of {attack}" if attack else what] = value
    whole = f"{rows}"
    common = [VECTORS] if "counter-fitted" in whole else []
    common += [ENCODER] if "encoder use" in whole else []
    return {**rows, "differs": " ".join(filter(None, [preset.differs, *common]))}


def _told(setting: Setting) -> dict[str, str]:
    limits = setting.limits.config()
    if "step_similarity" in setting.options:
        limits["encoder"] = setting.limits.encoder
    told = {name: value for name, value in limits.items() if value is not None}
    return {
        "candidates": written(setting.candidates, setting.limits),
        "limits": _listed(told) or "none",
        "options": _listed(setting.options),
    }


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def check_encoder(preset: str | None, limits: Limits, *, steps: bool) -> None:
    """Refuses an encoder that is not installed; `steps`: the attack itself compares sentences."""
    if not steps and limits.min_similarity is None:
        return
    who = f"the preset {preset}" if preset else "what is asked for"
    if limits.encoder == "use" and find_spec("sentencepiece") is None:
        raise MissingExtra(
            f"{who} compares sentences with the Universal Sentence Encoder (another encoder can be given, "
            "but is another limit), which",
            "use",
        )
    if limits.encoder != "use" and find_spec("transformers") is None:
        own = steps and limits.min_similarity is None
        without = " (step_similarity none compares nothing)" if own else ""
        raise MissingExtra(
            f"{who} compares sentences{without} with the encoder {limits.encoder}, which", "hf"
        )
