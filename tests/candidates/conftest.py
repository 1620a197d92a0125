"""The tiny resources as options of the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiny_lexicon import write_stopwords, write_tagger, write_vectors, write_wordnet


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Paths by the name of the option that takes them."""
    folder: Path = tmp_path_factory.mktemp("lexicon")
    return {
        "wordnet": str(write_wordnet(folder / "wordnet")),
        "tagger": str(write_tagger(folder / "tagger.json")),
        "stopwords": str(write_stopwords(folder / "stop.txt")),
        "vectors": str(write_vectors(folder / "vectors.txt")),
    }
