"""Belief: the scores of a victim read as probabilities, of which the attacks of the papers speak.

Attacks compare logarithms: a victim that is sure of 0.9999999 still tells one word from another
there, where the probability itself no longer does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfooled.program import Floats, Goal, are_distributions

_LEAST = np.finfo(np.float64).tiny  # stands for a probability of zero, which has no logarithm


@dataclass(frozen=True, slots=True)
class Belief:
    """How far a victim is on the way to a goal, in probabilities.

    Scores are logits unless `odds` says that they are probabilities already.
    """

    goal: Goal
    odds: bool

    @classmethod
    def read(cls, goal: Goal, scores: Floats) -> Belief:
        """How to read the answers of a victim that began with these: distributions, or logits."""
        return cls(goal, odds=are_distributions(scores))

    def logs(self, scores: Floats) -> Floats:
        """(n, classes) logarithms of the probabilities."""
        raw = np.asarray(scores, dtype=np.float64)
        if self.odds:
            return np.log(np.maximum(raw, _LEAST))
        found: Floats = raw - np.logaddexp.reduce(raw, axis=1, keepdims=True)
        return found

    def chance(self, scores: Floats) -> Floats:
        """(n,) log(1 - p) with p the probability of the label, or log p of the target.

        The higher, the nearer the goal: the same order as the papers' fall of p.
        """
        logs = self.logs(scores)
        if self.goal.target is not None:
            aimed: Floats = logs[:, self.goal.target]
            return aimed
        rest: Floats = np.logaddexp.reduce(np.delete(logs, self.goal.label, axis=1), axis=1)
        return rest
