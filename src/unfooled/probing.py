"""The fingerprint of a victim that is known only by its answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unfooled.errors import UnfooledError, VictimError
from unfooled.fingerprints import Fingerprint, probe_fingerprint
from unfooled.text import Example
from unfooled.victims.base import Victim


def probed(victim: Victim, examples: Sequence[Example]) -> Fingerprint:
    """Its scores of the probe texts, of pairs where the examples are; it may refuse some of them."""
    pairs = any(e.text.is_pair for e in examples)
    why: list[str] = []

    def one_by_one(probes: list[Any]) -> list[list[float]]:
        refused, rows = [math.inf] * len(victim.labels), []
        for probe in probes:
            try:
                rows.append(np.asarray(victim.scores([probe]), dtype=float)[0].tolist())
            except Exception as error:
                why.append(f"{type(error).__name__}: {error}")
                rows.append(refused)
        if all(row is refused for row in rows):
            kind = "pair" if pairs else "text"
            raise VictimError(f"{victim.name} fails on every {kind} it is given: {why[0]}")
        return rows

    try:
        return probe_fingerprint(victim.scores, pairs=pairs)
    except UnfooledError:
        raise
    except Exception:
        return probe_fingerprint(one_by_one, pairs=pairs)
