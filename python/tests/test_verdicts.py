"""Predictions that tell nothing are said to, at the caller's line, as the shell says it."""
import warnings

import numpy as np
import pytest
from common import clusters

from lopsided import KernelRidge, LSSVMClassifier
from lopsided._verdicts import auroc


def fitted(machine, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return machine.fit(X, y)


def test_predictions_of_one_class_are_said():
    X, y = clusters(150)
    machine = fitted(LSSVMClassifier(), X, y)
    alike = np.repeat(X[:1], 30, axis=0)
    with pytest.warns(UserWarning, match="all 30 predictions are `.*`: the model tells these samples not apart") as told:
        machine.predict(alike)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.predict(alike[:5])
        machine.predict(X)


def test_scores_below_chance_are_said():
    X, y = clusters(150)
    two = np.isin(y, np.unique(y)[:2])
    X, y = X[two], y[two]
    machine = fitted(LSSVMClassifier(), X, y)
    first, second = np.unique(y)
    with pytest.warns(UserWarning, match="AUROC 0.* is below chance") as told:
        machine.score(X, np.where(y == first, second, first))
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert machine.score(X, y) > 0.9


def test_values_that_their_mean_predicts_better_are_said():
    X = np.linspace(0, 1, 60)[:, None]
    machine = fitted(KernelRidge(), X, X[:, 0])
    with pytest.warns(UserWarning, match="R² is -.*: the mean of the values alone predicts them better") as told:
        assert machine.score(X, 1 - X[:, 0]) < 0
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert machine.score(X, X[:, 0]) > 0.9


def test_equal_scores_count_half():
    positive = np.array([True, False, True, False])
    assert auroc(positive, np.array([1.0, 1.0, 2.0, 0.0])) == 0.875
    assert auroc(positive, np.zeros(4)) == 0.5
