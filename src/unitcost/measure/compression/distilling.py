"""Small students that learn what the model answers on inputs without labels: a few minutes of training at most."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import MissingLibrary, UnitcostError
from unitcost.measure.runtimes.running import Array

#: Items that a student learns from, at least for anything to come of it.
LEAST_ITEMS = 50
_SEED = 0
#: Words and pairs of words that a student of texts knows at most.
_TERMS = 20_000
_LOCALE = "C.UTF-8"


def students(teacher_inputs: Mapping[str, Array], said: Array) -> dict[str, Callable[[Path], str | None]]:
    """Students that fit the inputs: name -> function that trains one and writes it.

    Parameters
    ----------
    teacher_inputs
        Inputs without labels; one input.
    said
        What the teacher answered to them: labels, or numbers for a regression.

    Raises
    ------
    UnitcostError
        When there are several inputs, too few items, or the teacher says the same to all.
    """
    if len(teacher_inputs) != 1:
        raise UnitcostError(
            f"the model has {len(teacher_inputs)} inputs and a student has one",
            mend="train a student of your own and measure it",
        )
    [(name, column)] = teacher_inputs.items()
    if len(column) < LEAST_ITEMS or len(np.unique(said)) < 2:
        raise UnitcostError(
            f"{len(column):,} items with {len(np.unique(said)):,} different answers teach nothing",
            mend="give more inputs without labels with --unlabelled",
        )
    if column.dtype.kind in "OUS":
        return {"student-text": lambda to: _text(name, column, said, to)}
    made = {"student-linear": _linear, "student-tree": _tree, "student-network": _network}
    return {key: _student(make, name, column, said) for key, make in made.items()}


def _student(make: Callable[[bool], Any], name: str, column: Array, said: Array) -> Callable[[Path], None]:
    def train(to: Path) -> None:
        flat = np.asarray(column, dtype=np.float32).reshape(len(column), -1)
        estimator = make(_is_number(said))
        _fit(estimator, flat, said)
        _write(estimator, name, flat.shape[1], to)

    return train


def _is_number(said: Array) -> bool:
    return said.dtype.kind == "f" and not np.array_equal(said, np.round(said))


def _linear(is_number: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Ridge() if is_number else LogisticRegression(max_iter=500))


def _tree(is_number: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if is_number else RandomForestClassifier
    return kind(n_estimators=20, max_depth=12, random_state=_SEED, n_jobs=1)


def _network(is_number: bool) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    return (MLPRegressor if is_number else MLPClassifier)(hidden_layer_sizes=(32,), max_iter=150, random_state=_SEED)


def _text(name: str, column: Array, said: Array, to: Path) -> None:
    """Counts of words and pairs of words, and a line per class."""
    _need_sklearn()
    from onnx.helper import make_attribute
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import StringTensorType
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = [str(cell) for cell in np.asarray(column).reshape(-1)]
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=False, max_features=_TERMS, token_pattern="[a-zA-Z0-9']+")
    student = make_pipeline(words, LogisticRegression(max_iter=300, C=10))
    _fit(student, texts, said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = to_onnx(
            student, initial_types=[(name, StringTensorType([None, 1]))], options={"zipmap": False}, target_opset=17
        )
    for node in made.graph.node:
        if node.op_type == "StringNormalizer":  # without it the runtime asks for a locale that many machines lack
            kept = [attribute for attribute in node.attribute if attribute.name != "locale"]
            del node.attribute[:]
            node.attribute.extend([*kept, make_attribute("locale", _LOCALE)])
    to.write_bytes(made.SerializeToString())


def _fit(estimator: Any, inputs: Any, said: Array) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a student need not converge; its quality is measured
        estimator.fit(inputs, said)


def _write(estimator: Any, name: str, features: int, to: Path) -> None:
    _need_sklearn()
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.base import is_classifier

    options = {"zipmap": False} if is_classifier(estimator) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = to_onnx(
            estimator, initial_types=[(name, FloatTensorType([None, features]))], options=options, target_opset=17
        )
    to.write_bytes(made.SerializeToString())


def _need_sklearn() -> None:
    try:
        import skl2onnx  # noqa: F401
    except ImportError:
        raise MissingLibrary("skl2onnx", "measure", "training students") from None
