"""AsK-LS, LS-SVM and the machine on kernel SVD features against dense linear systems."""
import numpy as np
import pytest
from common import clusters, links, orthonormal, quietly, read_scores, run, told, with_spectrum, write_column, write_links, write_table
from references import ask_ls as ref
from references import kernels, triplets

from lopsided import AsKLSClassifier, AsKLSRegressor, LSSVMClassifier

ROUTES = ("auto", "svd", "dense", "krylov", "minres")
MERGES = ("average", "source", "target")


def problem(rng, n, new, classes=3, sigma=None):
    """K between known samples, rows and columns of new ones, classes."""
    k = rng.standard_normal((n, n)) / np.sqrt(n) if sigma is None else with_spectrum(rng, n, n, sigma, without_ones=True)
    rows, cols = rng.standard_normal((new, n)), rng.standard_normal((n, new))
    y = np.concatenate([np.arange(classes), np.arange(classes), rng.integers(classes, size=n - 2 * classes)])
    return k, rows, cols, rng.permutation(y)


def scores(model, rows, cols):
    """One column for each class."""
    return model._decision(rows, cols)


def residual(model, k, y, penalty):
    """‖M[a; b] − [y_c; y_c]‖/‖[y_c; y_c]‖ of a model that averages, whose coefficients follow from samples with unit rows."""
    n = len(k)
    bias = scores(model, np.zeros((1, n)), np.zeros((n, 1)))
    b = 2 * (scores(model, np.eye(n), np.zeros((n, n))) - bias)
    a = 2 * (scores(model, np.zeros((n, n)), np.eye(n)) - bias)
    targets = ref.one_against_rest(y)
    wanted = np.vstack([targets - targets.mean(axis=0)] * 2)
    left = ref.centred_system(k, penalty) @ np.vstack([a, b]) - wanted
    return (np.linalg.norm(left, axis=0) / np.linalg.norm(wanted, axis=0)).max()


@pytest.mark.quick
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("merge", MERGES)
def test_routes_and_merges(check, rng, route, merge):
    for trial in range(3):
        n, classes = int(rng.integers(12, 80)), int(rng.integers(2, 5))
        k, rows, cols, y = problem(rng, n, 7, classes)
        # Definite where penalty·σ₁ < 1, indefinite beyond; random gaps keep the system away from singular.
        penalty = rng.choice([0.1, 0.4, 2.0, 30.0])
        condition = ref.condition(k, penalty)
        functions = ref.solve(k, ref.one_against_rest(y), penalty)
        model = AsKLSClassifier(penalty, kernel="precomputed", merge=merge, route=route, on_singular="error")
        label = f"route {route}, {merge}, {n} samples, penalty {penalty}, condition {condition:.0f}"
        try:
            model = quietly(model.fit, k, y)
        except ValueError as error:
            check.that(f"{label}: {error}", condition > 1e9)
            continue
        check.that(f"{label}: converges", model.report_["converged"])
        check.near(label, scores(model, rows, cols), ref.merged(functions, rows, cols, merge), 1e-9 * max(condition, 1e2))
        found = model.report_["condition"]
        check(f"{label}: condition number", found / condition - 1, 0.01)  # an iteration knows a lower bound
        if route in ("svd", "dense"):
            check(f"{label}: condition number", abs(np.log10(found / condition)), 0.5)


@pytest.mark.quick
@pytest.mark.parametrize("route", ROUTES)
def test_singular_systems(check, rng, route):
    """A singular value of exactly 1/penalty: refused, or solved otherwise and said."""
    n, penalty = 40, 0.5
    sigma = np.concatenate([[5.0, 2.0, 2.0], rng.uniform(0.1, 1.5, n - 10)])
    k, rows, cols, y = problem(rng, n, 7, sigma=sigma)
    targets = ref.one_against_rest(y)
    for way, tikhonov in (("tikhonov", None), ("tikhonov", 0.3), ("min-norm", None)):
        wanted = ref.solve_otherwise(k, targets, penalty, 0.0 if way == "min-norm" else tikhonov or 1.0)
        model = AsKLSClassifier(penalty, kernel="precomputed", merge="average", route=route, on_singular=way, tikhonov=tikhonov)
        model = quietly(model.fit, k, y)
        label = f"route {route}, {way} {tikhonov}"
        check.near(label, scores(model, rows, cols), ref.merged(wanted, rows, cols, "average"), 1e-6)
        check.that(f"{label}: is said", any("singular" in text for text in model.report_["warnings"]))
    refused(check, f"route {route}, error", AsKLSClassifier(penalty, kernel="precomputed", merge="average", route=route,
                                                            on_singular="error"), k, y)


def refused(check, label, model, k, y):
    try:
        quietly(model.fit, k, y)
        check.that(f"{label}: a singular system is refused", False)
    except ValueError as error:
        check.that(f"{label}: refused because it is singular: {error}", "singular" in str(error))


@pytest.mark.quick
def test_lsmr(check, rng):
    """Tikhonov's method whether singular or not; with `error` a singular system is refused."""
    for sigma in (None, np.concatenate([[2.0, 1.0], rng.uniform(0.1, 0.8, 20)])):
        k, rows, cols, y = problem(rng, 40, 7, sigma=sigma)
        for tikhonov in (None, 0.2):
            wanted = ref.solve_otherwise(k, ref.one_against_rest(y), 1.0, tikhonov or 1.0)
            model = AsKLSClassifier(1.0, kernel="precomputed", merge="source", route="lsmr", tikhonov=tikhonov)
            model = quietly(model.fit, k, y)
            check.near(f"lsmr, tikhonov {tikhonov}", scores(model, rows, cols), ref.merged(wanted, rows, cols, "source"), 1e-7)
    refused(check, "lsmr, error", AsKLSClassifier(1.0, kernel="precomputed", merge="source", route="lsmr", on_singular="error"), k, y)


@pytest.mark.quick
@pytest.mark.parametrize("route", ["minres", "krylov", "auto", "dense"])
def test_nothing_is_called_singular_that_is_not(check, rng, route):
    """Indefinite systems of moderate condition, on which MINRES stagnates for long."""
    n = 200
    for name, sigma in (
        ("values around 1/penalty", np.concatenate([rng.uniform(0.2, 0.9, 90), rng.uniform(1.1, 1.9, 100)])),
        ("a wide range", np.concatenate([rng.uniform(0.0, 0.85, 150), 10.0 ** rng.uniform(0.1, 2, 40)])),
    ):
        k, rows, cols, y = problem(rng, n, 7, sigma=np.sort(sigma)[::-1])
        condition = ref.condition(k, 1.0)
        wanted = ref.solve(k, ref.one_against_rest(y), 1.0)
        model = quietly(AsKLSClassifier(1.0, kernel="precomputed", merge="average", route=route).fit, k, y)
        label = f"route {route}, {name}, condition {condition:.0f}"
        check.that(f"{label}: not called singular", not any("singular" in text for text in model.report_["warnings"]))
        if model.report_["converged"]:
            check(f"{label}: residual of the system that is called solved", residual(model, k, y, 1.0), 1e-9)
            check.near(label, scores(model, rows, cols), ref.merged(wanted, rows, cols, "average"), 1e-9 * max(condition, 1e2))


@pytest.mark.quick
def test_stacking(check, rng):
    """Ten samples are ten parts of one sample each, so that nothing depends on how they are dealt."""
    n, penalty = 10, 0.7
    for classes in (2, 3):
        k, rows, cols, y = problem(rng, n, 6, classes)
        wanted = ref.stacked_leaving_one_out(k, ref.one_against_rest(y), penalty, rows, cols)
        model = quietly(AsKLSClassifier(penalty, kernel="precomputed", merge="stack").fit, k, y)
        check.near(f"stacking of {classes} classes", scores(model, rows, cols), wanted, 1e-6)
        check.near(f"probabilities of {classes} classes", model.predict_proba(rows, Z=cols), wanted, 1e-6)
    values = rng.standard_normal((n, 1))
    wanted = ref.stacked_leaving_one_out(k, values, penalty, rows, cols, values=True)
    model = quietly(AsKLSRegressor(penalty, kernel="precomputed", merge="stack").fit, k, values[:, 0])
    check.near("stacking of values", model.predict(rows, Z=cols), wanted[:, 0], 1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("merge", MERGES)
def test_values(check, rng, merge):
    n = int(rng.integers(15, 70))
    k, rows, cols, _ = problem(rng, n, 9)
    y = 5 + 3 * rng.standard_normal(n)
    functions = ref.solve(k, y[:, None], 0.6)
    model = quietly(AsKLSRegressor(0.6, kernel="precomputed", merge=merge).fit, k, y)
    check.near(f"values, {merge}", model.predict(rows, Z=cols), ref.merged(functions, rows, cols, merge)[:, 0], 1e-8)


@pytest.mark.quick
@pytest.mark.parametrize("way", ["average", "columns", "rows"])
def test_symmetrised_machines(check, rng, way):
    for route in ("auto", "svd", "dense", "krylov", "minres"):
        n, classes = int(rng.integers(12, 70)), int(rng.integers(2, 4))
        k, rows, cols, y = problem(rng, n, 7, classes)
        if way == "average":
            k = k + 2 * np.eye(n)  # positive, as kernels are
        known, new = ref.symmetrised(k, rows, cols, way)
        penalty = rng.choice([0.1, 1.0, 20.0])
        a, bias = ref.least_squares_svm(known, ref.one_against_rest(y), penalty)
        model = LSSVMClassifier(penalty, kernel="precomputed", symmetrize=way, route=route, on_singular="error")
        model = quietly(model.fit, k, y)
        check.near(f"ls-svm, {way}, route {route}, penalty {penalty}", scores(model, rows, cols), new @ a + bias, 1e-7)


@pytest.mark.quick
@pytest.mark.parametrize("kernel", ["rbf", "sne"])
def test_samples(check, rng, kernel):
    """Kernels of samples: rows k(new, known), columns k(known, new), the rule of gamma."""
    x, y = clusters(rng, 60, 3, 3)
    new = rng.standard_normal((9, 3))
    low, high = kernels.gamma_by_median(x, x)
    gamma = (low + high) / 2 if kernel == "rbf" else 0.4
    k = kernels.kernel(kernel, x, x, gamma=gamma)
    rows, cols = kernels.kernel(kernel, new, x, gamma=gamma), kernels.kernel(kernel, x, new, known=x, gamma=gamma)
    functions = ref.solve(k, ref.one_against_rest(y), 0.01)
    for merge in MERGES:
        model = quietly(AsKLSClassifier(0.01, kernel=kernel, gamma=gamma, merge=merge).fit, x, y)
        check.near(f"{kernel}, {merge}", model._decision(new), ref.merged(functions, rows, cols, merge), 1e-8)


def nodes_in_files(rng, folder, nodes):
    """The matrix and the classes of a random graph, nodes to learn from and to test on; all of them as files for the program."""
    pairs = links(rng, nodes, 5 * nodes)
    p = kernels.graph_matrix(pairs, nodes)
    y = np.arange(nodes) % 3
    order = rng.permutation(nodes)
    train, test = np.sort(order[:40]), np.sort(order[40:])
    write_links(folder / "g.csv", pairs)
    write_column(folder / "y.csv", range(nodes), y)
    for name, ids in (("train", train), ("test", test)):
        (folder / name).write_text("".join(f"{i}\n" for i in ids))
    return p, y, train, test


@pytest.mark.quick
def test_nodes_of_a_graph(check, rng, tmp_path):
    """Transductive: training on P[train, train], prediction by P[test, train] and P[train, test]."""
    nodes = 60
    p, y, train, test = nodes_in_files(rng, tmp_path, nodes)
    functions = ref.solve(p[np.ix_(train, train)], ref.one_against_rest(y[train]), 0.45)
    for merge in MERGES:
        told("fit", "ask-ls", tmp_path / "g.csv", "--labels", tmp_path / "y.csv", "--kernel", "precomputed", "--penalty", 0.45,
             "--merge", merge, "--train-ids", tmp_path / "train", "--model", tmp_path / "m")
        run("predict", tmp_path / "m", tmp_path / "g.csv", "--ids", tmp_path / "test", "--scores", "--out", tmp_path / "p.csv")
        wanted = ref.merged(functions, p[np.ix_(test, train)], p[np.ix_(train, test)], merge)
        check.near(f"nodes, {merge}", read_scores(tmp_path / "p.csv"), wanted, 1e-8)


def linear_machine(features, y, penalty, new):
    """A one-vs-rest linear LS-SVM."""
    a, bias = ref.least_squares_svm(features @ features.T, y, penalty)
    return new @ (features.T @ a) + bias


@pytest.mark.quick
def test_kernel_svd_machine_of_nodes(check, rng, tmp_path):
    nodes, rank = 60, 7
    p, y, train, test = nodes_in_files(rng, tmp_path, nodes)
    for scaling, power in (("none", 0.0), ("full", 1.0)):
        gamma, penalty = kernels.gamma_by_width(p, 2.0), 10 ** rng.uniform(-1, 2)
        u, s, v = triplets.svd(kernels.kernel("sne", p, p.T, gamma=gamma), rank)
        features = np.hstack([u * s**power, v * s**power])
        wanted = linear_machine(features[train], ref.one_against_rest(y[train]), penalty, features[test])
        told("fit", "kernel-svd", tmp_path / "g.csv", "--labels", tmp_path / "y.csv", "--kernel", "sne", "--gamma", "ksvd",
             "--gamma-factor", 2, "--rank", rank, "--penalty", penalty, "--scaling", scaling, "--links", "in", "--normalize", "row",
             "--train-ids", tmp_path / "train", "--model", tmp_path / "m")
        run("predict", tmp_path / "m", tmp_path / "g.csv", "--ids", tmp_path / "test", "--scores", "--out", tmp_path / "p.csv")
        check.near(f"kernel-svd of nodes, scaling {scaling}", read_scores(tmp_path / "p.csv"), wanted, 1e-7)


@pytest.mark.quick
@pytest.mark.parametrize("task", ["classes", "values"])
def test_kernel_svd_machine_of_a_table(check, rng, tmp_path, task):
    """Rows against each other, or against the columns of their matrix by the aligned principal components; new rows are projected."""
    n, width, rank = 50, 9, 4
    x, y = clusters(rng, n, width, 3)
    y = y if task == "classes" else x[:, 0] + rng.standard_normal(n)
    new = rng.standard_normal((8, width))
    targets = ref.one_against_rest(y) if task == "classes" else y[:, None]
    write_table(tmp_path / "x.csv", x, y)
    write_table(tmp_path / "new.csv", new)
    # A tall matrix leaves its rows as they are.
    for compat, cols, scaling, power in (("none", x, "sqrt", 0.5), ("pca", kernels.compatible(x, "pca")[1], "none", 0.0)):
        u, s, v = triplets.svd(kernels.kernel("rbf", x, cols, gamma=0.001), rank)
        placed = kernels.kernel("rbf", new, cols, gamma=0.001) @ v / s
        wanted = linear_machine(u * s**power, targets, 50.0, placed * s**power)
        told("fit", "kernel-svd", tmp_path / "x.csv", "--target", "label", "--kernel", "rbf", "--gamma", 0.001, "--rank", rank,
             "--penalty", 50, "--task", task, "--compat", compat, "--scaling", scaling, "--scale", "none", "--model", tmp_path / "m")
        run("predict", tmp_path / "m", tmp_path / "new.csv", "--target", "none", "--scores", "--out", tmp_path / "p.csv")
        check.near(f"kernel-svd of a table, {task}, compat {compat}", read_scores(tmp_path / "p.csv"), wanted, 1e-6)


@pytest.mark.quick
def test_low_rank_matrices(check, rng):
    """A K of low rank: eigenvalues 1/penalty of high multiplicity do no harm to any route."""
    n = 300
    k = (orthonormal(rng, n, 5) * np.array([3.0, 2.0, 1.0, 0.5, 0.25])) @ orthonormal(rng, n, 5).T
    _, rows, cols, y = problem(rng, n, 6)
    functions = ref.solve(k, ref.one_against_rest(y), 0.3)
    for route in ROUTES:
        model = AsKLSClassifier(0.3, kernel="precomputed", merge="average", route=route, on_singular="error")
        model = quietly(model.fit, k, y)
        check.near(f"rank 5, route {route}", scores(model, rows, cols), ref.merged(functions, rows, cols, "average"), 1e-8)


@pytest.mark.quick
@pytest.mark.parametrize("route", ROUTES)
def test_kernels_with_large_means(check, rng, route):
    """Columns far from 0: a sum of coefficients that is not quite 0 would come into the decisions times the means of K and the penalty."""
    offset = rng.uniform(100, 500, 4)
    x, new = rng.standard_normal((90, 4)) + offset, rng.standard_normal((9, 4)) + offset
    y = np.argmax(x[:, :3] - offset[:3], axis=1)
    targets, centred = ref.one_against_rest(y), x - x.mean(axis=0)
    for penalty in (1.0, 1e4):
        w = np.linalg.solve(centred.T @ centred + np.eye(4) / penalty, centred.T @ targets)
        model = quietly(LSSVMClassifier(penalty, kernel="linear", route=route).fit, x, y)
        label = f"route {route}, linear kernel, penalty {penalty}"
        check.that(f"{label}: converges", model.report_["converged"])
        check.near(label, model.decision_function(new), (new - x.mean(axis=0)) @ w + targets.mean(axis=0), 1e-4)
