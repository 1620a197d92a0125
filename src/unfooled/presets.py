"""Presets: the limits, candidates and options under which papers compare attacks. Data, not code.

Any attack runs under any preset. The numbers are the papers', each with the place where it stands.
What differs for all presets is in `VECTORS` and `ENCODER`, what differs for one in its `differs`.

Defender: Li et al. 2021, Searching for an Effective Defender. BERT is Robust: Hauser et al. 2021, whose
attacks are those of TextAttack, so what the paper leaves open (parts of speech, windows) is TextAttack's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from unfooled.errors import InputError, did_you_mean
from unfooled.limits import Limits
from unfooled.spellings import (
    AUTHORS,
    BAE,
    MASKED,
    MASKED_OUT,
    NEAREST,
    SAME_POS,
    SYNONYMS,
    TYPOS,
)

VECTORS: Final = (
    "Word vectors are glove-50-counter-fitted, built here from GloVe and WordNet; the papers' are "
    "counter-fitted Paragram vectors. Neighbours are looked for among the 50,000 most frequent words."
)
ENCODER: Final = (
    "Sentences are compared by the multilingual Universal Sentence Encoder; the papers' is English. "
    "A limit of similarity is to the original text and holds in texts of any length; TextAttack does "
    "not check texts below its window of 15 words. Shares of words are rounded down; TextAttack's up."
)


@dataclass(frozen=True)
class Setting:
    """What an attack gets: a spec of candidates, limits, and options of its own.

    `{k}` in the spec is `max_candidates`, so that more of them can be asked for than the preset has.
    """

    candidates: str
    limits: Limits
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Preset:
    """A setting for every attack, and those that some attacks have of their own, by name."""

    name: str
    about: str
    paper: str  # where the numbers stand
    every: Setting
    own: Mapping[str, Setting] = field(default_factory=dict)
    differs: str = ""

    def setting(self, attack: str) -> Setting:
        """What the attack of that name gets."""
        names = {_bare(name): setting for name, setting in self.own.items()}
        return names.get(_bare(attack), self.every)


def get(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise InputError(f"there is no preset {name!r}; {did_you_mean(str(name), PRESETS)}")
    return PRESETS[name]


def _bare(attack: str) -> str:
    """A name however it is written: bert-attack, bert_attack, BertAttack."""
    return attack.replace("-", "").replace("_", "").lower()


# --- the sources --------------------------------------------------------------------------------

_TEXTFOOLER = f"{NEAREST.format(k=50)},{AUTHORS}{SAME_POS}"  # how near is a limit of the presets

# --- Li et al. 2021 -----------------------------------------------------------------------------


def _defender(name: str, *, about: str, max_rate: float) -> Preset:
    limits = Limits(
        max_rate=max_rate,
        max_candidates=50,
        max_queries="50x",
        min_similarity=0.84,
        similarity="angular",
        encoder="use",
    )
    return Preset(
        name,
        about,
        f"Defender, section 3.2: ρ_max = {max_rate}, K_max = 50, Q_max = K_max × L, ε_min = 0.84",
        Setting(NEAREST, limits),
        own={
            "deepwordbug": Setting(TYPOS, limits),
            # Its own share of the words would be a second ρ_max.
            "bert-attack": Setting(MASKED, limits, {"max_share": None}),
            "bae": Setting(MASKED_OUT, limits),
        },
        differs="ε_min is angular (a cosine of 0.876), as in TextAttack, from which the paper has it, and of whole texts, as "
        "in its equation 1; its code compares 15 words with the text before the swap (window 15, reference "
        "previous, where an attack has a rule for its steps). Neighbours are "
        "by counter-fitted vectors, as in its code; the text says GloVe. BAE is not in the paper. "
        "K_max below or above 50 leaves Q_max where it is.",
    )


# --- Hauser et al. 2021 -------------------------------------------------------------------------


_PREVIOUS: Final = {"step_similarity": 0.878, "step_window": 15, "reference": "previous"}
_MOST_SIMILAR: Final = {  # of those that fool; how similar they must be is the limit's affair
    "step_similarity": -1.0,
    "step_window": 15,
    "reference": "original",
}


def _textfooler(name: str, *, word: float, sentence: float) -> Preset:
    """TextFooler with adjusted thresholds: never compared with a text before a swap."""
    limits = Limits(min_similarity=sentence, encoder="use", window=15, min_word_cosine=word)
    return Preset(
        name,
        f"TextFooler, word cosine {word:g}, sentence cosine {sentence:g} with the original",
        "BERT is Robust, table 4 and section 7.1"
        + (" (0.878 to be precise)" if sentence == 0.878 else ""),
        Setting(_TEXTFOOLER, limits),
        own={"textfooler": Setting(_TEXTFOOLER, limits, _MOST_SIMILAR)},
        differs="The words around every swap are compared, at the end too; TextAttack looks at those "
        "around the newest.",
    )


_TF_LIMITS = Limits(min_similarity=0.878, encoder="use", window=15, min_word_cosine=0.5)
_BERT_LIMITS = Limits(max_rate=0.4, min_similarity=0.2, encoder="use")
_BAE_LIMITS = Limits(min_similarity=0.936, encoder="use", window=15)
_OWN_BERT: Final = {"max_share": None}  # max_rate is its share of the words
_MLM_ONCE: Final = (
    "The language model is smaller than BERT unless another is named in the candidates, and reads the "
    "original text; TextAttack's reads the text of every step."
)


def _cv50(preset: Preset, name: str) -> Preset:
    """The attack of a preset with the constraint that the paper adds to it."""

    def near(setting: Setting) -> Setting:
        return replace(setting, limits=replace(setting.limits, min_word_cosine=0.5))

    return replace(
        preset,
        name=name,
        about=f"{preset.about}; word cosine 0.5",
        paper="BERT is Robust, table 3 and section 7; " + preset.paper.partition(", ")[2],
        every=near(preset.every),
        own={attack: near(setting) for attack, setting in preset.own.items()},
    )


_PWWS_PRESET = Preset(
    "pwws",
    "PWWS: all WordNet synonyms",
    "BERT is Robust, table 1 and section 3.1: no additional constraints",
    Setting(SYNONYMS, Limits()),
    differs="A synonym takes the inflected form of the word that it replaces; auxiliary and modal verbs "
    "and words other than nouns, verbs, adjectives and adverbs keep their place.",
)
_PROPOSED = MASKED.format(k=48)
_BERT_ATTACK_PRESET = Preset(
    "bert-attack",
    "BERT-Attack: 48 words of a masked language model, 40 % of the words, sentence cosine 0.2",
    "BERT is Robust, table 1 and section 3.1: 48, 0.4, 0.2",
    Setting(_PROPOSED, _BERT_LIMITS),
    own={"bert-attack": Setting(_PROPOSED, _BERT_LIMITS, _OWN_BERT)},
    differs=_MLM_ONCE,
)
_BAE_PRESET = Preset(
    "bae",
    "BAE: 50 words of a masked language model, sentence cosine 0.936",
    "BERT is Robust, table 1 and section 3.1: 50, 0.936",
    Setting(BAE, _BAE_LIMITS),
    own={"bae": Setting(BAE, _BAE_LIMITS, _MOST_SIMILAR)},
    differs=f"0.936 (TextAttack: 0.936338) is a cosine, as in the paper. {_MLM_ONCE}",
)

_ILP_PRESET = Preset(
    "ilp",
    "ILP paper: GloVe cosine above 0.8, same part of speech, sentence cosine above 0.8 with one word swapped",
    "Robustness Evaluation of Text Classification Models Using Mathematical Optimization, appendix A",
    Setting("ilp", Limits()),
    differs="Static: similarity and part of speech are decided with only that word swapped. GloVe has 50 "
    "dimensions (the paper does not say how many), and at most the 50 nearest words are taken; the "
    "sentence encoder is the multilingual one, the paper's is English. For certifiers: candidates ilp.",
)

_ALL: Final = (
    _defender("defender-agnews", about="the limits for AG News: 30 % of the words", max_rate=0.3),
    _defender("defender-imdb", about="the limits for IMDB: 10 % of the words", max_rate=0.1),
    Preset(
        "textfooler",
        "TextFooler: 50 neighbours, word cosine 0.5, sentence cosine 0.878 with the text before",
        "BERT is Robust, table 1 and section 3.1: 50, 0.5, 0.878 (0.841 as angular similarity)",
        Setting(_TEXTFOOLER, _TF_LIMITS),
        own={
            "textfooler": Setting(
                _TEXTFOOLER,
                Limits(encoder="use", min_word_cosine=0.5),
                _PREVIOUS,
            )
        },
        differs="Attacks other than TextFooler are held to 0.878 with the original, unless reference previous "
        "is asked for, which needs an attack with a rule for its steps.",
    ),
    _PWWS_PRESET,
    _BERT_ATTACK_PRESET,
    _BAE_PRESET,
    Preset(
        "tf-cv50",
        "TextFooler, word cosine 0.5, sentences not compared",
        "BERT is Robust, table 4 and section 7.1",
        Setting(_TEXTFOOLER, Limits(min_word_cosine=0.5)),
    ),
    _textfooler("tf-cv50-use88", word=0.5, sentence=0.878),
    _textfooler("tf-cv70-use85", word=0.7, sentence=0.85),
    _textfooler("tf-cv70-use90", word=0.7, sentence=0.9),
    _textfooler("tf-cv80-use90", word=0.8, sentence=0.9),
    _cv50(_PWWS_PRESET, "pwws-cv50"),
    _cv50(_BERT_ATTACK_PRESET, "bert-attack-cv50"),
    _cv50(_BAE_PRESET, "bae-cv50"),
    _ILP_PRESET,
)
PRESETS: Final[Mapping[str, Preset]] = {preset.name: preset for preset in _ALL}
