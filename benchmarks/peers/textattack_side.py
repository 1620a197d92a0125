"""The process of the peer: reads one request a line, attacks with TextAttack, answers one line.

Run by the interpreter of `.venv-peers` only. The model and the tokeniser of words are ours, so that both
sides attack the same function; everything that searches and counts is TextAttack's.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import numpy as np
import torch
import transformers
from textattack import Attack
from textattack.attack_results import SkippedAttackResult, SuccessfulAttackResult
from textattack.constraints.overlap import MaxWordsPerturbed
from textattack.constraints.pre_transformation import RepeatModification
from textattack.goal_functions import UntargetedClassification
from textattack.models.wrappers import HuggingFaceModelWrapper, ModelWrapper
from textattack.search_methods import (
    AlzantotGeneticAlgorithm,
    BeamSearch,
    GreedySearch,
    GreedyWordSwapWIR,
    ParticleSwarmOptimization,
)
from textattack.shared import AttackedText
from textattack.transformations import WordSwap

from unfooled import models
from unfooled.models.encoding import encode, pad
from unfooled.text import Text

SEARCHES = {
    "unk": lambda unknown: GreedyWordSwapWIR("unk", unk_token=unknown),
    "delete": lambda unknown: GreedyWordSwapWIR("delete", unk_token=unknown),
    "weighted-saliency": lambda unknown: GreedyWordSwapWIR("weighted-saliency", unk_token=unknown),
    "greedy": lambda unknown: GreedySearch(),
    "beam": lambda unknown: BeamSearch(beam_width=4),
    "pso": lambda unknown: ParticleSwarmOptimization(),
    "genetic": lambda unknown: AlzantotGeneticAlgorithm(),
}


class OurWords(ModelWrapper):
    """A word model of ours. With `digits` it is exact: float64, and probabilities that are rounded."""

    def __init__(self, folder: str, digits: int | None) -> None:
        self.saved, self.digits, self.forwards = models.load(folder), digits, 0
        self.model = self.saved.network.double() if digits is not None else self.saved.network

    def __call__(self, text_input_list: list[str], **_: Any) -> torch.Tensor:
        self.forwards += len(text_input_list)
        config = self.saved.config
        rows = [
            encode(Text.parse(t), self.saved.vocabulary, max_words=config.max_words, pair=False)
            for t in text_input_list
        ]
        with torch.inference_mode():
            logits = self.model(*pad(rows))
        if self.digits is None:
            return logits
        return torch.softmax(logits, dim=1).round(decimals=self.digits)


class StockHuggingFace(HuggingFaceModelWrapper):
    """TextAttack's own wrapper of a Hugging Face classifier, with a count."""

    def __init__(self, folder: str) -> None:
        network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        tokenizer = transformers.BertTokenizerFast(vocab_file=f"{folder}/vocab.txt")
        super().__init__(network, tokenizer)
        self.forwards = 0

    def __call__(self, text_input_list: list[str]) -> torch.Tensor:
        self.forwards += len(text_input_list)
        return super().__call__(text_input_list)


class OurCandidates(WordSwap):
    """Swaps a word for the candidates of its index; every candidate is one word, so none moves."""

    def __init__(self, candidates: list[list[str]]) -> None:
        super().__init__()
        self.candidates = candidates

    def _get_transformations(self, current_text: Any, indices_to_modify: Any) -> list[Any]:
        return [
            current_text.replace_word_at_index(i, word)
            for i in indices_to_modify
            for word in self.candidates[i]
        ]


class Side:
    """Answers requests, with the model that was loaded last."""

    model: Any

    def load(self, *, folder: str, kind: str, digits: int | None = None) -> dict[str, Any]:
        """Loads a model: one of our words, or a Hugging Face folder in TextAttack's own wrapper."""
        self.model = OurWords(folder, digits) if kind == "words" else StockHuggingFace(folder)
        return {"numpy": np.__version__, "torch": torch.__version__}

    def attack(
        self, *, search: str, unknown: str, cases: list[Any], budget: int | None
    ) -> dict[str, Any]:
        """Attacks the cases one after the other, with the seconds and the forwards of all."""
        np.random.seed(0)  # noqa: NPY002  the only randomness that TextAttack knows
        self.model.forwards = 0
        goal = UntargetedClassification(self.model, query_budget=budget or float("inf"))
        began = time.perf_counter()
        found = [self._attacked(goal, SEARCHES[search](unknown), case) for case in cases]
        seconds = time.perf_counter() - began
        return {"found": found, "seconds": seconds, "forwards": self.model.forwards}

    def _attacked(self, goal: Any, search: Any, case: dict[str, Any]) -> dict[str, Any]:
        words = AttackedText(case["source"]).words
        if words != case["words"]:
            return {"status": "other words", "text": " ".join(words), "queries": 0}
        constraints = [RepeatModification(), MaxWordsPerturbed(max_num_words=case["most"])]
        attack = Attack(goal, constraints, OurCandidates(case["candidates"]), search)
        result = attack.attack(case["source"], case["label"])
        status = {SkippedAttackResult: "skipped", SuccessfulAttackResult: "success"}
        return {
            "status": status.get(type(result), "failure"),
            "text": result.perturbed_result.attacked_text.text,
            "queries": goal.num_queries,
        }


def main() -> None:
    """Answers until the input ends; whatever else is printed goes to the errors."""
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    side = Side()
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(side, request.pop("do"))(**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
