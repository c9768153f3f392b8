"""Machines with landmarks and their exact baselines, beside scikit-learn's."""
import csv
import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
import sklearn.kernel_ridge
from common import PROGRAM, clusters, program
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

from lopsided import KernelPCA, KernelRidge, NystromFeatures, NystromLogistic, NystromPCA, NystromRidge, NystromSVC

RNG = np.random.default_rng(1)
X, NEW = RNG.standard_normal((300, 4)), RNG.standard_normal((80, 4))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
WEIGHTS = RNG.uniform(0.1, 3.0, len(X))
OWN = np.arange(0, 300, 7)
WORDS = np.array(["few", "more", "many"])[np.digitize(Y, [-0.5, 0.8])]
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "laplacian"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_ridge_regression_is_that_of_scikit_learn_on_centred_targets(kernel, weights):
    mean = np.average(Y, weights=weights)
    theirs = sklearn.kernel_ridge.KernelRidge(alpha=0.3, kernel=kernel).fit(X, Y - mean, sample_weight=weights)
    ours = KernelRidge(alpha=0.3, kernel=kernel).fit(X, Y, sample_weight=weights)
    assert np.abs(ours.predict(NEW) - theirs.predict(NEW) - mean).max() < 1e-8


@pytest.mark.parametrize(
    "ours, theirs",
    [
        ({}, SVC()),
        ({"C": 10, "gamma": 0.2}, SVC(C=10, gamma=0.2)),
        ({"kernel": "poly"}, SVC(kernel="poly")),
        ({"kernel": "linear"}, SVC(kernel="linear")),
        ({"class_weight": "balanced"}, SVC(class_weight="balanced")),
        ({"class_weight": {"few": 3.0, "many": 0.5}}, SVC(class_weight={"few": 3.0, "many": 0.5})),
        ({"nu": 0.2}, NuSVC(nu=0.2)),
    ],
)
@pytest.mark.parametrize("approach", ["exact", "lla"])
def test_support_vector_machines_are_those_of_scikit_learn(ours, theirs, approach):
    # All samples are landmarks here, so that the linear machine on them is the kernel machine.
    machine = NystromSVC(**ours, approach=approach, tol=1e-6).fit(X, WORDS)
    theirs.set_params(tol=1e-6, break_ties=True).fit(X, WORDS)
    assert list(machine.classes_) == list(theirs.classes_)
    assert np.abs(machine.decision_function(NEW) - theirs.decision_function(NEW)).max() < 1e-3
    assert (machine.predict(NEW) == theirs.predict(NEW)).mean() >= 0.98


def test_two_classes_have_one_decision_value_and_weights_count():
    y, machine = Y > 0, NystromSVC(approach="exact", tol=1e-6)
    theirs = SVC(tol=1e-6).fit(X, y, sample_weight=WEIGHTS)
    values = machine.fit(X, y, sample_weight=WEIGHTS).decision_function(NEW)
    assert values.shape == (80,) and np.abs(values - theirs.decision_function(NEW)).max() < 1e-3
    assert machine.predict(NEW).dtype == bool


def test_logistic_regression_is_that_of_scikit_learn_on_the_features():
    machine = NystromLogistic(C=2.0, gamma=0.2, landmarks=OWN, tol=1e-10).fit(X, WORDS)
    features = NystromFeatures(gamma=0.2, landmarks=OWN).fit(X)
    theirs = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(features.transform(X), WORDS)
    assert np.abs(machine.predict_proba(NEW) - theirs.predict_proba(features.transform(NEW))).max() < 1e-4


def test_components_are_those_of_scikit_learn_up_to_sign():
    ours = KernelPCA(4, gamma=0.2).fit(X)
    theirs = sklearn.decomposition.KernelPCA(4, kernel="rbf", gamma=0.2, eigen_solver="dense").fit(X)
    assert np.allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    found, expected = ours.transform(NEW), theirs.transform(NEW)
    assert np.abs(found * np.sign((found * expected).sum(axis=0)) - expected).max() < 1e-6
    every = NystromPCA(4, gamma=0.2).fit(X)
    assert np.allclose(every.eigenvalues_, theirs.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("landmarks", [OWN, X[OWN], scipy.sparse.csr_array(X[OWN])], ids=["rows", "points", "sparse"])
def test_features_are_those_of_nystroem_up_to_rotation(landmarks):
    features = NystromFeatures(gamma=0.2, landmarks=landmarks).fit(X).transform(NEW)
    cross, inner = rbf_kernel(NEW, X[OWN], gamma=0.2), rbf_kernel(X[OWN], gamma=0.2)
    assert np.abs(features @ features.T - cross @ np.linalg.solve(inner, cross.T)).max() < 1e-9


@pytest.mark.parametrize("machine", [NystromRidge(), NystromSVC(multi_class="ovr"), NystromLogistic()])
@pytest.mark.parametrize("sparse", [False, True])
def test_landmarks_may_be_rows_or_points(machine, sparse):
    y = Y if isinstance(machine, NystromRidge) else WORDS
    given = scipy.sparse.csr_array(X) if sparse else X
    by_rows = machine.set_params(landmarks=OWN).fit(given, y, sample_weight=WEIGHTS)
    assert (by_rows.landmark_indices_ == OWN).all()
    values = by_rows.predict(NEW) if y is Y else by_rows.decision_function(NEW)
    by_points = machine.set_params(landmarks=X[OWN]).fit(given, y, sample_weight=WEIGHTS)
    assert not hasattr(by_points, "landmark_indices_")
    assert np.allclose(by_points.predict(NEW) if y is Y else by_points.decision_function(NEW), values, atol=1e-6)


def test_components_have_landmarks_that_are_points():
    by_rows, by_points = (NystromPCA(3, gamma=0.2, landmarks=own).fit(X).transform(NEW) for own in (OWN, X[OWN]))
    assert np.allclose(np.abs(by_rows), np.abs(by_points), atol=1e-8)


def test_the_landmarks_of_a_sampler_are_told():
    chosen = NystromFeatures(gamma=0.2, n_landmarks=20, sampler="rpcholesky", random_state=3).fit(X)
    again = NystromFeatures(gamma=0.2, landmarks=chosen.landmark_indices_).fit(X)
    assert len(set(chosen.landmark_indices_)) == 20
    assert np.array_equal(chosen.transform(NEW), again.transform(NEW))
    assert not hasattr(NystromFeatures(n_landmarks=5, sampler="kmeans").fit(X), "landmark_indices_")


def test_a_precomputed_kernel_gives_the_same_machine():
    inner, cross = rbf_kernel(X, gamma=0.2), rbf_kernel(NEW, X, gamma=0.2)
    plain = NystromRidge(gamma=0.2, landmarks=OWN).fit(X, Y).predict(NEW)
    assert np.allclose(NystromRidge(kernel="precomputed", landmarks=OWN).fit(inner, Y).predict(cross), plain)
    with pytest.raises(ValueError, match="`landmarks` must be row numbers for a precomputed kernel"):
        NystromRidge(kernel="precomputed", landmarks=inner[:3]).fit(inner, Y)


def test_machines_work_in_pipelines_and_searches():
    x, y = clusters(200)
    pipeline = make_pipeline(StandardScaler(), NystromSVC(n_landmarks=40))
    search = GridSearchCV(pipeline, {"nystromsvc__C": [0.1, 10], "nystromsvc__kernel": ["rbf", "poly"]})
    assert search.fit(x, y).best_score_ > 0.8
    assert cross_val_score(make_pipeline(NystromFeatures(n_landmarks=50), LogisticRegression()), x, y).mean() > 0.8
    assert cross_val_score(NystromRidge(alpha=0.01, n_landmarks=100), X, Y).mean() > 0.8


def test_probabilities_are_there_when_asked_for():
    assert not hasattr(NystromSVC(), "predict_proba")
    machine = NystromSVC(probability=True, n_landmarks=50).fit(X, WORDS)
    found = machine.predict_proba(NEW)
    assert found.shape == (80, 3) and np.allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize(
    "machine, y",
    [
        (NystromRidge(landmarks=OWN), Y),
        (NystromSVC(n_landmarks=30), WORDS),
        (NystromLogistic(n_landmarks=30), Y > 0),
        (KernelRidge(), Y),
    ],
)
def test_pickles_and_files_predict_the_same_bits(tmp_path, machine, y):
    machine.fit(X, y)
    machine.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(machine)), type(machine).load(tmp_path / "model")):
        assert np.array_equal(again.predict(NEW), machine.predict(NEW))
    with pytest.raises(ValueError):
        NystromPCA.load(tmp_path / "model")


def test_features_are_saved_too(tmp_path):
    features = NystromFeatures(n_landmarks=9).fit(X)
    features.save(tmp_path / "model")
    again = NystromFeatures.load(tmp_path / "model")
    assert np.array_equal(again.transform(NEW), features.transform(NEW))
    assert np.array_equal(again.landmark_indices_, features.landmark_indices_)
    with pytest.raises(ValueError, match="width"):
        again.transform(NEW[:, :2])


@needs_program
def test_the_program_reads_our_files_and_we_read_its(tmp_path):
    for name, x, y in (("train", X, Y), ("new", NEW, np.zeros(len(NEW)))):
        table = np.column_stack([x, y])
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", header="a,b,c,d,label", comments="", fmt="%.17g")
    ours = NystromRidge(alpha=0.1, gamma=0.2, n_landmarks=40, random_state=5).fit(X, Y)
    ours.save(tmp_path / "ours")
    options = ["--out", tmp_path / "p.csv", "--target", "label", "--quiet"]
    program("predict", tmp_path / "ours", tmp_path / "new.csv", *options)
    with (tmp_path / "p.csv").open() as lines:
        predicted = np.array([float(row["prediction"]) for row in csv.DictReader(lines)])
    assert np.array_equal(predicted, ours.predict(NEW))
    options = "--kernel rbf --gamma 0.2 --approach lla --landmarks 40 --penalty 10 --scale none --seed 5 --target label --quiet"
    program("fit", "krr", tmp_path / "train.csv", *options.split(), "--model", tmp_path / "theirs")
    assert np.array_equal(NystromRidge.load(tmp_path / "theirs").predict(NEW), ours.predict(NEW))


@needs_program
def test_the_program_transforms_with_our_features(tmp_path):
    features = NystromFeatures(gamma=0.2, landmarks=X[OWN]).fit(X)
    features.save(tmp_path / "model")
    np.save(tmp_path / "new.npy", NEW)
    program("transform", tmp_path / "model", "--rows", tmp_path / "new.npy", "--out", tmp_path / "out.npy", "--quiet")
    assert np.array_equal(np.load(tmp_path / "out.npy"), features.transform(NEW))


def test_single_precision_stays_single():
    features = NystromFeatures(n_landmarks=20).fit(X.astype(np.float32)).transform(NEW.astype(np.float32))
    assert features.dtype == np.float32
    assert np.abs(features - NystromFeatures(n_landmarks=20).fit(X).transform(NEW)).max() < 1e-2


@pytest.mark.parametrize(
    "machine, sentence",
    [
        (NystromRidge(alpha=0), "`alpha` is 0 but must be a number above 0"),
        (NystromRidge(n_landmarks=301), "`n_landmarks` is 301 but must be between 1 and the number of samples, 300"),
        (NystromRidge(landmarks=[300]), "`landmarks` must be row numbers from 0 to 299"),
        (NystromRidge(landmarks=[[1.0, 2.0]]), "`landmarks` has 2 features but X has 4"),
        (NystromRidge(sampler="lucky"), "no sampler `lucky`"),
        (NystromRidge(kernel="sne"), "`kernel` is sne but must be symmetric and positive"),
        (NystromSVC(C=-1), "`C` is -1 but must be a number above 0"),
        (NystromSVC(kernel="rfb"), "no kernel `rfb`"),
        (NystromSVC(approach="ncr"), "`approach` is ncr but must be exact, lla or gsa"),
        (NystromSVC(class_weight="fair"), "`class_weight` is 'fair' but must be"),
        (NystromPCA(301), "`n_components` is 301 but must be between 1 and the number of samples, 300"),
        (NystromPCA(2, landmarks=X[:3, :1]), "`landmarks` has 1 features"),
    ],
)
def test_mistakes_are_told_in_the_words_of_the_parameters(machine, sentence):
    y = WORDS if isinstance(machine, NystromSVC) else Y
    with pytest.raises(ValueError) as error:
        machine.fit(X, y)
    assert str(error.value).startswith(sentence)
