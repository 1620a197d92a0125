"""Source: the candidates of texts made again, where the source that a run took them from is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unfooled.candidates import Source, load, narrowed
from unfooled.checks.claim import Refused
from unfooled.errors import InputError, UnfooledError
from unfooled.fingerprints import value_fingerprint
from unfooled.space import Space
from unfooled.subspaces import first_candidates
from unfooled.text import Text

Given = str | Source | Mapping[Any, Any] | Callable[[Text], Any] | Sequence[Space]


class Unavailable(Exception):
    """The source of the candidates cannot be read here."""


@dataclass
class Made:
    """What may replace what in each text, made as the run made it."""

    spaces: Callable[[Text], Space]
    most: int | None  # candidates of a word

    @classmethod
    def of(cls, given: Given, manifest: Mapping[str, Any], *, probe: Text | None) -> Made:
        """The candidates of a run; Refused where they are others, Unavailable where files are missing.

        A `probe` is a text of the run, whose candidates show whether all that is needed is there.
        """
        options = manifest["options"]
        if isinstance(given, Sequence) and not isinstance(given, str):
            by_text = {space.original: space for space in given}
            fingerprint, spaces = together(given), _looked_up(by_text)
        else:
            source = load(given)
            if "attack" in options and options.get("min_word_cosine") is not None:
                near = {"min": options["min_word_cosine"], "vectors": options["word_vectors"]}
                source = narrowed(source, "similarity", **near)
            try:
                fingerprint = source.fingerprint
                if probe is not None:
                    source(probe)
            except (UnfooledError, OSError) as error:
                raise Unavailable(str(error)) from error
            spaces = _made(source)
        if manifest["fingerprints"].get("candidates") != fingerprint:
            raise Refused(
                "the candidates that were given do not have the fingerprint of those in the manifest"
            )
        return cls(spaces, options.get("max_candidates") if "attack" in options else None)

    def choices(self, text: Text) -> dict[str, list[str]]:
        """The candidates of a text by position, as they are recorded."""
        space = self.spaces(text)
        space = space if self.most is None else first_candidates(space, self.most)
        return dict(zip(map(str, space.positions), map(list, space.candidates), strict=True))


def together(spaces: Iterable[Space]) -> str:
    """The fingerprint of spaces that were given ready."""
    return value_fingerprint(sorted(space.fingerprint for space in spaces))


def _looked_up(by_text: Mapping[Text, Space]) -> Callable[[Text], Space]:
    def space(text: Text) -> Space:
        if text not in by_text:
            raise InputError(f"no space was given for the text {str(text)!r:.80}")
        return by_text[text]

    return space


def _made(source: Source) -> Callable[[Text], Space]:
    return lambda text: Space(text, source(text))
