"""Model folders: exact round trips, whole writes, clear refusals."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from toy_models import tiny_model

from unfooled.errors import InputError
from unfooled.models import Vocabulary, WordModel, kind, load, logits, save
from unfooled.models.config import ARCHITECTURES
from unfooled.models.folder import replaced
from unfooled.text import Text

TEXTS = [Text.parse(text) for text in ("a good film", "dull plot , awful film", "", "GREAT")]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save(tiny_model("cnn"), tmp_path / "model")


def edit_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("pair", [False, True])
def test_a_model_comes_back_exactly(tmp_path: Path, arch: str, pair: bool):
    model = tiny_model(arch, pair=pair)
    found = load(save(model, tmp_path / "model"))
    assert (found.labels, found.config, found.vocabulary) == (
        model.labels,
        model.config,
        model.vocabulary,
    )
    texts = [Text.pair("good film", str(text)) for text in TEXTS] if pair else TEXTS
    assert torch.equal(logits(found, texts), logits(model, texts))
    assert not found.network.training


def test_the_folder_holds_three_plain_files(saved: Path):
    assert sorted(file.name for file in saved.iterdir()) == [
        "config.json",
        "model.safetensors",
        "vocabulary.txt",
    ]
    config = json.loads((saved / "config.json").read_text())
    assert config["labels"] == ["a", "b", "c"]
    assert config["model"]["arch"] == "cnn"
    assert "embedding.weight" in load_file(saved / "model.safetensors")


def test_who_may_read_the_config_may_read_the_weights(saved: Path):
    modes = {file.stat().st_mode for file in saved.iterdir()}
    assert len(modes) == 1


def test_notes_about_the_training_are_kept(tmp_path: Path):
    folder = save(tiny_model("cnn"), tmp_path / "model", training={"seed": 3})
    assert json.loads((folder / "config.json").read_text())["training"] == {"seed": 3}


def test_loading_leaves_the_random_state_alone(saved: Path):
    before = torch.get_rng_state()
    load(saved)
    assert torch.equal(torch.get_rng_state(), before)


def test_an_older_model_is_replaced_and_nothing_is_left_beside_it(saved: Path):
    save(tiny_model("lstm"), saved)
    assert load(saved).config.arch == "lstm"
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_an_empty_folder_is_used(tmp_path: Path):
    (tmp_path / "model").mkdir()
    assert load(save(tiny_model("cnn"), tmp_path / "model")).config.arch == "cnn"


def test_other_files_are_never_overwritten(tmp_path: Path):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("years of work")
    with pytest.raises(InputError, match="not overwritten"):
        save(tiny_model("cnn"), folder)
    assert (folder / "chapter.txt").read_text() == "years of work"
    with pytest.raises(InputError, match="is a file"):
        save(tiny_model("cnn"), folder / "chapter.txt")


def test_a_foreign_hugging_face_folder_is_not_overwritten(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="not overwritten"):
        save(tiny_model("cnn"), tmp_path)


def test_a_failed_write_leaves_the_old_model(saved: Path):
    def write_half() -> None:
        with replaced(saved) as new:
            (new / "config.json").write_text("{}")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_half()
    assert load(saved).config.arch == "cnn"
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_kind_tells_word_models_from_hugging_face_folders_and_the_rest(saved: Path, tmp_path: Path):
    assert kind(saved) == "word"
    other = tmp_path / "other"
    other.mkdir()
    assert kind(other) is None
    for content, expected in (("{}", None), ("not json", None), ('{"model_type": "bert"}', "hf")):
        (other / "config.json").write_text(content)
        assert kind(other) == expected
    assert kind(tmp_path / "nowhere") is None


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocabulary.txt"])
def test_a_missing_file_is_named(saved: Path, name: str):
    (saved / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing"):
        load(saved)


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "nowhere")


def test_a_hugging_face_folder_is_sent_to_its_own_loader(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="load_encoder"):
        load(tmp_path)


def test_an_unknown_architecture_is_named(saved: Path):
    sizes = json.loads((saved / "config.json").read_text())["model"]
    edit_config(saved, model=sizes | {"arch": "cnnn"})
    with pytest.raises(
        InputError, match=r"config\.json: unknown architecture 'cnnn'; did you mean"
    ):
        load(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unfooled": 99}, "format 1"),
        ({"labels": "positive"}, "`labels` should be a list"),
        ({"labels": ["a", "b"]}, "3 classes but 2 labels"),
        ({"model": 3}, "`model` should be an object"),
    ],
)
def test_a_config_that_was_tampered_with_is_refused(saved: Path, changes: dict, message: str):
    edit_config(saved, **changes)
    with pytest.raises(InputError, match=message):
        load(saved)


@pytest.mark.parametrize(("content", "message"), [("{", "not valid JSON"), ("[]", "JSON object")])
def test_a_broken_config_is_named(saved: Path, content: str, message: str):
    (saved / "config.json").write_text(content)
    with pytest.raises(InputError, match=message):
        load(saved)


def test_weights_of_another_shape_are_named(saved: Path):
    weights = load_file(saved / "model.safetensors")
    save_file(weights | {"output.bias": torch.zeros(7)}, saved / "model.safetensors")
    with pytest.raises(
        InputError, match=r"output\.bias should have the shape \(3,\), the file has \(7,\)"
    ):
        load(saved)


def test_missing_and_surplus_weights_are_named(saved: Path):
    weights = load_file(saved / "model.safetensors")
    save_file(weights | {"surplus": torch.zeros(7)}, saved / "model.safetensors")
    with pytest.raises(InputError, match=r"surplus .*not part of this network"):
        load(saved)
    del weights["output.bias"]
    save_file(weights, saved / "model.safetensors")
    with pytest.raises(InputError, match=r"output\.bias .*no such weights"):
        load(saved)


def test_a_damaged_weights_file_is_named(saved: Path):
    (saved / "model.safetensors").write_bytes(b"junk")
    with pytest.raises(InputError, match="not a safetensors file"):
        load(saved)


def test_a_vocabulary_of_another_size_is_refused(saved: Path):
    Vocabulary(["one"]).save(saved / "vocabulary.txt")
    with pytest.raises(InputError, match="3 entries, the model expects 12"):
        load(saved)


def test_a_pickle_is_refused_with_what_to_do(saved: Path, tmp_path: Path):
    file = tmp_path / "model.pt"
    file.write_bytes(pickle.dumps({"weights": [1, 2]}))
    with pytest.raises(InputError, match=r"model\.pt is a pickle.*safetensors"):
        load(file)
    (saved / "model.safetensors").rename(saved / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin is a pickle"):
        load(saved)


def test_another_file_is_not_a_model(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match="is a file"):
        load(tmp_path / "notes.txt")


def test_labels_must_fit_the_classes():
    model = tiny_model("cnn")
    with pytest.raises(InputError, match="3 classes but 1 labels"):
        WordModel(model.network, model.vocabulary, ("a",), model.config)
