"""Stats: what an engine has done so far."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Stats:
    """What a run has done so far. Queries, forwards and batches are the victim's."""

    texts: int = 0
    queries: int = 0
    forwards: int = 0
    batches: int = 0
    encoded: int = 0  # texts run through the sentence encoder
    proposed: int = 0  # requests answered by the masked language model
    random: bool = False  # the victim gave two answers to one text, so nothing is cached
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started
