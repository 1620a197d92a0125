"""Stop words: those that carry grammar rather than meaning.

Two lists can be fetched: NLTK's, `stopwords`, and that of the code of TextFooler, `stopwords-textfooler`,
which BERT-Attack's authors use too. It leaves fewer words to swap: not `however`, `whole` or `please`, but
`have`, `do` and `very`. A list of yours, one word a line, is named by its path: `stopwords=FILE`.
"""

from __future__ import annotations

from functools import lru_cache

from unfooled.errors import InputError
from unfooled.lexicon.resources import locate

# How tokenised corpora write the halves of contractions.
_HALVES = frozenset({"n't", "nt", "ca", "wo", "sha"})


@lru_cache(maxsize=4)
def load(name: str = "stopwords") -> frozenset[str]:
    """The stop words of that asset name, folder or file with one word a line; loaded once."""
    path = locate(name)
    if path.is_dir():
        path = path / "english.txt"
    if not path.is_file():
        raise InputError(f"there is no list of stop words at {path}")
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip().lower() for line in lines if line.strip())


def is_stop(word: str, stop: frozenset[str]) -> bool:
    """Whether a word is a stop word, or half of a contraction such as `'s` and `n't`."""
    word = word.lower().replace("’", "'")
    return word in stop or word.startswith("'") or word in _HALVES
