"""Training from a data set to a folder, on toy data that every network can learn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from toy_models import sentences, toy_set

from unfooled import models
from unfooled.data import Dataset
from unfooled.errors import InputError, Unsupported
from unfooled.models import Network, Training, WordModel, accuracy, load, logits, train
from unfooled.models.config import ARCHITECTURES
from unfooled.models.encoding import Batch
from unfooled.models.words import cross_entropy
from unfooled.text import Example, Text

FAST = {"progress": False, "lr": 5e-3, "batch": 16}


@pytest.fixture(scope="module")
def trained(toy: Dataset, vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Training:
    out = tmp_path_factory.mktemp("trained") / "cnn"
    return train("cnn", toy, out=out, vectors=vectors, epochs=6, **FAST)


@pytest.mark.parametrize("arch", ["mlp", "cnn", "cnn-msr", "lstm", "bilstm"])
def test_every_network_learns_the_toy_data(
    arch: str, toy: Dataset, toy_test: Dataset, vectors: Path, tmp_path: Path
):
    source = "auto" if arch == "mlp" else vectors
    epochs = 15 if arch == "mlp" else 5
    result = train(arch, toy, out=tmp_path / "model", vectors=source, epochs=epochs, **FAST)
    assert result.accuracy(toy_test) >= 0.9
    assert result.dev_accuracy is not None
    assert result.dev_accuracy > 0.7  # of 26 texts


def test_the_saved_model_is_the_trained_one(trained: Training, toy_test: Dataset):
    found = load(trained.folder)
    texts = [example.text for example in toy_test.examples]
    assert torch.equal(logits(found, texts), logits(trained.model, texts))
    assert accuracy(found, toy_test) == trained.accuracy(toy_test)
    assert found.labels == ("negative", "positive")


def test_the_config_tells_how_it_was_trained(trained: Training, vectors: Path):
    notes = json.loads((trained.folder / "config.json").read_text())["training"]
    assert notes["vectors"] == str(vectors)
    assert (notes["seed"], notes["lr"], notes["batch"]) == (0, 5e-3, 16)
    assert notes["kept_epoch"] == trained.kept + 1
    assert notes["dev_accuracy"] == trained.dev_accuracy
    assert trained.seconds > 0


def test_pairs_are_learned_by_a_model_that_sees_both_sides(
    toy_pairs: Dataset, vectors: Path, tmp_path: Path
):
    result = train(
        "bilstm", toy_pairs, out=tmp_path / "m", vectors=vectors, epochs=8, dev=toy_pairs, **FAST
    )
    assert isinstance(result.model, WordModel)
    assert result.model.config.pair
    assert result.accuracy(toy_pairs) >= 0.9  # either side alone would give a half


def test_a_word_with_a_vector_is_known_though_no_text_has_it(trained: Training):
    assert isinstance(trained.model, WordModel)
    superb, great, unheard = trained.model.vocabulary.ids(["superb", "great", "unheard"])
    assert superb > 1
    assert unheard == 1
    assert superb != great


def test_trained_vectors_move_only_for_the_words_of_the_texts(trained: Training, vectors: Path):
    assert isinstance(trained.model, WordModel)
    words = (vectors / "words.txt").read_text().split()
    before = torch.from_numpy(np.load(vectors / "vectors.npy"))
    after = trained.model.network.embedding.weight[trained.model.vocabulary.ids(words)]
    moved = (after != before).any(dim=1)
    assert not moved[words.index("superb")]
    assert moved[words.index("great")]


def test_frozen_vectors_stay(toy: Dataset, vectors: Path, tmp_path: Path):
    result = train("cnn", toy, out=tmp_path / "m", vectors=vectors, frozen=True, epochs=1, **FAST)
    assert isinstance(result.model, WordModel)
    words = (vectors / "words.txt").read_text().split()
    after = result.model.network.embedding.weight[result.model.vocabulary.ids(words)]
    np.testing.assert_array_equal(after.numpy(), np.load(vectors / "vectors.npy"))


@pytest.mark.parametrize("arch", ["cnn", "bilstm"])
def test_same_seed_same_weights_other_seed_other_weights(
    arch: str, toy: Dataset, vectors: Path, tmp_path: Path
):
    def weights(seed: int, name: str) -> bytes:
        out = tmp_path / name
        train(arch, toy, out=out, vectors=vectors, epochs=2, seed=seed, **FAST)
        return (out / "model.safetensors").read_bytes()

    first = weights(4, "first")
    torch.manual_seed(99)  # the state outside must not matter
    assert weights(4, "second") == first
    assert weights(5, "third") != first


def test_training_leaves_the_random_state_alone(toy: Dataset, vectors: Path, tmp_path: Path):
    before = torch.get_rng_state()
    train("cnn", toy, out=tmp_path / "m", vectors=vectors, epochs=1, **FAST)
    assert torch.equal(torch.get_rng_state(), before)


def test_early_stopping_can_be_switched_off(toy: Dataset, vectors: Path, tmp_path: Path):
    options = {"vectors": vectors, "epochs": 3, "early_stopping": False, **FAST}
    result = train("cnn", toy, out=tmp_path / "m", **options)
    assert (len(result.history), result.kept, result.dev_accuracy) == (3, 2, None)
    measured = train("cnn", toy, out=tmp_path / "m", dev=toy, **options)
    assert (len(measured.history), measured.kept) == (3, 2)
    assert measured.dev_accuracy == measured.accuracy(toy)


def test_the_dev_accuracy_is_that_of_the_saved_weights(
    toy: Dataset, toy_test: Dataset, vectors: Path, tmp_path: Path
):
    result = train("cnn", toy, out=tmp_path / "m", dev=toy_test, vectors=vectors, epochs=3, **FAST)
    assert result.dev_accuracy == accuracy(load(tmp_path / "m"), toy_test)


def test_a_defence_replaces_the_loss(toy: Dataset, vectors: Path, tmp_path: Path):
    seen: list[int] = []

    def flipped(network: Network, batch: Batch, labels: torch.Tensor) -> torch.Tensor:
        seen.append(len(labels))
        return cross_entropy(network, batch, 1 - labels)

    result = train(
        "cnn",
        toy,
        out=tmp_path / "m",
        vectors=vectors,
        epochs=3,
        defence=flipped,
        early_stopping=False,
        **FAST,
    )
    assert sum(seen) == 3 * len(toy.examples)
    assert result.accuracy(toy) < 0.2


def test_texts_are_cut_at_the_most_words(vectors: Path, tmp_path: Path):
    late = toy_set(
        Example(Text.parse("film " * 4 + word), label, f"{label}{number}")
        for label, word in enumerate(("bad", "good"))
        for number in range(8)
    )
    result = train(
        "lstm", late, out=tmp_path / "m", vectors=vectors, max_length=4, epochs=1, dev=late, **FAST
    )
    assert result.accuracy(late) == 0.5  # all texts read the same
    assert load(tmp_path / "m").config.max_words == 4


def test_learned_vectors_have_the_papers_size(toy: Dataset, tmp_path: Path):
    result = train("mlp", toy, out=tmp_path / "m", epochs=1, **FAST)
    assert isinstance(result.model, WordModel)
    assert (result.model.config.dimensions, result.model.config.max_words) == (2, 200)


def test_several_classes(vectors: Path, tmp_path: Path):
    data = toy_set(
        (
            Example(Text.parse(f"the {word} {place}"), label, f"{word}-{place}")
            for label, word in enumerate(("film", "plot", "story"))
            for place in ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
        ),
        ("film", "plot", "story"),
    )
    result = train("cnn", data, out=tmp_path / "m", vectors=vectors, epochs=10, dev=data, **FAST)
    assert result.accuracy(data) == 1.0


def test_an_unknown_architecture_gets_a_suggestion(toy: Dataset, tmp_path: Path):
    with pytest.raises(InputError, match="did you mean 'bilstm'"):
        train("bilsm", toy, out=tmp_path / "m", **FAST)


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there_is_named(toy: Dataset, tmp_path: Path, device: str):
    with pytest.raises(InputError, match=f"'{device}' cannot be used"):
        train("cnn", toy, out=tmp_path / "m", device=device, **FAST)


def test_frozen_vectors_must_come_from_somewhere(toy: Dataset, tmp_path: Path):
    with pytest.raises(InputError, match="give vectors"):
        train("mlp", toy, out=tmp_path / "m", frozen=True, **FAST)
    with pytest.raises(InputError, match="give vectors"):
        train("cnn", toy, out=tmp_path / "m", vectors=None, frozen=True, **FAST)


def test_a_place_that_holds_other_files_is_refused_before_the_work(toy: Dataset, tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not overwritten"):
        train("cnn", toy, out=tmp_path, vectors="no such vectors", **FAST)


@pytest.mark.parametrize(
    "option", [{"vectors": "glove-50"}, {"frozen": True}, {"defence": cross_entropy}]
)
def test_options_of_word_models_are_not_ignored_for_encoders(
    toy: Dataset, tmp_path: Path, option: dict
):
    with pytest.raises(Unsupported, match=next(iter(option))):
        train("hf:anything", toy, out=tmp_path / "m", **FAST, **option)


def test_accuracy_refuses_other_labels_and_no_examples(trained: Training, toy: Dataset):
    with pytest.raises(InputError, match="same order"):
        trained.accuracy(toy_set(toy.examples, ("positive", "negative")))
    with pytest.raises(InputError, match="at least one"):
        trained.accuracy(toy_set(()))


def test_accuracy_counts_what_the_logits_say(trained: Training):
    data = sentences(31, seed=9)
    guesses = logits(trained.model, [example.text for example in data.examples]).argmax(dim=1)
    right = sum(int(g) == e.label for g, e in zip(guesses, data.examples, strict=True))
    assert accuracy(trained.model, data) == pytest.approx(right / 31)


def test_logits_come_in_the_order_of_the_texts(trained: Training):
    texts = [example.text for example in sentences(300, seed=11).examples]  # several batches
    together = logits(trained.model, texts)
    alone = torch.cat([logits(trained.model, [text]) for text in texts[::37]])
    torch.testing.assert_close(together[::37], alone, atol=1e-6, rtol=0)


def test_the_door_lists_what_it_opens():
    assert sorted(models.__all__) == sorted(models._HOMES)
    for name in models.__all__:
        assert getattr(models, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing"):
        _ = models.nothing


@pytest.mark.slow
@pytest.mark.assets("mr", "glove-50")
@pytest.mark.parametrize("arch", ["cnn", "bilstm"])
def test_the_reference_models_reach_their_accuracy_on_mr(arch: str, asset, tmp_path: Path):
    from unfooled.data import load as load_data

    asset("mr"), asset("glove-50")
    parts = {name: load_data("mr", split=name) for name in ("train", "dev", "test")}
    result = train(arch, parts["train"], dev=parts["dev"], out=tmp_path / arch, progress=False)
    assert result.accuracy(parts["test"]) >= 0.74
    assert set(ARCHITECTURES) >= {arch}
