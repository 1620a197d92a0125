"""Fitted scikit-learn pipelines from text to class, in memory or in a skops file."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unfooled.errors import InputError, MissingExtra
from unfooled.fingerprints import path_fingerprint
from unfooled.text import Source
from unfooled.victims.base import Floats, StringVictim, checked
from unfooled.victims.callables import named


class PipelineVictim(StringVictim):
    """A fitted pipeline: probabilities where it has them, else its decision function.

    A binary decision d becomes the two scores (-d, d).
    """

    def __init__(
        self, pipeline: Any, *, name: str | None = None, fingerprint: str | None = None
    ) -> None:
        # scikit-learn's own protocol: which methods exist depends on what was fitted, and how.
        classes = getattr(pipeline, "classes_", None)
        if classes is None:
            raise InputError(
                f"{type(pipeline).__name__} has no classes_: give a pipeline that was fitted as a "
                "classifier"
            )
        method = next(
            (m for m in ("predict_proba", "decision_function") if hasattr(pipeline, m)), ""
        )
        if not method:
            raise InputError(
                f"{type(pipeline).__name__} gives neither predict_proba nor decision_function, so "
                "it has no scores"
            )
        self.pipeline = pipeline
        self.labels = named([str(label) for label in classes])
        self.name = name or type(pipeline).__name__
        self._scores = getattr(pipeline, method)
        self._fingerprint = fingerprint
        texts, pairs = (self._takes(source) for source in ("not bad", ("not", "bad")))
        self.pair = None if texts == pairs else pairs

    def _takes(self, source: Source) -> bool:
        """Whether it has scores for a text; a pipeline says nowhere what its first step reads."""
        try:
            self._scores([source])
        except Exception:
            return False
        return True

    def scores(self, sources: Sequence[Source]) -> Floats:
        if not sources:
            return np.empty((0, len(self.labels)))
        answer = self._scores(list(sources))
        if len(self.labels) == 2 and np.ndim(answer) == 1:
            answer = np.stack([-answer, answer], axis=1)
        return checked(answer, n=len(sources), classes=len(self.labels), name=self.name)

    @property
    def fingerprint(self) -> str | None:
        return self._fingerprint


def read(file: Path | str, *, trusted: Sequence[str] = ()) -> PipelineVictim:
    """The pipeline in a skops file; types beyond scikit-learn's own must be named in `trusted`."""
    file = Path(file)
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    try:
        import sklearn  # noqa: F401
        from skops import io
    except ImportError as error:
        raise MissingExtra("a scikit-learn pipeline", "sklearn") from error
    try:
        unknown = set(io.get_untrusted_types(file=file)) - set(trusted)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise InputError(
            f"{file} is not a skops file: save the fitted pipeline with skops.io.dump"
        ) from error
    if unknown:
        raise InputError(
            f"{file} has parts of types that are not known to be safe: {', '.join(sorted(unknown))}; "
            "if you trust them, name them in the option `trusted`"
        )
    pipeline = io.load(file, trusted=list(trusted))
    return PipelineVictim(pipeline, name=file.stem, fingerprint=path_fingerprint(file))
