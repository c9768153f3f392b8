"""The kernel SVD beside NumPy's."""
import numpy as np
import pytest
import scipy.sparse as sp

from lopsided import KernelSVD

rng = np.random.default_rng(0)
X, Z = rng.standard_normal((60, 3)), rng.standard_normal((45, 3))


def rbf(A, B, gamma=0.3):
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(-1))


def test_triplets_are_those_of_the_kernel_matrix():
    model = KernelSVD(5, kernel="rbf", gamma=0.3, solver="exact").fit(X, Z=Z)
    U, S, Vt = np.linalg.svd(rbf(X, Z))
    np.testing.assert_allclose(model.singular_values_, S[:5], rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(model.row_vectors_ * U[:, :5], axis=0)), 1, atol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(model.col_vectors_ * Vt[:5].T, axis=0)), 1, atol=1e-10)


def test_new_rows_and_columns_are_projected():
    model = KernelSVD(4, kernel="rbf", gamma=0.3, solver="exact").fit(X, Z=Z)
    new = rng.standard_normal((7, 3))
    rows = rbf(new, Z) @ model.col_vectors_ / model.singular_values_
    cols = rbf(X, new).T @ model.row_vectors_ / model.singular_values_
    np.testing.assert_allclose(model.transform(new), rows, atol=1e-12)
    np.testing.assert_allclose(model.transform_columns(new), cols, atol=1e-12)
    np.testing.assert_allclose(model.transform(X), model.row_vectors_, atol=1e-10)


@pytest.mark.parametrize("scaling", ["none", "sqrt", "full"])
def test_scaling_multiplies_features(scaling):
    model = KernelSVD(4, kernel="rbf", scaling=scaling)
    features = model.fit_transform(X, Z=Z)
    power = {"none": 0, "sqrt": 0.5, "full": 1}[scaling]
    np.testing.assert_allclose(features, model.row_vectors_ * model.singular_values_**power, atol=1e-12)


def test_without_z_the_kernel_runs_over_x_twice():
    one, two = KernelSVD(4, kernel="sne").fit(X), KernelSVD(4, kernel="sne").fit(X, Z=X.copy())
    np.testing.assert_array_equal(one.row_vectors_, two.row_vectors_)


def test_a_precomputed_matrix_is_rectangular():
    G = rbf(X, Z)
    model = KernelSVD(4, kernel="precomputed", solver="exact").fit(G)
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(G)[1][:4], rtol=1e-12)
    np.testing.assert_allclose(model.transform(G), model.row_vectors_, atol=1e-10)
    np.testing.assert_allclose(model.transform_columns(G.T), model.col_vectors_, atol=1e-10)


def test_rows_are_compared_with_columns_of_a_matrix():
    A = rng.standard_normal((20, 12))
    model = KernelSVD(3, kernel="rbf", compat="pca").fit(A)
    assert model.row_vectors_.shape == (20, 3) and model.col_vectors_.shape == (12, 3)
    np.testing.assert_allclose(model.transform(A), model.row_vectors_, atol=1e-8)
    np.testing.assert_allclose(model.transform_columns(A.T), model.col_vectors_, atol=1e-8)


def k_of_samples(x, z):
    return float(np.exp(-0.3 * np.sum((x - z) ** 2)))


@pytest.mark.parametrize("kernel", [k_of_samples, lambda A, B: rbf(np.asarray(A), np.asarray(B))])
def test_kernels_may_be_functions(kernel):
    ours, theirs = KernelSVD(4, kernel="rbf", gamma=0.3).fit(X, Z=Z), KernelSVD(4, kernel=kernel).fit(X, Z=Z)
    np.testing.assert_allclose(theirs.transform(X[:5] + 1), ours.transform(X[:5] + 1), atol=1e-10)
    np.testing.assert_allclose(theirs.transform_columns(Z[:5] + 1), ours.transform_columns(Z[:5] + 1), atol=1e-10)


def test_sparse_samples_give_what_dense_ones_give():
    S = sp.random(80, 30, density=0.2, random_state=0, format="csc")
    dense, sparse = (KernelSVD(4, kernel="rbf", tol=1e-12).fit(A) for A in (S.toarray(), S))
    np.testing.assert_allclose(sparse.singular_values_, dense.singular_values_, rtol=1e-8)
    np.testing.assert_allclose(sparse.transform(S[:5]), dense.transform(S[:5].toarray()), atol=1e-7)


def test_single_precision_stays_single():
    model = KernelSVD(3, kernel="rbf").fit(X.astype(np.float32))
    assert model.singular_values_.dtype == np.float32 and model.transform(X).dtype == np.float32


def test_the_model_is_the_same_after_saving_and_loading(tmp_path):
    model = KernelSVD(4, kernel="sne", center=True).fit(X, Z=Z)
    model.save(tmp_path / "model")
    again = KernelSVD.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.transform_columns(Z), model.transform_columns(Z))
