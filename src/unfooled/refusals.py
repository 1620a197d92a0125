"""What a program is told when nobody can answer its question, and who could."""

from __future__ import annotations

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


def refusal(question: Question, victim: str) -> Unsupported:
    """The error for a question that the victim of that name, or a missing companion, should answer."""
    return Unsupported(_NOBODY[type(question)].format(victim))
