"""What the papers report, by our names of experiments, data sets and runs. Shares are in percent."""

from __future__ import annotations

from typing import Final, NamedTuple

ROBUST: Final = {  # Hauser et al. 2021, tables 1, 3 (normal rows) and 4 (normal rows); BERT-base
    "ag_news": {
        "accuracy": 94.57,
        "textfooler": 84.99, "pwws": 64.95, "bert-attack": 79.43, "bae": 14.27,
        "pwws-cv50": 16.38, "bert-attack-cv50": 20.72, "bae-cv50": 0.32,
        "tf-cv50": 88.79, "tf-cv50-use88": 24.95, "tf-cv70-use85": 22.52, "tf-cv70-use90": 11.63,
        "tf-cv80-use90": 7.51,
    },
    "yelp": {
        "accuracy": 97.31,
        "textfooler": 90.47, "pwws": 92.23, "bert-attack": 93.47, "bae": 31.50,
        "pwws-cv50": 33.26, "bert-attack-cv50": 49.53, "bae-cv50": 0.41,
        "tf-cv50": 91.40, "tf-cv50-use88": 49.22, "tf-cv70-use85": 42.59, "tf-cv70-use90": 25.18,
        "tf-cv80-use90": 11.09,
    },
}  # fmt: skip


class Usage(NamedTuple):
    """Of original and of attack words: the median of occurrences, the share typical of the true class."""

    old: tuple[float, float]
    new: tuple[float, float]


WORDS: Final = {  # the same, table 8
    "ag_news": {
        "textfooler": Usage((736, 67.31), (18, 24.63)),
        "pwws": Usage((889, 60.04), (24, 16.06)),
        "bert-attack": Usage((585, 65.92), (344, 22.91)),
        "bae": Usage((617, 52.66), (4, 9.31)),
    },
    "yelp": {
        "textfooler": Usage((4240, 72.79), (19, 44.60)),
        "pwws": Usage((5715, 74.56), (13, 33.76)),
        "bert-attack": Usage((4521, 75.27), (3398, 35.55)),
        "bae": Usage((4601, 76.03), (44, 41.87)),
    },
}


class Baseline(NamedTuple):
    """Accuracy under attack, success rate and queries."""

    under_attack: float
    success: float
    queries: float


DEFENDER: Final = {  # Li et al. 2021, the baselines of tables 2 and 3; BERT-base
    "ag_news": {
        "textfooler": Baseline(19.1, 79.6, 317.4),
        "textbugger": Baseline(23.5, 75.0, 320.6),
        "bert-attack": Baseline(27.2, 71.0, 338.8),
    },
    "imdb": {
        "textfooler": Baseline(10.3, 88.8, 488.2),
        "textbugger": Baseline(5.3, 94.3, 438.5),
        "bert-attack": Baseline(5.8, 93.7, 412.4),
    },
}
DEFENDER_CLEAN: Final = {"ag_news": 94.5, "imdb": 92.1}


class Single(NamedTuple):
    """Seconds, shares of texts and of words with a fooling swap, the distance of the closest."""

    seconds: float
    texts: float
    words: float
    distance: tuple[float, float]


MCTS_SINGLE: Final = {  # La Malfa et al. 2020, table 7, GloVe of 50 dimensions; SST where ours is MR
    "mr": Single(11.94, 81.1, 37.4, (0.385, 0.024)),
    "ag_news": Single(19.25, 22.4, 10.8, (0.438, 0.042)),
    "imdb": Single(39.61, 39.7, 5.1, (0.39, 0.016)),
}
MCTS_SEVERAL: Final = {  # table 8: for 2, 3 and 4 swaps the shares of texts and of words
    "mr": {2: (89.4, 58.0), 3: (96.4, 70.8), 4: (97.6, 76.5)},
    "ag_news": {2: (31.4, 15.8), 3: (33.7, 16.8), 4: (37.0, 19.7)},
    "imdb": {2: (43.8, 17.7), 3: (52.0, 21.6), 4: (57.5, 24.5)},
}


class Attacked(NamedTuple):
    """Texts attacked, successes, wins, and the percentage of words swapped."""

    attacks: int
    succeeded: int
    wins: int
    swapped: float


PDP: Final = {  # Yang et al. 2022, table 2; BERT-base where ours is MiniLM
    ("mr", "bilstm"): {
        "sem-pso": Attacked(880, 636, 0, 10.64),
        "textfooler": Attacked(880, 484, 0, 12.09),
        "pdp": Attacked(880, 655, 33, 10.44),
    },
    ("mr", "minilm"): {
        "sem-pso": Attacked(956, 580, 0, 12.10),
        "textfooler": Attacked(956, 323, 0, 13.96),
        "pdp": Attacked(956, 621, 30, 11.80),
    },
    ("imdb", "bilstm"): {
        "sem-pso": Attacked(1000, 947, 0, 4.58),
        "textfooler": Attacked(1000, 854, 0, 6.78),
        "pdp": Attacked(1000, 989, 599, 3.11),
    },
    ("imdb", "minilm"): {
        "sem-pso": Attacked(1000, 871, 0, 4.31),
        "textfooler": Attacked(1000, 714, 0, 8.47),
        "pdp": Attacked(1000, 899, 498, 2.87),
    },
    ("snli", "bilstm"): {
        "sem-pso": Attacked(1000, 505, 0, 15.99),
        "textfooler": Attacked(1000, 592, 0, 15.76),
        "pdp": Attacked(1000, 764, 31, 14.91),
    },
    ("snli", "minilm"): {
        "sem-pso": Attacked(1000, 587, 0, 16.10),
        "textfooler": Attacked(1000, 636, 0, 15.83),
        "pdp": Attacked(1000, 845, 30, 15.09),
    },
}
