"""What a program is told when nobody can answer its question, and who could."""

from __future__ import annotations

from typing import Final

from unfooled.errors import Unsupported
from unfooled.program import Gradients, Layers, Proposals, Question, Similarities

_NOBODY: dict[type[Question], str] = {
    Gradients: "{} cannot answer Gradients: it is scored from outside. Word models (unfooled train) and "
    "Hugging Face classifiers can",
    Layers: "{} does not show its layers, which this certifier computes with. Word models (unfooled "
    "train) do; exhaustive works with every victim",
    Similarities: "this search compares sentences and no sentence encoder is there: give one as "
    "encoder, such as 'minilm', 'use' or the folder of a Hugging Face encoder",
    Proposals: "this search asks for words in context and no masked language model is there: give "
    "one as masked",
}


PIECEWISE: Final = ("mlp", "dan", "cnn", "cnn-msr")
"""The architectures of ReLU and maxima, which are piecewise linear."""


def refusal(question: Question, victim: str) -> Unsupported:
    """The error for a question that the victim of that name, or a missing companion, should answer."""
    return Unsupported(_NOBODY[type(question)].format(victim))


def smooth(architecture: str) -> Unsupported:
    """The error for a network that bends smoothly, where pieces of a linear function are looked for."""
    return Unsupported(
        f"minimum solves networks of ReLU and maxima ({', '.join(PIECEWISE)}), and {architecture} "
        "is not piecewise linear: exhaustive, branch-and-bound, intervals and linear certify it"
    )
