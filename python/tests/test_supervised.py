"""AsK-LS and LS-SVM beside their equations."""
import numpy as np
import pytest

from common import clusters
from lopsided import AsKLSClassifier, AsKLSRegressor, LSSVMClassifier

X, y = clusters(60, classes=2)


def rbf(A, B, gamma=0.2):
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(-1))


def test_the_ls_svm_solves_its_system():
    sign = np.where(y == 1, 1.0, -1.0)
    K, penalty, n = rbf(X, X), 5.0, len(X)
    system = np.block([[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), K + np.eye(n) / penalty]])
    solution = np.linalg.solve(system, np.concatenate([[0.0], sign]))
    expected = K @ solution[1:] + solution[0]
    machine = LSSVMClassifier(penalty, kernel="rbf", gamma=0.2).fit(X, y)
    np.testing.assert_allclose(machine.decision_function(X), expected, atol=1e-8)


def test_a_symmetric_kernel_makes_both_machines_one():
    ask_ls = AsKLSClassifier(2.0, merge="average", kernel="rbf", gamma=0.2).fit(X, y)
    ls_svm = LSSVMClassifier(2.0, kernel="rbf", gamma=0.2).fit(X, y)
    np.testing.assert_allclose(ask_ls.decision_function(X), ls_svm.decision_function(X), atol=1e-8)


def test_a_precomputed_kernel_takes_rows_and_columns_of_new_samples():
    def kernel(A, B):
        return rbf(A, B) * (1 + 0.1 * np.tanh(A[:, :1]))

    new = X[:7] + 0.3
    given = AsKLSClassifier(kernel="precomputed").fit(kernel(X, X), y)
    function = AsKLSClassifier(kernel=kernel).fit(X, y)
    found = given.decision_function(kernel(new, X), Z=kernel(X, new))
    np.testing.assert_allclose(found, function.decision_function(new), atol=1e-10)
    with pytest.raises(ValueError, match="`cols` is missing"):
        given.predict(kernel(new, X))


def test_probabilities_belong_to_the_classes():
    P = AsKLSClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    with pytest.raises(AttributeError, match="no probabilities"):
        AsKLSClassifier(merge="average").fit(X, y).predict_proba(X)


@pytest.mark.parametrize("labels", [np.array(["a", "b"]), np.array([True, False]), np.array([3, -1]), np.array([2.0, 7.0])])
def test_classes_keep_their_kind_also_in_files(labels, tmp_path):
    machine = LSSVMClassifier().fit(X, labels[y])
    assert set(machine.predict(X)) <= set(labels)
    machine.save(tmp_path / "model")
    again = LSSVMClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), machine.predict(X))


def test_values_are_learned_in_single_precision_too():
    target = np.sin(X[:, 0])
    machine = AsKLSRegressor(100.0, kernel="rbf").fit(X.astype(np.float32), target)
    assert machine.score(X, target) > 0.95
