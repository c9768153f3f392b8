"""Kernel machines, exact and by landmarks, against closed forms, convex solvers and scikit-learn's support vector machines."""
import numpy as np
import pytest
from common import EPS, clusters, quietly, read_scores, told, write_column, write_table
from references import ask_ls, kernels
from references import machines as ref
from sklearn.svm import SVC, NuSVC

from lopsided import KernelPCA, KernelRidge, NystromFeatures, NystromLogistic, NystromPCA, NystromRidge, NystromSVC
from lopsided import samplers as listed

#: Samplers whose landmarks are samples.
SAMPLERS = ("uniform", "norms", "leverage", "kernel-kmeans", "rpcholesky", "greedy")


def rbf(x, z, gamma=0.3):
    return kernels.kernel("rbf", x, z, gamma=gamma)


def values(rng, n, width=3):
    x = rng.standard_normal((n, width))
    return x, 2 + np.sin(2 * x[:, 0]) + x[:, 1] * x[:, -1] + 0.1 * rng.standard_normal(n)


@pytest.mark.quick
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
def test_ridge_regression(check, rng, kernel):
    n, alpha = int(rng.integers(10, 90)), 10 ** rng.uniform(-2, 1)
    x, y = values(rng, n)
    new = rng.standard_normal((9, 3))
    settings = {} if kernel == "linear" else {"gamma": 0.3}
    k, rows = kernels.kernel(kernel, x, x, **settings), kernels.kernel(kernel, new, x, **settings)
    for weights in (None, rng.uniform(0.2, 3, n)):
        coefficients, mean = ref.ridge(k, y, 1 / alpha, weights)
        model = quietly(KernelRidge(alpha, kernel=kernel, **settings).fit, x, y, sample_weight=weights)
        check.near(f"ridge, {kernel}, weights {weights is not None}", model.predict(new), rows @ coefficients + mean, 1e-8)


@pytest.mark.quick
@pytest.mark.parametrize("approach", ["lla", "gsa", "ncr"])
def test_ridge_regression_on_landmarks(check, rng, approach):
    n, m, alpha = 120, int(rng.integers(5, 30)), 10 ** rng.uniform(-2, 1)
    x, y = values(rng, n)
    new = rng.standard_normal((9, 3))
    chosen = rng.choice(n, m, replace=False)
    predict = ref.ridge_on_landmarks(rbf(x, x[chosen]), rbf(x[chosen], x[chosen]), y, 1 / alpha, approach)
    model = quietly(NystromRidge(alpha, gamma=0.3, approach=approach, landmarks=chosen).fit, x, y)
    # Eq. (11) squares the condition number of the landmarks, and G⁺ has that of their features.
    allowed = 1e-8 if approach == "lla" else 1e-8 + 10 * EPS * np.linalg.cond(rbf(x[chosen], x[chosen]))
    check.near(f"{approach}, {m} landmarks", model.predict(new), predict(rbf(new, x[chosen]), rbf(new, x)), allowed)
    if approach != "gsa":
        points = rng.standard_normal((m, 3))
        predict = ref.ridge_on_landmarks(rbf(x, points), rbf(points, points), y, 1 / alpha, approach)
        model = quietly(NystromRidge(alpha, gamma=0.3, approach=approach, landmarks=points).fit, x, y)
        allowed = 1e-8 if approach == "lla" else 1e-8 + 10 * EPS * np.linalg.cond(rbf(points, points))
        check.near(f"{approach}, {m} points", model.predict(new), predict(rbf(new, points), None), allowed)


@pytest.mark.quick
def test_principal_components(check, rng):
    n, count = 90, 5
    x, new = rng.standard_normal((n, 3)), rng.standard_normal((11, 3))
    k, rows = rbf(x, x), rbf(new, x)
    for center in (True, False):
        spectrum, coefficients = ref.components(k, count, center)
        model = quietly(KernelPCA(count, gamma=0.3, center=center).fit, x)
        check.near(f"eigenvalues, centred {center}", model.eigenvalues_, spectrum, 1e-9)
        both = [model.transform(x), ref.placed(k, k, coefficients, center)]
        signs = np.sign((both[0] * both[1]).sum(axis=0))
        check.near(f"components, centred {center}", both[0], both[1] * signs, 1e-5)
        check.near(f"new components, centred {center}", model.transform(new), ref.placed(rows, k, coefficients, center) * signs, 1e-5)
        chosen = rng.choice(n, 25, replace=False)
        spectrum, place = ref.components_on_landmarks(k[:, chosen], k[np.ix_(chosen, chosen)], count, center)
        for approach in ("lla", "ncr"):
            model = quietly(NystromPCA(count, gamma=0.3, center=center, approach=approach, landmarks=chosen).fit, x)
            label = f"{approach}, centred {center}"
            check.near(f"{label}: eigenvalues", model.eigenvalues_, spectrum, 1e-8)
            found = model.transform(new)
            wanted = place(rows[:, chosen])
            check.near(f"{label}: components", found, wanted * np.sign((found * wanted).sum(axis=0)), 1e-5)


@pytest.mark.quick
def test_features_of_landmarks(check, rng):
    """F Fᵀ = K_nm K_mm⁺ K_mn for every sampler, and landmarks that exist, none twice."""
    n, m = 70, 12
    x, new = rng.standard_normal((n, 3)), rng.standard_normal((9, 3))
    k = rbf(x, x)
    check.that(f"samplers are {sorted(listed())}", set(listed()) == {*SAMPLERS, "kmeans", "gaussian"})
    for sampler in SAMPLERS:
        for state in range(3):
            try:
                model = quietly(NystromFeatures(gamma=0.3, n_landmarks=m, sampler=sampler, random_state=state).fit, x)
            except ValueError as error:
                check.that(f"{sampler} is refused by its name: {error}", "sampler" in str(error))
                break
            chosen = model.landmark_indices_
            check.that(f"{sampler}: {m} different rows", len(set(chosen)) == m and chosen.min() >= 0 and chosen.max() < n)
            f, g = model.transform(x), model.transform(new)
            a = ref.root_of_inverse(k[np.ix_(chosen, chosen)])
            wanted = k[:, chosen] @ a
            check.near(f"{sampler}: scalar products", f @ f.T, wanted @ wanted.T, 1e-8)
            check.near(f"{sampler}: new samples", g @ f.T, (rbf(new, x[chosen]) @ a) @ wanted.T, 1e-8)
            if sampler == "greedy":
                # All samples are equally long, so that the first one is open.
                check.that("greedy: the pivots of a pivoted Cholesky factorisation",
                           any(set(chosen) == set(ref.greedy_pivots(k, m, first)) for first in chosen))
    for nystrom, truncate in (("standard", 5), ("one-shot", 5), ("double", 5), ("multi-scale", 4)):
        chosen = np.arange(m)
        model = quietly(NystromFeatures(gamma=0.3, landmarks=chosen, nystrom=nystrom, truncate=truncate).fit, x)
        f = model.transform(x)
        a = ref.root_of_inverse(k[np.ix_(chosen, chosen)])
        whole = k[:, chosen] @ a
        check.that(f"{nystrom}: {truncate} features", f.shape == (n, truncate))
        # Orthonormal functions in the span of the landmarks: F = whole · Q with orthonormal Q.
        q = np.linalg.lstsq(whole, f, rcond=None)[0]
        check(f"{nystrom}: orthonormal", np.abs(q.T @ q - np.eye(truncate)).max(), 1e-7)
        check(f"{nystrom}: in the span", np.abs(whole @ q - f).max(), 1e-8)
        if nystrom == "standard":
            leading = k[:, chosen] @ ref.root_of_inverse(k[np.ix_(chosen, chosen)], truncate)
            check.near("standard: leading directions", f @ f.T, leading @ leading.T, 1e-8)
        if nystrom == "one-shot":
            best = np.square(np.linalg.svd(whole, compute_uv=False)[:truncate]).sum()
            check.near("one-shot: most of the samples' variance", (f**2).sum(), best, 1e-9)


@pytest.mark.quick
def test_double_and_multi_scale_without_truncation(check, rng):
    """As many directions as are kept explain nearly as much as the best ones of the span."""
    n, m = 200, 40
    x = rng.standard_normal((n, 3))
    k = rbf(x, x)
    chosen = rng.choice(n, m, replace=False)
    best = np.linalg.svd(k[:, chosen] @ ref.root_of_inverse(k[np.ix_(chosen, chosen)]), compute_uv=False) ** 2
    for nystrom in ("double", "multi-scale"):
        model = quietly(NystromFeatures(gamma=0.3, landmarks=chosen, nystrom=nystrom).fit, x)
        f = model.transform(x)
        lost = 1 - (f**2).sum() / best.sum()
        check(f"{nystrom}: share of what is explained that {f.shape[1]} directions lose", lost,
              2 * (1 - best[: f.shape[1]].sum() / best.sum()) + 0.01)


@pytest.mark.quick
@pytest.mark.parametrize("way", ["two classes", "ovo", "ovr"])
def test_support_vector_machines(check, rng, way):
    n, classes = 80, 2 if way == "two classes" else 3
    x, y = clusters(rng, n, 3, classes)
    new = 1.5 * rng.standard_normal((30, 3))
    c = 10 ** rng.uniform(-1, 1.5)
    model = NystromSVC(c, gamma=0.3, approach="exact", multi_class="ovo" if way == "two classes" else way, tol=1e-9)
    model = quietly(model.fit, x, y)
    if way == "ovo":
        found, machine = model.predict(new), SVC(C=c, gamma=0.3, tol=1e-9).fit(x, y)
        # Votes may tie, and values near 0 may fall on either side.
        sure = np.abs(SVC(C=c, gamma=0.3, tol=1e-9, decision_function_shape="ovo").fit(x, y).decision_function(new)).min(axis=1) > 1e-3
        votes = np.sort(machine.decision_function(new), axis=1)
        sure &= votes[:, -1] - votes[:, -2] > 0.5
        check("ovo: predictions", np.mean(found[sure] != machine.predict(new)[sure]), 0.0)
        return
    for c_index in range(1 if way == "two classes" else classes):
        positive = 1 if way == "two classes" else c_index
        signs = np.where(y == positive, 1, -1)
        machine = SVC(C=c, gamma=0.3, tol=1e-9).fit(x, signs)
        found = model._decision(new)[:, positive]
        check.near(f"{way}: decision values of class {positive}", found, machine.decision_function(new), 1e-5)
        on_samples = model._decision(x)[:, positive]
        # The objective from decision values alone: the coefficients are K⁻¹ of them without the bias.
        bias = machine.intercept_[0]
        ours = ref.svm_objective(rbf(x, x), np.linalg.solve(rbf(x, x) + 1e-13 * np.eye(n), on_samples - bias), bias, signs, c)
        theirs_coefficients = np.zeros(n)
        theirs_coefficients[machine.support_] = machine.dual_coef_[0]
        theirs = ref.svm_objective(rbf(x, x), theirs_coefficients, bias, signs, c)
        check(f"{way}: objective of class {positive}", ours / theirs - 1, 1e-5)


@pytest.mark.quick
def test_support_vector_machines_with_weights(check, rng):
    n = 80
    x, y = clusters(rng, n, 3, 2)
    new, weights = rng.standard_normal((30, 3)), rng.uniform(0.2, 3, n)
    model = quietly(NystromSVC(2.0, gamma=0.3, approach="exact", tol=1e-9).fit, x, y, sample_weight=weights)
    machine = SVC(C=2.0, gamma=0.3, tol=1e-9).fit(x, y, sample_weight=weights)
    check.near("weights of samples", model.decision_function(new), machine.decision_function(new), 1e-5)
    model = quietly(NystromSVC(2.0, gamma=0.3, approach="exact", tol=1e-9, class_weight="balanced").fit, x, y)
    machine = SVC(C=2.0, gamma=0.3, tol=1e-9, class_weight="balanced").fit(x, y)
    check.near("weights of classes", model.decision_function(new), machine.decision_function(new), 1e-5)


@pytest.mark.quick
def test_nu_machines(check, rng):
    n = 80
    x, y = clusters(rng, n, 3, 2)
    new = rng.standard_normal((30, 3))
    most = 2 * min(y.sum(), n - y.sum()) / n
    for nu in (0.3 * most, 0.8 * most):
        model = quietly(NystromSVC(nu=nu, gamma=0.3, approach="exact", tol=1e-9).fit, x, y)
        machine = NuSVC(nu=nu, gamma=0.3, tol=1e-9).fit(x, y)
        check.near(f"nu {nu:.2f}: decision values", model.decision_function(new), machine.decision_function(new), 1e-4)
        margins = np.where(y == 1, 1, -1) * model.decision_function(x)
        # Values are divided by ρ: a margin error has less than 1.
        check(f"nu {nu:.2f}: share of margin errors", np.mean(margins < 1 - 1e-6), nu)
        check.that(f"nu {nu:.2f}: at least nu support vectors", np.mean(margins < 1 + 1e-4) >= nu - 1e-9)


@pytest.mark.quick
@pytest.mark.parametrize("approach", ["lla", "gsa"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_support_vector_machines_on_landmarks(check, rng, approach, loss):
    n, m, c = 90, 15, 10 ** rng.uniform(-1, 1)
    x, y = clusters(rng, n, 3, 2)
    signs, new = np.where(y == 1, 1.0, -1.0), rng.standard_normal((30, 3))
    chosen = rng.choice(n, m, replace=False)
    a = ref.root_of_inverse(rbf(x[chosen], x[chosen]))
    f = rbf(x, x[chosen]) @ a
    if loss == "hinge":
        machine = SVC(C=c, kernel="linear", tol=1e-9).fit(f, signs)
        w, bias = machine.coef_[0], machine.intercept_[0]
    else:
        w, bias = ref.squared_hinge(f, signs, c)
    wanted = rbf(new, x[chosen]) @ (a @ w) if approach == "lla" else rbf(new, x) @ (np.linalg.pinv(f.T) @ w)
    model = quietly(NystromSVC(c, gamma=0.3, approach=approach, landmarks=chosen, loss=loss, tol=1e-8).fit, x, y)
    check.near(f"{approach}, {loss}", model.decision_function(new), wanted + bias, 1e-4)


@pytest.mark.quick
@pytest.mark.parametrize("approach", ["exact", "lla", "gsa"])
@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression(check, rng, approach, classes):
    n, m, c = 70, 12, 10 ** rng.uniform(-1, 1)
    x, y = clusters(rng, n, 3, classes)
    new, weights = rng.standard_normal((20, 3)), rng.uniform(0.3, 2, n)
    chosen = rng.choice(n, m, replace=False)
    if approach == "exact":
        a, basis = ref.root_of_inverse(rbf(x, x)), np.arange(n)
    else:
        a, basis = ref.root_of_inverse(rbf(x[chosen], x[chosen])), chosen
    f = rbf(x, x[basis]) @ a
    place = rbf(new, x) @ np.linalg.pinv(f.T) if approach == "gsa" else rbf(new, x[basis]) @ a
    for weight in (None, weights):
        if classes == 2:
            w, bias = ref.logistic_regression(f, np.where(y == 1, 1.0, -1.0), c, weight)
            share = 1 / (1 + np.exp(-(place @ w + bias)))
            wanted = np.stack([1 - share, share], axis=1)
        else:
            w, bias = ref.softmax_regression(f, y, classes, c, weight)
            wanted = ref.probabilities(place @ w + bias)
        settings = {} if approach == "exact" else {"landmarks": chosen}
        model = quietly(NystromLogistic(c, gamma=0.3, approach=approach, tol=1e-9, **settings).fit, x, y, sample_weight=weight)
        check.near(f"logistic, {approach}, {classes} classes, weights {weight is not None}", model.predict_proba(new), wanted, 1e-4)


@pytest.mark.quick
@pytest.mark.parametrize("way", ["average", "columns", "rows"])
def test_symmetrised_machines_of_the_program(check, rng, tmp_path, way):
    """An asymmetric matrix made symmetric: the same machine on the matrix that the formula gives."""
    n = 50
    x, y = clusters(rng, n, 3, 2)
    k = kernels.kernel("rbf", x, x, gamma=0.3) + 0.05 * rng.random((n, n))
    np.save(tmp_path / "k.npy", k)
    write_column(tmp_path / "y.csv", range(n), [f"c{v}" for v in y], "row,label")
    known, _ = ask_ls.symmetrised(k, k, k, way)
    np.save(tmp_path / "known.npy", known)
    for estimator in ("svm", "nu-svm", "logistic"):
        decisions = []
        for matrix, option in (("k", way), ("known", "average")):
            told("fit", estimator, tmp_path / f"{matrix}.npy", "--labels", tmp_path / "y.csv", "--kernel", "precomputed",
                 "--symmetrize", option, "--tol", 1e-8, *([] if estimator == "nu-svm" else ["--penalty", 1]), "--model", tmp_path / "m")
            told("predict", tmp_path / "m", tmp_path / f"{matrix}.npy", "--scores", "--out", tmp_path / "p.csv")
            decisions.append(read_scores(tmp_path / "p.csv"))
        check.near(f"{estimator}, {way}", decisions[0], decisions[1], 1e-5)
        if estimator == "svm" and way != "average":
            machine = SVC(kernel="precomputed", tol=1e-9).fit(known, y)
            check.near(f"{estimator}, {way}, scikit-learn", decisions[0][:, 1], machine.decision_function(known), 1e-4)


def test_leverage_scores_of_many_samples(check, rng):
    """Above 500 samples scores are found recursively; outliers have a score near 1 and must be drawn as often as below."""
    rates = {}
    for n in (480, 620):
        hits = 0
        for state in range(30):
            x = 0.3 * rng.standard_normal((n, 2))
            outliers = rng.choice(n, 6, replace=False)
            x[outliers] += 40 * rng.standard_normal((6, 2)) + 100 * np.arange(1, 7)[:, None]
            model = NystromFeatures(gamma=0.5, n_landmarks=40, sampler="leverage", random_state=state)
            hits += len(set(quietly(model.fit, x).landmark_indices_) & set(outliers))
        rates[n] = hits / 180
    # Five deviations of the difference of two shares of 180 draws.
    check(f"rates of outliers {rates[480]:.2f} below, {rates[620]:.2f} above 500 samples", rates[480] - rates[620],
          5 * np.sqrt(2 * 0.25 / 180))


@pytest.mark.parametrize("size", [499, 500, 501])
def test_ridge_regression_in_single_precision_factors(check, rng, size):
    """From 500 samples on the exact machine is factored in single precision and refined."""
    x, y = values(rng, size)
    new = rng.standard_normal((9, 3))
    for alpha in (1e-3, 1.0):
        coefficients, mean = ref.ridge(rbf(x, x), y, 1 / alpha)
        model = quietly(KernelRidge(alpha, gamma=0.3).fit, x, y)
        check.near(f"{size} samples, alpha {alpha}", model.predict(new), rbf(new, x) @ coefficients + mean, 1e-7)


def test_ridge_regression_of_classes(check, rng, tmp_path):
    x, y = clusters(rng, 60, 3, 3)
    new = rng.standard_normal((9, 3))
    write_table(tmp_path / "x.csv", x, [f"c{v}" for v in y])
    write_table(tmp_path / "new.csv", new)
    told("fit", "krr", tmp_path / "x.csv", "--target", "label", "--kernel", "rbf", "--gamma", 0.3, "--penalty", 2, "--scale", "none", "--approach", "exact",
         "--model", tmp_path / "m")
    told("predict", tmp_path / "m", tmp_path / "new.csv", "--target", "none", "--scores", "--out", tmp_path / "p.csv")
    wanted = []
    for target in ask_ls.one_against_rest(y).T:
        coefficients, mean = ref.ridge(rbf(x, x), target, 2.0)
        wanted.append(rbf(new, x) @ coefficients + mean)
    check.near("classes", read_scores(tmp_path / "p.csv"), np.stack(wanted, axis=1), 1e-8)
