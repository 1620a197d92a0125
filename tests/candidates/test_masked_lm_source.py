"""Words in context as candidates."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tiny_lexicon import write_stopwords
from tiny_masked_lm import write_bert
from unfooled.candidates import explain, load
from unfooled.candidates.masked_lm import MaskedLM
from unfooled.companions import Request
from unfooled.errors import InputError
from unfooled.lexicon import masked_lm
from unfooled.lexicon.stopwords import is_stop
from unfooled.text import Text


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("masked")
    stop = write_stopwords(folder / "stop.txt")
    return {"model": str(write_bert(folder / "bert")), "stopwords": str(stop)}


@pytest.mark.parametrize("masked", [True, False])
def test_candidates_are_the_proposals_but_for_stop_words(
    options: dict[str, str], masked: bool
) -> None:
    text = Text.parse("the film never watches people")
    model = masked_lm.load(options["model"])
    source = MaskedLM(k=30, masked=masked, **options)
    (film,) = model.propose([Request(text, 1, 30, masked)])
    kept = [p for p in film if not is_stop(p.word, source._stop)]
    row = source.rows(text)[1]
    assert row.kept == tuple(p.word for p in kept)
    assert 0 < len(kept) < len(film)  # the tiny list has some of the tiny vocabulary
    shown = {c.word: c.similarity for c in row.candidates}
    assert shown == {p.word: pytest.approx(math.exp(p.score)) for p in film}


def test_the_word_itself_is_not_seen_when_masked(options: dict[str, str]) -> None:
    one, other = Text.parse("the film is warm"), Text.parse("the story is warm")
    unseen = MaskedLM(masked=True, k=5, **options)
    both = {"film", "story"}
    assert set(unseen(one)[1]) - both == set(unseen(other)[1][:5]) - both
    seen = MaskedLM(k=5, **options)
    assert set(seen(one)[1]) - both != set(seen(other)[1]) - both


def test_reasons(options: dict[str, str]) -> None:
    rows = explain(MaskedLM(k=2, **options), "the film , 90 minutes !")
    assert [row.reason for row in rows] == [
        "stop word", "", "punctuation", "has a digit", "", "punctuation",
    ]  # fmt: skip
    assert {c.rejected for c in rows[1].candidates} <= {"", "stop word"}


def test_what_is_written_and_what_is_refused(options: dict[str, str]) -> None:
    written = load(f"masked_lm:k=3,model={options['model']},masked=true")
    assert written == MaskedLM(k=3, model=options["model"], masked=True)
    assert load("masked_lm") == MaskedLM(k=48, model="minilm", masked=False)
    with pytest.raises(InputError, match="k is at least 1"):
        MaskedLM(k=0)


def test_the_fingerprint_covers_weights_and_options(
    options: dict[str, str], tmp_path: Path
) -> None:
    other = str(write_bert(tmp_path / "other", seed=5))
    same = str(write_bert(tmp_path / "same"))
    stop = options["stopwords"]
    base = MaskedLM(**options).fingerprint
    assert MaskedLM(model=same, stopwords=stop).fingerprint == base
    changed = [
        MaskedLM(model=other, stopwords=stop),
        MaskedLM(k=3, **options),
        MaskedLM(masked=True, **options),
    ]
    assert len({base, *(source.fingerprint for source in changed)}) == 4


@pytest.mark.assets("minilm", "stopwords")
def test_the_default_fits_the_context() -> None:
    found = MaskedLM(k=10, masked=True)(Text.parse("two men are playing football in the park"))
    assert set(found) == {0, 1, 3, 4, 7}
    assert {"people", "boys", "women", "kids", "children", "girls"} & set(found[1])
