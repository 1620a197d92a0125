"""scikit-learn pipelines, in memory and in skops files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from skops import io

from unfooled.errors import InputError, VictimError
from unfooled.victims import load, victim

TEXTS = ["good film", "bad film", "fine story", "dull story", "good fun", "bad plot"]
LABELS = ["pos", "neg", "pos", "neg", "pos", "neg"]


def fitted(last: Any, labels: Any = LABELS) -> Any:
    return make_pipeline(CountVectorizer(), last).fit(TEXTS, labels)


def test_probabilities_and_labels_are_the_pipelines() -> None:
    pipeline = fitted(LogisticRegression())
    made = victim(pipeline)
    assert made.labels == ("neg", "pos")
    assert made.scores(TEXTS) == pytest.approx(pipeline.predict_proba(TEXTS))
    assert made.scores([]).shape == (0, 2)
    assert made.fingerprint is None


@pytest.mark.parametrize("last", [LinearSVC(), RidgeClassifier()])
def test_a_binary_decision_becomes_two_scores(last: Any) -> None:
    pipeline = fitted(last)
    scores = victim(pipeline).scores(TEXTS)
    decision = pipeline.decision_function(TEXTS)
    assert scores.tolist() == np.stack([-decision, decision], axis=1).tolist()
    named = np.array(victim(pipeline).labels)[scores.argmax(axis=1)]
    assert named.tolist() == pipeline.predict(TEXTS).tolist()


def test_several_classes_and_number_labels() -> None:
    pipeline = fitted(LinearSVC(), [0, 1, 2, 0, 1, 2])
    made = victim(pipeline)
    assert made.labels == ("0", "1", "2")
    assert made.scores(TEXTS).shape == (6, 3)
    assert victim(pipeline, ["a", "b", "c"]).labels == ("a", "b", "c")
    with pytest.raises(InputError, match="3 classes"):
        victim(pipeline, 2)


def test_what_gives_no_scores_is_refused() -> None:
    with pytest.raises(InputError, match="classes_"):
        victim(make_pipeline(CountVectorizer(), LogisticRegression()))
    outputs = make_pipeline(CountVectorizer(), RandomForestClassifier(3))
    outputs.fit(TEXTS, [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]])
    with pytest.raises((InputError, VictimError)):
        victim(outputs).scores(TEXTS)


def test_a_skops_file_gives_the_same_scores(tmp_path: Path) -> None:
    pipeline = fitted(MultinomialNB())
    io.dump(pipeline, tmp_path / "model.skops")
    made = load(f"sklearn:{tmp_path / 'model.skops'}")
    assert made.scores(TEXTS) == pytest.approx(pipeline.predict_proba(TEXTS))
    assert made.name == "model"
    assert made.fingerprint is not None
    assert load(tmp_path / "model.skops").fingerprint == made.fingerprint
    io.dump(fitted(MultinomialNB(alpha=0.5)), tmp_path / "other.skops")
    assert load(tmp_path / "other.skops").fingerprint != made.fingerprint


def shout(texts: Any) -> Any:
    return [t.upper() for t in texts]


def test_foreign_types_need_trust(tmp_path: Path) -> None:
    steps = [("shout", FunctionTransformer(shout)), ("count", CountVectorizer())]
    pipeline = Pipeline([*steps, ("last", LogisticRegression())]).fit(TEXTS, LABELS)
    file = tmp_path / "model.skops"
    io.dump(pipeline, file)
    with pytest.raises(InputError, match=r"shout.*trusted"):
        load(f"sklearn:{file}")
    trusted = io.get_untrusted_types(file=file)
    assert load(f"sklearn:{file}", trusted=trusted).labels == ("neg", "pos")


@pytest.mark.parametrize("name", ["m.pkl", "m.joblib", "m.pickle", "m.pt", "m.bin"])
@pytest.mark.parametrize("prefix", ["", "sklearn:"])
def test_pickles_are_refused_unread(tmp_path: Path, name: str, prefix: str) -> None:
    (tmp_path / name).write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(InputError, match=r"pickle.*skops.*safetensors"):
        load(f"{prefix}{tmp_path / name}")


def test_broken_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "model.skops").write_text("not a zip")
    with pytest.raises(InputError, match="not a skops file"):
        load(f"sklearn:{tmp_path / 'model.skops'}")
    with pytest.raises(InputError, match="no file"):
        load(f"sklearn:{tmp_path / 'absent.skops'}")


def hypotheses(pairs: Any) -> Any:
    return [hypothesis for _, hypothesis in pairs]


def test_what_the_first_step_reads_is_known_beforehand() -> None:
    assert victim(fitted(MultinomialNB())).pair is False
    steps = [("second", FunctionTransformer(hypotheses)), ("count", CountVectorizer())]
    pairs = [("so", text) for text in TEXTS]
    reads = Pipeline([*steps, ("last", LogisticRegression())]).fit(pairs, LABELS)
    assert victim(reads).pair is True
