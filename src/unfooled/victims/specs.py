"""From the VICTIM argument to a victim: one function for each form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unfooled.errors import InputError, MissingExtra
from unfooled.victims.base import Victim
from unfooled.victims.callables import CallableVictim, Labels, found, named

FORMS = (
    "a folder saved by train, a Hugging Face folder or hf:NAME, sklearn:FILE.skops, "
    "http(s)://..., python:module:function or python:file.py:function"
)
_PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".bin", ".ckpt")


def victim(model: Any, labels: Labels | None = None, *, name: str | None = None) -> Victim:
    """A victim from a function or a fitted scikit-learn pipeline.

    The function takes a list of strings (or of (premise, hypothesis) pairs) and returns (n, classes)
    scores; `labels` are the names of the classes, or how many there are. A pipeline knows its own.

    >>> happy = victim(lambda texts: [[0, t.count("!")] for t in texts], ["flat", "happy"])
    >>> happy.scores(["Well.", "Well!"]).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    if isinstance(model, Victim):
        return _relabelled(model, labels)
    if _is_pipeline(model):
        from unfooled.victims.sklearn_pipeline import PipelineVictim

        return _relabelled(PipelineVictim(model, name=name), labels)
    if labels is None:
        labels = getattr(model, "labels", None)
    if labels is None:
        raise InputError("victim(function, labels) needs the class names, or how many there are")
    return CallableVictim(model, labels, name=name)


def load(
    spec: str | Path,
    *,
    device: str | None = None,
    dtype: str | None = None,
    labels: Labels | None = None,
    trusted: Sequence[str] | None = None,
    timeout: float | None = None,
    retries: int | None = None,
    concurrency: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Victim:
    """The victim that `spec` names, in any form of the command line's VICTIM argument.

    `device` is for torch models, `dtype` for Hugging Face ones, `trusted` for skops files, the rest
    for HTTP. `labels` renames the classes, in order.
    """
    options = {
        "device": device,
        "dtype": dtype,
        "trusted": trusted,
        "timeout": timeout,
        "retries": retries,
        "concurrency": concurrency,
        "headers": headers,
    }
    given = {key: value for key, value in options.items() if value is not None}
    loaded = _opened(str(spec), labels, given)
    loaded.spec = str(spec)
    return loaded


def _opened(spec: str, labels: Labels | None, given: dict[str, Any]) -> Victim:
    for prefix, (opener, allowed) in _OPENERS.items():
        if spec.startswith(prefix):
            _refuse_others(spec, given, allowed)
            return opener(spec, labels, given)
    return _relabelled(_from_path(Path(spec), given), labels)


def _http(spec: str, labels: Labels | None, options: dict[str, Any]) -> Victim:
    from unfooled.victims.http import HTTPVictim

    return HTTPVictim(spec, labels, **options)


def _skops(spec: str, labels: Labels | None, options: dict[str, Any]) -> Victim:
    from unfooled.victims.sklearn_pipeline import read

    file = Path(spec.removeprefix("sklearn:"))
    _refuse_pickle(file)
    return _relabelled(read(file, **options), labels)


def _python(spec: str, labels: Labels | None, options: dict[str, Any]) -> Victim:
    thing, beside = found(spec.removeprefix("python:"))
    if labels is None and not isinstance(thing, Victim) and not _is_pipeline(thing):
        labels = beside
        if labels is None:
            raise InputError(
                f"{spec} has no labels: give the function a `labels` attribute, its module a LABELS "
                "list, or name them: --labels bad,good (in Python: load(..., labels=['bad', 'good']))"
            )
    return victim(thing, labels, name=None if isinstance(thing, Victim) else spec)


def _hub(spec: str, labels: Labels | None, options: dict[str, Any]) -> Victim:
    name = spec.removeprefix("hf:")
    if not name:
        raise InputError(f"hf: needs a name, as in hf:owner/model; a victim is {FORMS}")
    from unfooled import hub

    folder = Path(name) if Path(name).is_dir() else hub.fetch(name)
    made = _torch_module("huggingface").HuggingFaceVictim.load(folder, name=name, **options)
    return _relabelled(made, labels)


_OPENERS: dict[
    str, tuple[Callable[[str, Labels | None, dict[str, Any]], Victim], tuple[str, ...]]
] = {
    "http://": (_http, ("timeout", "retries", "concurrency", "headers")),
    "https://": (_http, ("timeout", "retries", "concurrency", "headers")),
    "sklearn:": (_skops, ("trusted",)),
    "python:": (_python, ()),
    "hf:": (_hub, ("device", "dtype")),
}


_FOLDERS = {
    "word": ("words", "WordVictim", ("device",)),
    "hf": ("huggingface", "HuggingFaceVictim", ("device", "dtype")),
}


def _from_path(path: Path, options: dict[str, Any]) -> Victim:
    from unfooled.models.folder import kind

    if path.is_file():
        _refuse_pickle(path)
        if path.suffix == ".skops":
            _refuse_others(str(path), options, ("trusted",))
            return _skops(f"sklearn:{path}", None, options)
    what = kind(path) if path.is_dir() else None
    if what is not None:
        module, name, allowed = _FOLDERS[what]
        _refuse_others(str(path), options, allowed)
        made: Victim = getattr(_torch_module(module), name).load(path, **options)
        return made
    if path.is_dir():
        raise InputError(
            f"the folder {path} holds no model (no config.json of one); expected {FORMS}"
        )
    raise InputError(f"{str(path)!r} is no victim that is known here; expected {FORMS}")


def _torch_module(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"unfooled.victims.{name}")
    except ModuleNotFoundError as error:
        if error.name in ("torch", "safetensors", "transformers"):
            extra = "torch" if name == "words" else "hf"
            raise MissingExtra(f"a victim of {name}", extra) from error
        raise


def _refuse_pickle(file: Path) -> None:
    if file.suffix.lower() in _PICKLES:
        raise InputError(
            f"{file} is a pickle, which can run code when it is loaded, so it is refused: where you "
            "trust it, save a scikit-learn pipeline with skops.io.dump, and torch weights as "
            "safetensors (save_pretrained does)"
        )


def _refuse_others(spec: str, given: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for name in given:
        if name not in allowed:
            takes = f"takes {', '.join(allowed)}" if allowed else "takes no options but labels"
            raise InputError(f"{spec} has no option {name!r}: this kind of victim {takes}")


def _relabelled(made: Victim, labels: Labels | None) -> Victim:
    if labels is None:
        return made
    names = named(labels)
    if len(names) != len(made.labels):
        raise InputError(
            f"{made.name} has {len(made.labels)} classes ({', '.join(made.labels):.80}), but "
            f"{len(names)} labels were given"
        )
    made.labels = names
    return made


def _is_pipeline(model: Any) -> bool:
    base = sys.modules.get("sklearn.base")  # nobody has a pipeline who has not imported this
    return base is not None and isinstance(model, base.BaseEstimator)
