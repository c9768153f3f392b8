"""What Python has beside the shell's words: weights, kernels of one's own, several targets, pre-images, files that learn again."""
import json
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

import lopsided
from common import clusters, links, program
from lopsided import (
    AsKLSClassifier,
    AsKLSRegressor,
    KernelBiclustering,
    KernelPCA,
    KernelRidge,
    KernelSVD,
    KernelSVDClassifier,
    LinkPredictor,
    LSSVMClassifier,
    NystromFeatures,
    NystromLogistic,
    NystromPCA,
    NystromRidge,
    NystromSVC,
    hold_out_links,
)

X, y = clusters(60)
values = X[:, 0] * X[:, 1]


def weighted_system(K, target, weights, penalty):
    """AsK-LS Eq. (6) with 1/(penalty w) on the diagonal: values of both functions at the samples."""
    n = len(K)
    D, zero, one = np.diag(1 / (penalty * weights)), np.zeros((n, 1)), np.ones((n, 1))
    M = np.block([
        [D, K, one, zero],
        [K.T, D, zero, one],
        [one.T, np.zeros((1, n + 2))],
        [np.zeros((1, n)), one.T, np.zeros((1, 2))],
    ])
    found = np.linalg.solve(M, np.concatenate([target, target, [0, 0]]))
    a, b = found[:n], found[n : 2 * n]
    return K @ b + found[-2], K.T @ a + found[-1]


def test_weights_are_those_of_the_weighted_system():
    rng = np.random.default_rng(0)
    K = 0.1 * rng.standard_normal((40, 40))
    target, weights = rng.standard_normal(40), rng.uniform(0.1, 3, 40)
    source, as_target = weighted_system(K, target, weights, 0.7)
    for merge, expected in (("source", source), ("target", as_target), ("average", (source + as_target) / 2)):
        machine = AsKLSRegressor(0.7, kernel="precomputed", merge=merge).fit(K, target, sample_weight=weights)
        np.testing.assert_allclose(machine.predict(K, Z=K), expected, atol=1e-8)


@pytest.mark.parametrize("cls", [AsKLSClassifier, LSSVMClassifier])
def test_class_weights_are_sample_weights(cls):
    counts = np.bincount(y)
    balanced = {c: len(y) / (len(counts) * count) for c, count in enumerate(counts)}
    settings = {"kernel": "rbf", "gamma": 0.3}
    by_word = cls(0.2, class_weight="balanced", **settings).fit(X, y).decision_function(X)
    by_dict = cls(0.2, class_weight=balanced, **settings).fit(X, y).decision_function(X)
    by_sample = cls(0.2, **settings).fit(X, y, sample_weight=[balanced[c] for c in y]).decision_function(X)
    np.testing.assert_allclose(by_dict, by_sample, atol=1e-9)
    np.testing.assert_allclose(by_word, by_sample, atol=1e-9)
    assert np.abs(by_word - cls(0.2, **settings).fit(X, y).decision_function(X)).max() > 1e-4
    with pytest.raises(ValueError, match="`class_weight` is 'even'"):
        cls(class_weight="even").fit(X, y)


def test_class_weights_of_the_program_are_those_of_python(tmp_path):
    table = np.column_stack([X, y])
    np.savetxt(tmp_path / "x.csv", table, delimiter=",", header="a,b,c,d,label", comments="")
    words = ["ls-svm", tmp_path / "x.csv", "--target", "label", "--penalty", 0.5, "--gamma", 0.2, "--scale", "none"]
    program("fit", *words, "--class-weight", "balanced", "--model", tmp_path / "m")
    shell = LSSVMClassifier.load(tmp_path / "m").decision_function(X)
    here = LSSVMClassifier(0.5, gamma=0.2, class_weight="balanced").fit(X, y).decision_function(X)
    np.testing.assert_allclose(shell, here, atol=1e-9)


def same_words(x, z):
    return len(set(x) & set(z)) / len(set(x) | set(z))


TEXTS = ["".join(np.random.default_rng(i).choice(list("abcdef" if i % 2 else "defghi"), 5)) for i in range(40)]


@pytest.mark.parametrize(
    "machine",
    [AsKLSClassifier(), LSSVMClassifier(1.0), NystromSVC(), NystromSVC(approach="exact"), NystromLogistic(), KernelSVDClassifier(5)],
    ids=repr,
)
def test_classifiers_take_a_kernel_of_strings(machine):
    labels = np.arange(40) % 2
    machine.set_params(kernel=same_words).fit(TEXTS[:30], labels[:30])
    assert machine.score(TEXTS[30:], labels[30:]) > 0.7


def test_others_take_a_kernel_of_objects():
    things = [{"letters": text} for text in TEXTS]

    def kernel(x, z):
        return same_words(x["letters"], z["letters"])

    lengths = np.array([len(set(text)) for text in TEXTS], dtype=float)
    for machine in (NystromRidge(kernel=kernel), KernelRidge(kernel=kernel), AsKLSRegressor(1.0, kernel=kernel)):
        assert machine.fit(things, lengths).predict(things[:3]).shape == (3,)
    for machine in (NystromPCA(3, kernel=kernel), KernelPCA(3, kernel=kernel), KernelSVD(3, kernel=kernel)):
        np.testing.assert_allclose(machine.fit_transform(things)[:5], machine.transform(things[:5]), atol=1e-7)
    assert NystromFeatures(kernel=kernel, n_landmarks=10).fit_transform(things).shape == (40, 10)
    blocks = np.kron(np.eye(2), np.ones((10, 8)))
    found = KernelBiclustering(2, kernel=lambda R, C: np.cos(R.sum(-1)[:, None] + R[:, :1] - C[:, 0] * C.shape[1]), rank=2).fit(blocks)
    assert len(found.row_labels_) == 20 and len(found.column_labels_) == 16


def test_a_kernel_of_ones_own_is_the_named_one():
    def kernel(A, B):
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(2))

    for cls in (KernelRidge, NystromRidge):
        named, own = (cls(0.1, **how).fit(X, values).predict(X[:9]) for how in ({"gamma": 0.4}, {"kernel": kernel}))
        np.testing.assert_allclose(own, named, atol=1e-6)
    calls = []

    def counted(A, B):
        calls.append(np.shape(A))
        return kernel(np.atleast_2d(A), np.atleast_2d(B))

    KernelRidge(kernel=counted).fit(np.tile(X, (40, 1)), np.tile(values, 40))
    assert len(calls) <= 1 + 2400 // 1024 + 1  # in blocks, and once to see what it takes


def test_a_gamma_for_each_column_scales_the_columns():
    gammas = np.array([1.0, 0.5, 0.0, 0.1])
    for kernel, factors in (("rbf", np.sqrt(gammas)), ("laplacian", gammas), ("poly", np.sqrt(gammas))):
        own = KernelRidge(0.1, kernel=kernel, gamma=gammas).fit(X, values)
        scaled = KernelRidge(0.1, kernel=kernel, gamma=1.0).fit(X * factors, values)
        np.testing.assert_allclose(own.predict(X[:9]), scaled.predict(X[:9] * factors))
    own = KernelSVD(3, kernel="rbf", gamma=gammas).fit(X)
    np.testing.assert_allclose(own.transform(X[:9]), own.row_vectors_[:9], atol=1e-7)
    with pytest.raises(ValueError, match="must be 4 numbers"):
        KernelRidge(gamma=[1.0, 2.0]).fit(X, values)
    with pytest.raises(ValueError, match="has no file"):
        own.save("nowhere")


def test_several_targets_are_learned_as_each_alone():
    targets = np.column_stack([values, X[:, 2], -values])
    for machine in (KernelRidge(0.1, gamma=0.3), NystromRidge(0.1, gamma=0.3, n_landmarks=20)):
        found = clone(machine).fit(X, targets).predict(X)
        for at in range(3):
            np.testing.assert_allclose(found[:, at], clone(machine).fit(X, targets[:, at]).predict(X))
    from sklearn.kernel_ridge import KernelRidge as Theirs

    centred = targets - targets.mean(axis=0)
    np.testing.assert_allclose(
        KernelRidge(0.1, gamma=0.3).fit(X, centred).predict(X), Theirs(alpha=0.1, kernel="rbf", gamma=0.3).fit(X, centred).predict(X), atol=1e-8
    )
    assert KernelRidge().fit(X, targets).score(X, targets) <= 1.0


def test_the_way_back_finds_the_samples():
    rng = np.random.default_rng(0)
    curve = np.column_stack([np.cos(t := rng.uniform(0, 3, 200)), np.sin(t), t])
    for machine in (
        KernelPCA(4, gamma=0.5, fit_inverse_transform=True),
        NystromPCA(4, gamma=0.5, n_landmarks=60, fit_inverse_transform=True),
        NystromFeatures(gamma=0.5, n_landmarks=60, fit_inverse_transform=True),
        KernelPCA(3, kernel="linear", fit_inverse_transform=True),
    ):
        back = machine.fit(curve[:150]).inverse_transform(machine.transform(curve[150:]))
        assert np.mean((back - curve[150:]) ** 2) < 0.01 * curve.var()
    with pytest.raises(ValueError, match="`fit_inverse_transform` is False"):
        KernelPCA(2).fit(curve).inverse_transform(np.zeros((1, 2)))


def test_support_vectors_are_those_of_scikit_learn():
    two = (y > 0).astype(int)
    ours, theirs = NystromSVC(gamma=0.3, approach="exact", tol=1e-6).fit(X, two), SVC(gamma=0.3, tol=1e-6).fit(X, two)
    np.testing.assert_array_equal(ours.support_, np.sort(theirs.support_))
    order = np.argsort(theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_[0], theirs.dual_coef_[0][order], atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(2))
    np.testing.assert_allclose((K[:, ours.support_] @ ours.dual_coef_.T + ours.intercept_)[:, 0], ours.decision_function(X), atol=1e-6)
    several = NystromSVC(gamma=0.3, approach="exact", multi_class="ovr").fit(X, y)
    np.testing.assert_allclose(K[:, several.support_] @ several.dual_coef_.T + several.intercept_, several.decision_function(X), atol=1e-6)
    given = NystromSVC(kernel="precomputed", approach="exact", tol=1e-6).fit(K, two)
    np.testing.assert_array_equal(given.support_, ours.support_)
    np.testing.assert_allclose(given.dual_coef_, ours.dual_coef_, atol=1e-4)
    assert not hasattr(NystromSVC(n_landmarks=10).fit(X, two), "dual_coef_")


@pytest.mark.parametrize(
    "machine",
    [
        NystromRidge(0.3, gamma=0.2, n_landmarks=25), KernelRidge(0.3, gamma=0.2), NystromSVC(2.0, gamma=0.2),
        NystromLogistic(2.0, gamma=0.2), AsKLSClassifier(0.2, kernel="rbf", gamma=0.2), LSSVMClassifier(0.5, gamma=0.2),
        KernelSVD(5, kernel="rbf", gamma=0.2), KernelPCA(3, gamma=0.2), NystromPCA(3, gamma=0.2, n_landmarks=25),
    ],
    ids=repr,
)
def test_a_model_of_a_file_knows_its_columns_and_learns_again(machine, tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd"))
    target = values if machine._estimator_type == "regressor" else y
    words = [] if machine._estimator_type is None else [target]
    machine.fit(frame, *words).save(tmp_path / "model")
    loaded = type(machine).load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == list("abcd") and loaded.n_features_in_ == 4
    ask = "predict" if words else "transform"
    expected = getattr(machine, ask)(frame)
    np.testing.assert_array_equal(np.asarray(getattr(loaded, ask)(frame)), np.asarray(expected))
    with pytest.raises(ValueError, match="feature names"):
        getattr(loaded, ask)(frame[["b", "a", "c", "d"]])
    again = clone(loaded).fit(frame, *words)
    np.testing.assert_allclose(np.asarray(getattr(again, ask)(frame), dtype=float), np.asarray(expected, dtype=float), atol=1e-9)


def test_a_plan_says_what_the_dry_run_says(tmp_path):
    np.save(tmp_path / "x.npy", X)
    shell = json.loads(program("embed", tmp_path / "x.npy", "--cols", tmp_path / "x.npy", "--kernel", "rbf", "--rank", 5, "--dry-run", "--json"))
    model = KernelSVD(5, kernel="rbf")
    here = model.plan(X)
    assert {name: here[name] for name in ("n", "kernel", "operator", "solver")} == {
        name: shell[name] for name in ("n", "kernel", "operator", "solver")
    }
    assert here["bytes"] > 0 and here["seconds"] > 0 and not hasattr(model, "singular_values_")
    for machine, target in ((AsKLSClassifier(), y), (NystromRidge(), values), (NystromPCA(), None), (LSSVMClassifier(), y)):
        assert machine.plan(X, target)["n"] == len(X)


def test_held_out_links_are_those_of_the_program(tmp_path):
    ends = links(80, 600)
    np.savetxt(tmp_path / "links.csv", ends, fmt="%d", delimiter=",", header="source,target", comments="")
    shell = json.loads(program("links", tmp_path / "links.csv", "--format", "edges", "--test-share", 0.2, "--trials", 1, "--rank", 8, "--seed", 3, "--json"))
    graph, pairs, is_link = hold_out_links(ends, share=0.2, random_state=3)
    assert len(pairs) == 2 * is_link.sum() == 2 * shell["held_out"]
    by_power = {line["power"]: line["auroc"]["mean"] for line in shell["methods"] if line["method"] == "kernel SVD"}
    for power, area in by_power.items():
        assert LinkPredictor(8, power=power).fit(graph).score(pairs, is_link) == pytest.approx(area, abs=1e-6)
    of_links = LinkPredictor(8, power="links").fit(graph).score(pairs, is_link)
    assert of_links == pytest.approx(next(line["auroc"]["mean"] for line in shell["methods"] if line["method"] == "links"), abs=1e-6)
    chosen = LinkPredictor(8, random_state=3).fit(graph)
    assert chosen.score(pairs, is_link) == pytest.approx(shell["chosen"]["auroc"]["mean"], abs=1e-6)


def test_links_between_groups_are_found():
    group = np.arange(240) % 4
    rng = np.random.default_rng(0)
    ends = np.argwhere((rng.random((240, 240)) < 0.15) & ((group[None, :] - group[:, None]) % 4 == 1))
    graph, pairs, is_link = hold_out_links(ends, random_state=0)
    model = LinkPredictor().fit(graph)
    assert model.power_ == "links" and model.score(pairs, is_link) > 0.65
    assert LinkPredictor(power=1.0).fit(graph).score(pairs, is_link) < 0.5


def test_a_file_is_learned_from_as_by_the_program(tmp_path):
    rng = np.random.default_rng(0)
    table = rng.uniform(-2, 2, (400, 3))
    target = np.sin(table[:, 0]) * table[:, 1]
    np.save(tmp_path / "x.npy", table)
    np.save(tmp_path / "y.npy", target)
    words = ["--labels", tmp_path / "y.npy", "--stream", "--gamma", 0.5, "--penalty", 10, "--landmarks", 80, "--model", tmp_path / "m"]
    program("fit", "krr", tmp_path / "x.npy", *words, "--task", "values", "--scale", "none")
    here = NystromRidge(0.1, gamma=0.5, n_landmarks=80).fit_stream(tmp_path / "x.npy", target)
    np.testing.assert_allclose(here.predict(table), NystromRidge.load(tmp_path / "m").predict(table), atol=1e-9)
    assert here.score(table, target) > 0.95
    with pytest.raises(ValueError, match="svmlight"):
        NystromRidge().fit_stream(tmp_path / "x.csv", target)
    with pytest.raises(ValueError, match="`n_landmarks` is 500"):
        NystromRidge(n_landmarks=500).fit_stream(tmp_path / "x.npy", target)


@pytest.mark.parametrize(
    ("sentence", "work"),
    [
        ("`alpha` is -1", lambda: KernelRidge(-1).fit(X, values)),
        ("`n_landmarks` is 1000", lambda: NystromRidge(n_landmarks=1000).fit(X, values)),
        ("`n_components` is", lambda: NystromPCA(1000).fit(X)),
        ("`C` is -1", lambda: NystromSVC(-1).fit(X, y)),
        ("`penalty` is -1", lambda: AsKLSClassifier(-1).fit(X, y)),
        ("larger `alpha`", lambda: KernelRidge(1e-300, kernel="linear").fit(X, values)),
    ],
)
def test_messages_use_the_names_that_parameters_have_here(sentence, work):
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=sentence) as told:
        work()
    assert "penalty" not in str(told.value) or "AsK" in sentence or "`penalty`" in sentence


def test_warnings_point_to_the_line_of_the_caller():
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd"))
    calls = [
        (lambda: AsKLSClassifier(1e4, kernel="rbf").fit(X, y), "indefinite"),
        (lambda: NystromRidge().fit(frame, values).predict(X), "feature names"),
        (lambda: AsKLSRegressor(1.0).fit(X, values[:, None]), "column-vector"),
        (lambda: KernelSVD(10, kernel="rbf", solver="nystrom", rows_sample=12, cols_sample=12).fit_transform(X), "tolerance"),
    ]
    for call, words in calls:
        with pytest.warns(UserWarning, match=words) as told:
            call()
        assert {one.filename for one in told if words in str(one.message)} == {__file__}


def test_help_says_everything_once():
    for name in lopsided.__all__:
        cls = getattr(lopsided, name)
        if isinstance(cls, type) and hasattr(cls, "fit"):
            text = cls.__doc__
            for parameter in cls._parameter_names():
                assert text.count(f"\n{parameter} : ") + text.count(f"{parameter}, ") >= 1, f"{name}: {parameter}"
            assert "\n    " in text and sys.getsizeof(text) < 20_000
