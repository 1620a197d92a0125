"""The recipe of counter-fitted vectors as an asset: vectors and WordNet in, a folder of files out."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from unfooled.assets.progress import building
from unfooled.lexicon import constraints, vectors
from unfooled.lexicon.counter_fit import CounterFit, Fitted, fit
from unfooled.lexicon.wordnet import WordNet


def make(folders: Mapping[str, Path], *, shown: bool) -> dict[str, bytes]:
    """The files of `glove-50-counter-fitted`, from the folders of `glove-50` and `wordnet`.

    Constraints are those of WordNet and options the paper's; `fit.json` has both in numbers.
    """
    table, wordnet = vectors.read(folders["glove-50"]), WordNet(folders["wordnet"])
    options = CounterFit()
    with building("counter-fitted vectors", shown=shown) as told:
        told("constraints", 0.0)
        known = constraints.from_wordnet(wordnet, table.words)
        fitted = fit(table, known, options=options, told=told)
    return files(fitted, options) | {
        "LICENSE.wordnet": (folders["wordnet"] / "LICENSE").read_bytes()
    }


def files(fitted: Fitted, options: CounterFit) -> dict[str, bytes]:
    """A folder that `vectors.read` reads, with the options, numbers of pairs and objective."""
    stream = io.BytesIO()
    np.save(stream, fitted.vectors.matrix, allow_pickle=False)
    about = {"options": asdict(options), "pairs": fitted.pairs, "objective": fitted.losses}
    return {
        "vectors.npy": stream.getvalue(),
        "words.txt": ("\n".join(fitted.vectors.words) + "\n").encode("utf-8"),
        "fit.json": (json.dumps(about, indent=2) + "\n").encode("utf-8"),
    }
