"""Candidates from a Python function."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType

from unfooled.candidates._source import Candidate, Row, Source
from unfooled.errors import InputError
from unfooled.text import Text

Proposes = Callable[[Text], Mapping[int, Sequence[str]]]


@dataclass(frozen=True)
class Function(Source):
    """What a function of the text returns: word position to candidates, best first."""

    function: Proposes

    def __str__(self) -> str:
        return f"function {self._name}"

    def rows(self, text: Text) -> list[Row]:
        try:
            answer = self.function(text)
        except Exception as error:
            raise InputError(
                f"the candidates function {self._name} failed on {str(text)!r:.80}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not isinstance(answer, Mapping):
            raise InputError(
                f"{self._name} must return {{position: candidates}}, not {answer!r:.60}"
            )
        rows = [Row(i, word, reason="none given") for i, word in enumerate(text.words)]
        for position, candidates in answer.items():
            if not isinstance(position, int) or not 0 <= position < len(rows):
                raise InputError(f"{self._name} gave position {position!r} for {len(rows)} words")
            if not _are_words(candidates):
                raise InputError(f"{self._name} gave {candidates!r:.60} where words were expected")
            word = text.words[position]
            found = tuple(Candidate(c) for c in dict.fromkeys(candidates) if c != word)
            rows[position] = Row(position, word, candidates=found)
        return rows

    @property
    def fingerprint(self) -> str:
        """That of the function if it has one, else a sha256 of its name, code and captured values.

        What the function reads from files or globals is not seen; give it a `fingerprint` for that.
        """
        given = getattr(self.function, "fingerprint", None)
        if isinstance(given, str):
            return given
        return hashlib.sha256(f"{self._name}\n{_shape(self.function)}".encode()).hexdigest()

    @property
    def _name(self) -> str:
        named = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return f"{named.__module__}.{named.__qualname__}"


def _are_words(candidates: object) -> bool:
    if isinstance(candidates, str) or not isinstance(candidates, Collection):
        return False
    return all(isinstance(candidate, str) for candidate in candidates)


def _shape(value: object) -> str:
    """What a value is made of, the same in every process where its parts have a stable `repr`."""
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return _shape((value.__code__, value.__defaults__, value.__kwdefaults__, cells))
    if isinstance(value, CodeType):  # its repr has an address in it
        return _shape((value.co_code, value.co_names, value.co_consts))
    if isinstance(value, partial):
        return _shape((value.func, value.args, value.keywords))
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(map(_shape, value)) + ")"
    if isinstance(value, (set, frozenset)):  # its order varies by process
        return "{" + ",".join(sorted(map(_shape, value))) + "}"
    return repr(value)
