"""ModelConfig: what it accepts, and that it survives JSON."""

from __future__ import annotations

import json

import pytest

from unfooled.errors import InputError
from unfooled.models import ModelConfig
from unfooled.models.config import ARCHITECTURES


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_config_survives_json(arch: str):
    config = ModelConfig(arch, 30, 2, dimensions=4, units=7, pair=True, max_words=11, dropout=0.1)
    assert ModelConfig.from_dict(json.loads(json.dumps(config.as_dict()))) == config


def test_an_unknown_architecture_gets_a_suggestion():
    with pytest.raises(InputError, match="did you mean 'bilstm'"):
        ModelConfig("bi-lstm", 30, 2)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("entries", 1),
        ("classes", 1),
        ("dimensions", 0),
        ("units", -3),
        ("max_words", 0),
        ("units", 1.5),
        ("units", True),
        ("units", "64"),
        ("dropout", 1.0),
        ("dropout", "0.5"),
        ("pair", "yes"),
    ],
)
def test_a_bad_value_is_named(field: str, value: object):
    values = ModelConfig("cnn", 30, 2).as_dict() | {field: value}
    with pytest.raises(InputError, match=field):
        ModelConfig.from_dict(values)


def test_unknown_and_missing_fields_are_named():
    values = ModelConfig("cnn", 30, 2).as_dict()
    with pytest.raises(InputError, match=r"'unit'.*did you mean 'units'"):
        ModelConfig.from_dict(values | {"unit": 3})
    del values["dropout"]
    with pytest.raises(InputError, match="lacks dropout"):
        ModelConfig.from_dict(values)


def test_a_folder_saved_before_there_were_layers_has_one():
    values = ModelConfig("mlp", 30, 2).as_dict()
    del values["layers"]
    assert ModelConfig.from_dict(values).layers == 1


def test_layers_are_those_of_mlp_and_dan():
    assert ModelConfig("dan", 30, 2, layers=3).layers == 3
    with pytest.raises(InputError, match="layers is an option of mlp and dan"):
        ModelConfig("cnn", 30, 2, layers=2)


def test_two_dimensional_filters_need_three_dimensions():
    with pytest.raises(InputError, match="3x3"):
        ModelConfig("cnn-msr", 30, 2, dimensions=2)
    assert ModelConfig("cnn-msr", 30, 2, dimensions=3).dimensions == 3
