"""The VICTIM argument in all its forms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unfooled import victims
from unfooled.errors import InputError
from unfooled.victims import FORMS, load


@pytest.mark.parametrize("spec", ["nonsense", "bert-base-uncased", "absent/folder", "sk:model", ""])
def test_unknown_forms_are_answered_with_the_known_ones(
    spec: str, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(InputError) as caught:
        load(spec)
    assert FORMS in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folders_and_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("{]")
    with pytest.raises(InputError, match="holds no model"):
        load(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="no victim"):
        load(tmp_path / "notes.txt")


@pytest.mark.parametrize(
    ("spec", "options", "said"),
    [
        ("python:json:dumps", {"device": "cpu"}, "no option 'device'.*no options but labels"),
        ("sklearn:m.skops", {"timeout": 3}, "no option 'timeout'.*takes trusted"),
        ("http://host/", {"dtype": "float16"}, "no option 'dtype'.*takes timeout"),
        ("hf:owner/name", {"trusted": ["x"]}, "no option 'trusted'.*takes device, dtype"),
    ],
)
def test_options_of_another_kind_are_refused(spec: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(spec, **options)


def test_a_folder_saved_by_train(tmp_path: Path) -> None:
    import torch

    from unfooled import models
    from unfooled.victims.words import WordVictim

    words = models.Vocabulary(("good", "film"))
    config = models.ModelConfig("cnn", entries=len(words), classes=2, dimensions=4, units=3)
    torch.manual_seed(0)
    made = models.WordModel(models.build(config).eval(), words, ("no", "yes"), config)
    models.save(made, tmp_path / "model")
    loaded = load(tmp_path / "model", device="cpu")
    assert isinstance(loaded, WordVictim)
    assert loaded.labels == ("no", "yes")
    assert loaded.scores(["good film"]).shape == (1, 2)
    with pytest.raises(InputError, match="no option 'dtype'"):
        load(tmp_path / "model", dtype="float16")


def test_the_package_exports_what_it_says_without_torch() -> None:
    assert all(hasattr(victims, name) for name in victims.__all__)
    code = (
        "import sys; from unfooled.victims import load, victim; victim(len, 2);"
        "print(sorted({'torch', 'transformers', 'sklearn'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
