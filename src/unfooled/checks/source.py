"""Source: the candidates of texts made again, where the source that a run took them from is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unfooled.candidates import Source, load, narrowed
from unfooled.checks.claim import Refused
from unfooled.errors import InputError, UnfooledError
from unfooled.fingerprints import value_fingerprint
from unfooled.keys import named
from unfooled.space import Space
from unfooled.subspaces import first_candidates
from unfooled.text import Example, Text

Given = str | Source | Mapping[Any, Any] | Callable[[Text], Any] | Sequence[Space]


class Unavailable(Exception):
    """The source of the candidates cannot be read here."""


@dataclass
class Made:
    """What may replace what in each text, made as the run made it."""

    spaces: Callable[[Example], Space]
    most: int | None  # candidates of a word

    @classmethod
    def of(
        cls,
        given: Given,
        manifest: Mapping[str, Any],
        *,
        probe: Text | None,
        data: Sequence[Example] | None = None,
    ) -> Made:
        """The candidates of a run; Refused where they are others, Unavailable where files are missing.

        A `probe` is a text of the run, whose candidates show whether all that is needed is there. Of
        ready spaces the `data` says whose they are, where a text is there several times.
        """
        options = manifest["options"]
        if isinstance(given, Sequence) and not isinstance(given, str):
            _compare(together(given), manifest)
            spaces = _looked_up(given, data)
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
            _compare(fingerprint, manifest)
            spaces = _made(source)
        return cls(spaces, options.get("max_candidates") if "attack" in options else None)

    def choices(self, example: Example) -> dict[str, list[str]]:
        """The candidates of a text by position, as they are recorded."""
        space = self.spaces(example)
        space = space if self.most is None else first_candidates(space, self.most)
        return dict(zip(map(str, space.positions), map(list, space.candidates), strict=True))


def _compare(fingerprint: str, manifest: Mapping[str, Any]) -> None:
    if manifest["fingerprints"].get("candidates") != fingerprint:
        raise Refused(
            "the candidates that were given do not have the fingerprint of those in the manifest"
        )


def together(spaces: Iterable[Space]) -> str:
    """The fingerprint of spaces that were given ready."""
    return value_fingerprint(sorted(space.fingerprint for space in spaces))


def _looked_up(
    given: Sequence[Space], data: Sequence[Example] | None
) -> Callable[[Example], Space]:
    """Ready spaces by their texts; those of a text that is there several times, in its order."""
    by_text: dict[Text, list[Space]] = {}
    for space in given:
        by_text.setdefault(space.original, []).append(space)
    alike = {text: found[0] for text, found in by_text.items() if _agree(found)}
    left = {text: iter(found) for text, found in by_text.items() if text not in alike}
    if left and data is None:
        raise Unavailable(
            f"{str(next(iter(left)))!r:.60} is there several times, with other candidates each time: give "
            "the data too, which says whose they are"
        )
    own = {named(e): next(left[e.text], None) for e in data or () if e.text in left}

    def looked_up(example: Example) -> Space:
        found = alike.get(example.text) or own.get(named(example))
        if found is None:
            raise InputError(f"no space was given for the text {str(example.text)!r:.80}")
        return found

    return looked_up


def _agree(spaces: Sequence[Space]) -> bool:
    return len({space.fingerprint for space in spaces}) == 1


def _made(source: Source) -> Callable[[Example], Space]:
    return lambda example: Space(example.text, source(example.text))
