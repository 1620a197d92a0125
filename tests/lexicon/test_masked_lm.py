"""Proposals, against one text at a time through transformers' own calls."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from tiny_masked_lm import LINES, write_bert, write_roberta
from unfooled.companions import Proposal, Proposes, Request
from unfooled.errors import InputError, MissingExtra
from unfooled.lexicon import masked_lm
from unfooled.lexicon.masked_lm import MaskedLM
from unfooled.lexicon.masked_networks import fingerprint
from unfooled.text import Text

NOISE = 1e-3  # entries closer than this may change places
WRITERS: dict[str, Callable[[Path], Path]] = {
    "uncased": write_bert,
    "cased": lambda folder: write_bert(folder, lowercase=False, seed=1),
    "bytes": write_roberta,
}
SPACED = ["the film is warm", "nobody watches the football .", "it is a long story about money !"]


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("masked")
    return {name: write(base / name) for name, write in WRITERS.items()}


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, MaskedLM]:
    return {name: masked_lm.load(str(folder)) for name, folder in folders.items()}


class Oracle:
    """AutoModelForMaskedLM and AutoTokenizer, one string at a time."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.network = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()

    def log_probabilities(self, **inputs: Any) -> Any:
        with torch.no_grad():
            return self.network(**inputs).logits[0].log_softmax(-1)

    def masked(self, words: list[str], position: int) -> dict[str, float]:
        """The log-probability of every entry at a word of a text with single spaces."""
        cut = [*words[:position], self.tokenizer.mask_token, *words[position + 1 :]]
        inputs = self.tokenizer(" ".join(cut), return_tensors="pt")
        place = inputs["input_ids"][0].tolist().index(self.tokenizer.mask_token_id)
        return self.entries(self.log_probabilities(**inputs)[place])

    def entries(self, values: Any) -> dict[str, float]:
        tokens = self.tokenizer.convert_ids_to_tokens(range(len(values)))
        return dict(zip(tokens, values.tolist(), strict=True))

    def whole(self, entries: dict[str, float], word: str) -> list[tuple[str, float]]:
        """The whole words by log-probability; of several spellings in case the likeliest."""
        best: dict[str, float] = {}
        for token, value in entries.items():
            plain = token
            if self.tokenizer.mask_token == "<mask>":  # bytes: the lines are ASCII but for marks
                plain = token[1:] if token.startswith("Ġ") and token[1:].isascii() else ""
            if plain.isalpha() and plain.lower() != word.lower():
                lower = plain.lower()
                best[lower] = max(best.get(lower, -math.inf), value)
        return sorted(best.items(), key=lambda item: -item[1])


@pytest.fixture(scope="module")
def oracles(folders: dict[str, Path]) -> dict[str, Oracle]:
    return {name: Oracle(folder) for name, folder in folders.items()}


def agree(found: list[Proposal], expected: list[tuple[str, float]]) -> None:
    """The same scores in order; the same words but for those whose scores are nearly equal."""
    assert [p.score for p in found] == pytest.approx([value for _, value in expected], abs=NOISE)
    table = dict(expected)
    for proposal in found:
        least = expected[-1][1]
        assert table.get(proposal.word.lower(), least) == pytest.approx(proposal.score, abs=NOISE)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("source", SPACED)
def test_masked_proposals_are_the_models(
    models: dict[str, MaskedLM], oracles: dict[str, Oracle], name: str, source: str
) -> None:
    text, words, oracle = Text.parse(source), source.split(), oracles[name]
    positions = range(len(words))
    for position in positions:
        (found,) = models[name].propose([Request(text, position, 7, masked=True)])
        expected = oracle.whole(oracle.masked(words, position), words[position])
        assert len(found) == 7
        agree(found, expected[:7])


def test_a_word_of_several_pieces_is_one_mask(
    models: dict[str, MaskedLM], oracles: dict[str, Oracle]
) -> None:
    words = ["the", "wastefully", "film"]
    assert len(oracles["uncased"].tokenizer.tokenize("wastefully")) > 1
    (found,) = models["uncased"].propose([Request(Text.parse(" ".join(words)), 1, 5)])
    oracle = oracles["uncased"]
    agree(found, oracle.whole(oracle.masked(words, 1), "wastefully")[:5])


def test_unmasked_proposals_are_read_off_the_text_itself(
    models: dict[str, MaskedLM], oracles: dict[str, Oracle]
) -> None:
    oracle, source = oracles["uncased"], "the film is funny"
    inputs = oracle.tokenizer(source, return_tensors="pt")
    assert inputs["input_ids"].shape == (1, 6)  # every word is one piece
    values = oracle.log_probabilities(**inputs)
    text = Text.parse(source)
    found = models["uncased"].propose([Request(text, i, 6, masked=False) for i in range(4)])
    for position, word in enumerate(source.split()):
        agree(found[position], oracle.whole(oracle.entries(values[position + 1]), word)[:6])


def test_pairs_are_read_as_pairs(models: dict[str, MaskedLM], oracles: dict[str, Oracle]) -> None:
    oracle, first, second = oracles["uncased"], "two men are playing", "nobody is playing"
    mask = oracle.tokenizer.mask_token
    inputs = oracle.tokenizer(first, f"nobody is {mask}", return_tensors="pt")
    expected = oracle.whole(oracle.entries(oracle.log_probabilities(**inputs)[-2]), "playing")[:5]
    for editable, position in (("second", 2), ("both", 6)):
        text = Text.pair(first, second, editable=editable)  # type: ignore[arg-type]
        agree(models["uncased"].propose([Request(text, position, 5)])[0], expected)
    inputs = oracle.tokenizer(f"two {mask} are playing", second, return_tensors="pt")
    expected = oracle.whole(oracle.entries(oracle.log_probabilities(**inputs)[2]), "men")[:5]
    text = Text.pair(first, second, editable="first")
    agree(models["uncased"].propose([Request(text, 1, 5)])[0], expected)


def by_perplexity(oracle: Oracle, source: str, word: str) -> list[tuple[str, float]]:
    """BERT-Attack's words for a word of several pieces, with minus log perplexity."""
    words, pieces = source.split(), oracle.tokenizer.tokenize(word)
    before = len(oracle.tokenizer.tokenize(" ".join(words[: words.index(word)])))
    inputs = oracle.tokenizer(source, return_tensors="pt")
    values = oracle.log_probabilities(**inputs)
    values[:, oracle.tokenizer.all_special_ids] = -math.inf
    tops = [values[1 + before + i].topk(4).indices.tolist() for i in range(len(pieces))][:12]
    rated = []
    for ids in list(product(*tops))[:24]:
        alone = oracle.log_probabilities(input_ids=torch.tensor([ids]))
        losses = [-float(alone[i, number]) for i, number in enumerate(ids)]
        perplexity = math.exp(sum(losses) / len(losses))
        joined = " ".join(oracle.tokenizer.convert_ids_to_tokens(ids)).replace(" ##", "")
        rated.append((joined, -math.log(perplexity)))
    rated.sort(key=lambda item: -item[1])
    return [(w, s) for w, s in rated if w.isalpha() and w != word]


def test_words_of_several_pieces_are_ordered_by_perplexity(
    models: dict[str, MaskedLM], oracles: dict[str, Oracle]
) -> None:
    seen, disordered = 0, 0
    tokenizer = oracles["uncased"].tokenizer
    longer = (word + end for word in ("park", "money", "warm", "film", "story") for end in "senrd")
    for word in [*(w for w in longer if len(tokenizer.tokenize(w)) == 2), "parkful", "filmgoer"]:
        for source in (f"the {word} is long", f"a funny {word}", f"{word} never watches"):
            expected = by_perplexity(oracles["uncased"], source, word)
            text = Text.parse(source)
            request = Request(text, text.words.index(word), 24, masked=False)
            (found,) = models["uncased"].propose([request])
            agree(found, expected)
            assert [p.word for p in found] == [w for w, _ in expected]
            seen += len(found)
            disordered += [p.word for p in found] != sorted(p.word for p in found)
    assert seen > 10
    assert disordered


words = st.sampled_from([*" ".join(LINES).split(), "parkful", "naïve", "🙂", "[MASK]", "x" * 30])
texts = st.one_of(st.lists(words, min_size=1, max_size=90).map(" ".join), st.text(max_size=30))


@pytest.mark.parametrize("name", WRITERS)
@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_a_batch_answers_as_each_alone(
    models: dict[str, MaskedLM], name: str, data: st.DataObject
) -> None:
    model = models[name]
    requests = []
    for text in map(Text.parse, data.draw(st.lists(texts, min_size=1, max_size=4))):
        for position in range(min(len(text.words), 3)):
            k, masked = data.draw(st.integers(1, 9)), data.draw(st.booleans())
            requests.append(Request(text, len(text.words) - 1 - position, k, masked))
    together = model.propose(requests)
    assert len(together) == len(requests)
    for request, found in zip(requests, together, strict=True):
        (alone,) = model.propose([request])
        assert [p.word for p in found] == [p.word for p in alone]
        assert [p.score for p in found] == pytest.approx([p.score for p in alone], abs=1e-4)
        assert len(found) <= request.k
        assert all(p.word.isalpha() and p.score <= 0 for p in found)
        word = request.text.words[request.position].lower()
        lower = [p.word.lower() for p in found]
        assert word not in lower
        assert len(set(lower)) == len(lower)
        scores = [p.score for p in found]
        assert all(a >= b - 1e-3 for a, b in pairwise(scores))


def test_every_word_of_a_long_text_is_read(models: dict[str, MaskedLM]) -> None:
    source = "the film is a warm story about people . " * 12  # 108 words, the model reads 64
    text = Text.parse(source)
    for masked in (True, False):
        found = models["uncased"].propose([Request(text, i, 3, masked) for i in range(108)])
        assert all(len(answer) == 3 for answer in found)
    pair = Text.pair(source, source)
    assert all(len(a) == 3 for a in models["uncased"].propose([Request(pair, 107, 3, True)]))


def test_of_a_long_text_the_part_around_the_word_is_read(
    models: dict[str, MaskedLM], oracles: dict[str, Oracle]
) -> None:
    # 62 words fit; steps of 31 with 15 before the word: word 50 is read in the words 31 to 92.
    words = ("the film is a warm story about people . " * 12).split()
    part = words[31:93]
    oracle = oracles["uncased"]
    expected = oracle.whole(oracle.masked(part, 50 - 31), words[50])[:4]
    agree(models["uncased"].propose([Request(Text.parse(" ".join(words)), 50, 4)])[0], expected)


def test_the_promise_of_a_companion(models: dict[str, MaskedLM]) -> None:
    assert isinstance(models["uncased"], Proposes)
    assert models["uncased"].propose([]) == []


def test_bad_requests(models: dict[str, MaskedLM]) -> None:
    text = Text.parse("the film")
    with pytest.raises(InputError, match="position 2 is outside a text of 2 words"):
        models["uncased"].propose([Request(text, 2, 1)])
    with pytest.raises(InputError, match="at least one proposal"):
        models["uncased"].propose([Request(text, 0, 0)])


def test_fingerprints_are_those_of_the_weights(tmp_path: Path) -> None:
    same, other = write_bert(tmp_path / "a"), write_bert(tmp_path / "b", seed=3)
    before = fingerprint(str(same))
    assert before != fingerprint(str(other))
    moved = same.rename(tmp_path / "c")
    assert fingerprint(str(moved)) == before
    assert masked_lm.load(str(moved)).fingerprint == before


def test_models_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="is no Hugging Face masked language model"):
        masked_lm.load(str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="expected owner/name"):
        masked_lm.load("no such model")
    with pytest.raises(InputError, match="device 'nowhere' cannot be used"):
        masked_lm.load(str(write_bert(tmp_path / "a")), device="nowhere")


def test_an_encoder_without_a_head_is_refused(tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "a")
    transformers.AutoModel.from_pretrained(folder).save_pretrained(folder)
    with pytest.raises(InputError, match="not trained to predict masked words"):
        masked_lm.load(str(folder))


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    for module in ("masked_lm", "masked_networks"):
        monkeypatch.delitem(sys.modules, f"unfooled.lexicon.{module}")
    with pytest.raises(MissingExtra, match=r"a masked language model needs.*unfooled\[hf\]"):
        importlib.import_module("unfooled.lexicon.masked_lm")
