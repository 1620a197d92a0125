"""docs/results/attacks.md and its figures, from the files of figures of `results.attacks`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from results import attacks_figures, attacks_tables, mcts_runs, victims
from results.attack_runs import NAMES, Cell

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "attacks.md"
DATA: Final = {
    "mr": "MR",
    "imdb": "IMDB",
    "snli": "SNLI",
    "ag_news": "AG News",
    "yelp": "Yelp",
    "r8": "R8",
}
MODELS: Final = {
    "bilstm": "BiLSTM",
    "minilm": "MiniLM",
    "minilm-brief": "MiniLM, briefly trained",
    "lstm": "LSTM",
    "cnn-msr": "CNN",
}


@dataclass(frozen=True)
class Found:
    """The figures of a cell."""

    cell: Cell
    known: Mapping[str, Any]

    @property
    def names(self) -> list[str]:
        """The data set and the model, for people."""
        return [DATA[self.cell.data], MODELS[self.cell.model]]

    @property
    def runs(self) -> Mapping[str, Any]:
        runs: Mapping[str, Any] = self.known["runs"]
        return runs

    @cached_property
    def swaps(self) -> dict[str, list[float]]:
        """For each attack of the PDP paper's table the swaps of each text; infinite: not fooled."""
        found = {}
        for name, run in self.runs.items():
            found[name] = [math.inf if s is None else float(s) for s in run["each"]["swaps"]]
            if name == "pdp":
                first = run["each"]["first"]
                found["paper"] = [math.inf if s is None else float(s) for s in first]
        return found


def read(cells: Sequence[Cell], figures: Path) -> Iterator[Found]:
    """The figures of those cells that have a file."""
    for cell in cells:
        path = figures / f"{cell.name}.json"
        if path.exists():
            yield Found(cell, json.loads(path.read_text(encoding="utf-8")))


def write(cells: Sequence[Cell], *, figures: Path) -> Path:
    """The page of all cells that have figures, and the pictures beside it."""
    found = list(read(cells, figures))
    PAGE.parent.mkdir(exist_ok=True)
    for name, (draw, swaps) in _pictures(_of("pdp", found)).items():
        draw(swaps, PAGE.parent / name)
    PAGE.write_text(page(found, missing=_missing(cells, found)), encoding="utf-8")
    return PAGE


def _pictures(found: Sequence[Found]) -> dict[str, tuple[Callable[[Any, Path], None], Any]]:
    """The file of each picture that can be drawn, how, and of what."""
    whole = {" ".join(f.names): f.swaps for f in found if not _lacking(f)}
    long = {title: swaps for title, swaps in whole.items() if title.startswith(DATA["imdb"])}
    made = {
        "attacks-scatter.svg": (attacks_figures.scatter, long),
        "attacks-survival.svg": (attacks_figures.survival, whole),
    }
    return {name: picture for name, picture in made.items() if picture[1]}


def pictures(found: Sequence[Found]) -> str:
    """Figures 3 and 4 of Yang et al., as far as they can be drawn."""
    return "\n\n".join(_CAPTIONS[name] for name in _pictures(found))


def _of(experiment: str, found: Sequence[Found]) -> list[Found]:
    return [each for each in found if each.cell.experiment == experiment]


def _lacking(found: Found) -> list[str]:
    """The runs that a cell does not have yet."""
    return [run for run in NAMES[found.cell.experiment] if run not in found.runs]


def _missing(cells: Sequence[Cell], found: Sequence[Found]) -> list[str]:
    """The cells without figures, and those without some, which are named."""
    there = {each.cell.name: each for each in found}
    absent = [f"`{cell.name}`" for cell in cells if cell.name not in there]
    partly = [f"`{name}` ({', '.join(runs)})" for name, f in there.items() if (runs := _lacking(f))]
    return [*absent, *partly]


def page(found: Sequence[Found], *, missing: Sequence[str]) -> str:
    """All of it as Markdown."""
    parts = [_INTRODUCTION, attacks_tables.subjects(found)]
    for experiment, (text, tables) in _SECTIONS.items():
        cells = _of(experiment, found)
        parts += [text.format(*(draw(cells) for draw in tables))] if cells else []
    parts.append(_absent(missing))
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _absent(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    files = " and ".join(f"`{name}`" for name in victims.FILES.values())
    return f"""## Not made

These cells, or the runs named behind them, have no figures here: {", ".join(missing)}.
`python -m results.attacks --cells NAME` makes one; those of AG News and Yelp need the paths of their files in {files}."""


_INTRODUCTION = """# Attacked: the papers' attacks on our models

Written by `python -m results.attacks` from the files in `results/figures/attacks`, one for each experiment
and victim, which say by what command, seed and versions they were made. The papers' numbers stand beside
ours, and they are not about the same models, data or candidates:

- **Models**: a fine-tuned MiniLM (6 layers, 384 wide, the first 128 tokens) stands in for BERT-base; the
  BiLSTM has 150 units over 50-dimensional GloVe; the LSTM has 256 and the CNN 3 layers, as the MSR paper's. Most are trained on less
  than the papers' (see the first table), on one CPU thread or on a GPU (H200): a victim that was trained
  again is another one, with a row of its own. Seconds are those of runs that shared the device with others.
- **Data**: AG News and Yelp are not fetched by `unfooled`: these cells were made with files of ours. AG
  News: title and description of the official 7,600 test texts; 40,670 of its train texts, most of
  them without the title. Yelp: 5,026 reviews of at most 80 words, at most 2 stars or at least 4, of
  which four fifths are positive. R8 (Reuters, eight topics) and MR are assets and can be repeated by anybody.
- **Word vectors** for neighbours and word cosines are 50-dimensional GloVe, counter-fitted by `unfooled` with
  WordNet; the papers' are Paragram, 300-dimensional. **Sentences** are compared by the multilingual Universal
  Sentence Encoder, the papers' by the English one. **The masked language model** is a head on MiniLM
  instead of BERT.
- **Texts**: as many as the papers have where a GPU did the work, few where one CPU thread did. Behind each
  share stands its interval of 95 % (Clopper and Pearson): with 1,000 texts a rate is known to within 3
  points, with 40 texts to within 16. A dash: not made.

## Data and victims"""

_ROBUST = """## BERT is Robust: tables 1, 3 and 4

Hauser et al. (2021). Success rates in percent of the attacked texts (those that the victim classifies
correctly), under the presets of the same names; TextFooler's runs had NLTK's stop words, where its presets
have the longer list of its authors now. `cv50` adds the word cosine of 0.5 that TextFooler has
anyway. The paper's rows are its undefended ("normal") BERT.

{}

TextFooler's thresholds adjusted (table 4): compared with the original text instead of the one before a
swap, at several word cosines (`cv`) and sentence cosines (`use`).

{}

Candidates of a word, mean over all words of the texts: what each limit leaves. In our vectors a word cosine
of 0.5 leaves about half of those that PWWS and BERT-Attack have. How many it leaves in the paper's is not said;
that its success rates fall further suggests fewer.

{}

### Words swapped (table 8)

The median of occurrences in the training data, and the share of words whose relative frequency is
highest in the text's true class. Our training sets are a fraction of the paper's, so the counts are too.

{}"""

_DEFENDER = """## Searching for an Effective Defender: baselines of tables 2 and 3

Li et al. (2021), presets `defender-agnews` (30 % of the words) and `defender-imdb` (10 %): 50 candidates, 50
queries for each word, angular similarity 0.84. Clean and AUA are of the texts drawn, in percent; #Query is
the mean over attacked texts. Neighbours of TextFooler and TextBugger are the same 50; R8 stands in for AG News
where that cannot be had.

{}"""

_MCTS = f"""## Assessing Robustness of Text Classification: tables 7 and 8

La Malfa et al. (2020): Monte Carlo tree search over the 200 nearest neighbours of a word by distance, of the
word's part of speech (or an adjective for a noun), with 1,000 simulations and α = 0.5. Texts are cut to the
paper's lengths (MR, in place of SST: 25 words; AG News 49; IMDB 100) and are those that the victim
classifies correctly, whole and cut. The paper names neither the number of neighbours nor the network of a row.

Table 7, one swap: the share of texts that it fools; of all words, the share that has a fooling swap;
the distance of the closest, where each dimension of GloVe has the range 1 (± deviation).

{{}}

Table 8, several swaps, with {mcts_runs.SIMULATIONS} simulations for each vertex and {mcts_runs.EXPANSIONS} vertices
expanded, which are fewer than the paper's: the share of texts fooled within k swaps, and of
{mcts_runs.DRAWS} random choices of k words of each text the share within which the victim can be fooled. Every k is a search of
its own, with draws of its own, so a share may fall a little where k rises.

{{}}"""

_PDP = """## Quantifying Robustness: table 2, figures 3 and 4

Yang et al. (2022). All attacks have the same candidates (`wordnet`: the five nearest synonyms by word vector,
where the paper has HowNet's) and may swap a quarter of the words; on IMDB they have 2,000 queries for a
text, which the paper does not say and which holds PDP back. TextFooler compares no sentences here. #Win counts
the texts that another attack fools too and on which this one needs fewer swaps than all of them; %S is
over an attack's own successes. *PDP* is the paper's algorithm, *tightened* goes on to fewer swaps ([more](quantify.md)).

{}

{}"""

_CAPTIONS: Final = {
    "attacks-scatter.svg": """Figure 3: texts of IMDB that both fool. Above the diagonal PDP needs fewer swaps.

![Swaps of PDP against those of TextFooler and SemPSO, one point for each text](attacks-scatter.svg)""",
    "attacks-survival.svg": """Figure 4: the share of texts on which an attack finds nothing within r swaps.

![For each data set and model three falling curves over the number of swaps](attacks-survival.svg)""",
}

_SECTIONS: Final = {
    "robust": (
        _ROBUST,
        (
            attacks_tables.robust,
            attacks_tables.adjusted,
            attacks_tables.choice,
            attacks_tables.words,
        ),
    ),
    "defender": (_DEFENDER, (attacks_tables.defender,)),
    "mcts": (_MCTS, (attacks_tables.single, attacks_tables.several)),
    "pdp": (_PDP, (attacks_tables.pdp, pictures)),
}
