"""Sizes at which the code changes its way: every automatic choice against its alternatives on both sides of the switch."""
import numpy as np
import pytest
import scipy.sparse as sp
from common import EPS, clusters, links, quietly, run, sparse_rows, with_spectrum
from references import ask_ls, kernels
from references import machines as ref
from scipy.sparse.linalg import splu
from sklearn.svm import SVC
from test_triplets import honest

from lopsided import AsKLSClassifier, DirectedGraph, KernelPCA, KernelRidge, KernelSVD, LSSVMClassifier, NystromRidge, NystromSVC


@pytest.mark.quick
@pytest.mark.parametrize("side", [299, 300, 301])
def test_solvers_around_300(check, rng, side):
    """Complete decompositions up to 300 rows or columns."""
    x, z = rng.standard_normal((side, 4)), rng.standard_normal((side + 20, 4))
    g = kernels.kernel("rbf", x, z, gamma=0.1)
    found = {}
    for solver in ("auto", "exact", "lanczos"):
        model = quietly(KernelSVD(6, kernel="rbf", gamma=0.1, solver=solver).fit, x, Z=z)
        honest(check, f"{solver} at {side}", model, g)
        found[solver] = model
    for solver in ("exact", "lanczos"):
        check.near(f"auto and {solver} at {side}", found["auto"].singular_values_, found[solver].singular_values_, 1e-6)


@pytest.mark.parametrize("rank", [49, 50, 51])
def test_solvers_around_an_eighth(check, rng, rank):
    """Complete decompositions where an eighth of all triplets is wanted."""
    n = 400
    g = with_spectrum(rng, n, n, 1 / (1 + np.arange(n)) ** 0.7)
    for solver in ("auto", "lanczos"):
        model = quietly(KernelSVD(rank, kernel="precomputed", solver=solver).fit, g)
        honest(check, f"{solver}, rank {rank} of {n}", model, g)


@pytest.mark.parametrize("side", [3999, 4000, 4001])
def test_solvers_around_4000(check, rng, side):
    """A matrix whose triplets are known: reflections around a diagonal matrix."""
    sigma = np.append(1.0, 1e-4 / (1 + np.arange(side - 1)) ** 0.5)
    v = rng.standard_normal(side)
    v /= np.linalg.norm(v)
    w = rng.standard_normal(side)
    w /= np.linalg.norm(w)
    g = np.diag(sigma)
    g -= 2 * np.outer(v, v @ g)
    g -= 2 * np.outer(g @ w, w)
    model = quietly(KernelSVD(5, kernel="precomputed").fit, g)
    honest(check, f"auto at {side}", model, g, true=sigma)


@pytest.mark.parametrize("count", [511, 512, 513])
def test_nystrom_around_512(check, rng, count):
    """Blocks up to 512 are decomposed completely."""
    x, z = rng.standard_normal((900, 3)), rng.standard_normal((850, 3))
    g = kernels.kernel("rbf", x, z, gamma=0.3)
    model = KernelSVD(8, kernel="rbf", gamma=0.3, solver="nystrom", rows_sample=count, cols_sample=count)
    model = quietly(model.fit, x, Z=z)
    honest(check, f"nystrom with {count} landmarks", model, g, must=False)
    check.near(f"values with {count} landmarks", model.singular_values_, np.linalg.svd(g, compute_uv=False)[:8], 1e-6)


def reflected(rng, n, sigma):
    """K = Q₁ diag(σ) Q₂ᵀ with orthonormal Q whose columns have mean 0, and the two maps x ↦ Qᵀx, each from reflections."""
    ones = np.full(n, 1 / np.sqrt(n))
    to_last = -ones.copy()
    to_last[-1] += 1
    to_last /= np.linalg.norm(to_last)  # takes e_n to the vector of ones
    maps = []
    for _ in range(2):
        w = rng.standard_normal(n)
        w -= w.mean()
        w /= np.linalg.norm(w)
        order = np.append(rng.permutation(n - 1), n - 1)
        maps.append((w, order))

    def apply(x, w, order):
        """Q x."""
        x = x[order]
        x = x - 2 * np.outer(to_last, to_last @ x)
        return x - 2 * np.outer(w, w @ x)

    def transposed(x, w, order):
        x = x - 2 * np.outer(w, w @ x)
        x = x - 2 * np.outer(to_last, to_last @ x)
        out = np.empty_like(x)
        out[order] = x
        return out

    left, right = maps
    k = apply(apply(np.diag(np.append(sigma, 0.0)), *left).T, *right).T
    return np.ascontiguousarray(k), lambda x: transposed(x, *left), lambda x: apply(x, *left), lambda x: transposed(x, *right), lambda x: apply(x, *right)


def solved(k, maps, sigma, y, penalty):
    """The coupled system from the known decomposition: 2×2 for every singular value."""
    left_t, left, right_t, right = maps
    g, s = 1 / penalty, np.append(sigma, 0.0)[:, None]
    yc = y - y.mean(axis=0)
    c, d = left_t(yc), right_t(yc)
    a, b = left((g * c - s * d) / (g**2 - s**2)), right((g * d - s * c) / (g**2 - s**2))
    return ask_ls.Functions(a, b, (y - k @ b).mean(axis=0), (y - k.T @ a).mean(axis=0))


SPECTRA = {
    "easy": lambda rng, n: 2 / (1 + np.arange(n - 1)) ** 1.5 + 1e-3,
    "hard": lambda rng, n: np.concatenate([rng.uniform(1.15, 1.9, n // 2), rng.uniform(0.1, 0.85, n - 1 - n // 2)]),
}


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("n", [499, 500, 501, 1499, 1500, 1501, 1999, 2000, 2001])
def test_routes_around_500_1500_and_2000(check, rng, n, spectrum):
    sigma = np.sort(SPECTRA[spectrum](rng, n))[::-1]
    sigma[np.abs(sigma - 1) < 0.05] = 1.2
    k, *maps = reflected(rng, n, sigma)
    y = np.arange(n) % 3
    rows, cols = rng.standard_normal((5, n)), rng.standard_normal((n, 5))
    wanted = ask_ls.merged(solved(k, maps, sigma, ask_ls.one_against_rest(y), 1.0), rows, cols, "average")
    routes = ("auto", "dense", "krylov", "minres", "svd") if n in (499, 501) else ("auto",)
    for route in routes:
        model = quietly(AsKLSClassifier(1.0, kernel="precomputed", merge="average", route=route).fit, k, y)
        label = f"route {route} at {n}, {spectrum}"
        check.that(f"{label}: not called singular", not any("singular" in text for text in model.report_["warnings"]))
        check.that(f"{label}: converges", model.report_["converged"])
        check.near(label, model._decision(rows, cols), wanted, 1e-7)


@pytest.mark.parametrize("n", [4999, 5000, 5001])
def test_routes_around_5000(check, rng, n):
    sigma = np.sort(SPECTRA["easy"](rng, n))[::-1]
    sigma[np.abs(sigma - 1) < 0.05] = 1.2
    k, *maps = reflected(rng, n, sigma)
    y = np.arange(n) % 2
    rows, cols = rng.standard_normal((5, n)), rng.standard_normal((n, 5))
    wanted = ask_ls.merged(solved(k, maps, sigma, ask_ls.one_against_rest(y), 1.0), rows, cols, "average")
    for route in ("auto", "minres") if n == 5001 else ("auto",):
        model = quietly(AsKLSClassifier(1.0, kernel="precomputed", merge="average", route=route).fit, k, y)
        check.that(f"route {route} at {n}: converges", model.report_["converged"])
        check.near(f"route {route} at {n}", model._decision(rows, cols), wanted, 1e-7)


def test_no_cliff_at_5000(check, rng):
    """Some hundred singular values above 1/penalty, beyond what is factored."""
    n = 5001
    sigma = np.sort(np.concatenate([10 ** rng.uniform(0.02, 2, 300), rng.uniform(0, 0.95, n - 301)]))[::-1]
    k, *maps = reflected(rng, n, sigma)
    y = np.arange(n) % 2
    rows, cols = rng.standard_normal((5, n)), rng.standard_normal((n, 5))
    wanted = ask_ls.merged(solved(k, maps, sigma, ask_ls.one_against_rest(y), 1.0), rows, cols, "average")
    model = quietly(AsKLSClassifier(1.0, kernel="precomputed", merge="average").fit, k, y)
    check.that("not called singular", not any("singular" in text for text in model.report_["warnings"]))
    check.that("converges", model.report_["converged"])
    check.near("auto at 5001, condition about 2000", model._decision(rows, cols), wanted, 1e-6)


@pytest.mark.parametrize("nodes", [4999, 5001])
def test_graphs_around_5000(check, rng, nodes):
    """A sparse P at penalty 3, factored below and solved by products above; the reference is a sparse LU factorisation."""
    ring = links(rng, nodes, nodes // 2)
    p = sp.csr_matrix((np.ones(len(ring)), (ring[:, 1], ring[:, 0])), shape=(nodes, nodes)) + sp.eye(nodes)
    p = sp.csr_matrix(sp.diags(1 / np.asarray(p.sum(axis=1))[:, 0]) @ p)
    y = np.arange(nodes) % 2
    functions = solved_sparsely(p, ask_ls.one_against_rest(y), 3.0)
    wanted = (p @ functions.b + functions.source_bias + p.T @ functions.a + functions.target_bias) / 2
    model = AsKLSClassifier(3.0, kernel="precomputed", merge="average")
    model = quietly(model.fit, DirectedGraph.of([tuple(pair) for pair in ring.tolist()], range(nodes)), {i: int(y[i]) for i in range(nodes)})
    said = " ".join(model.report_["warnings"])
    check.that(f"{nodes} nodes: not called singular: {said}", "singular" not in said)
    if model.report_["converged"]:
        check.near(f"{nodes} nodes", model._decision(list(range(nodes))), wanted, 1e-4)


def solved_sparsely(p, y, penalty):
    """The bordered system: the sparse block factored, the border by its Schur complement."""
    n = p.shape[0]
    block = splu(sp.csc_matrix(sp.bmat([[sp.eye(n) / penalty, p], [p.T, sp.eye(n) / penalty]])))
    border = np.kron(np.eye(2), np.ones((n, 1)))
    by_targets, by_border = block.solve(np.vstack([y, y])), block.solve(border)
    biases = np.linalg.solve(border.T @ by_border, border.T @ by_targets)
    found = by_targets - by_border @ biases
    return ask_ls.Functions(found[:n], found[n:], biases[0], biases[1])


@pytest.mark.parametrize("n", [499, 501, 1501])
def test_routes_of_symmetric_kernels(check, rng, n):
    x, y = clusters(rng, n, 4, 3)
    k = kernels.kernel("rbf", x, x, gamma=0.2)
    new = rng.standard_normal((9, 4))
    rows = kernels.kernel("rbf", new, x, gamma=0.2)
    a, bias = ask_ls.least_squares_svm(k, ask_ls.one_against_rest(y), 1.0)
    for route in ("auto", "dense", "krylov", "minres"):
        try:
            model = quietly(LSSVMClassifier(1.0, gamma=0.2, route=route, on_singular="error").fit, x, y)
        except ValueError as error:
            check.that(f"ls-svm, route {route} at {n}, positive kernel: {error}", False)
            continue
        check.near(f"ls-svm, route {route} at {n}", model._decision(new), rows @ a + bias, 1e-7)


@pytest.mark.parametrize("n", [1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097])
def test_landmarks_around_blocks(check, rng, n):
    """Blocks of samples have 256, 1024, 2048 and 4096 rows.

    A bandwidth narrow enough for the landmarks to be independent: else where their span is cut decides about more digits than are compared.
    """
    gamma = 10.0
    m, alpha = int(rng.choice([30, 255, 257])), 0.5
    x = rng.standard_normal((n, 3))
    y, new = np.sin(2 * x[:, 0]) + x[:, 1], rng.standard_normal((9, 3))
    chosen = rng.choice(n, m, replace=False)
    k_nm = kernels.kernel("rbf", x, x[chosen], gamma=gamma)
    predict = ref.ridge_on_landmarks(k_nm, k_nm[chosen], y, 1 / alpha, "lla")
    rows = kernels.kernel("rbf", new, x[chosen], gamma=gamma)
    for approach in ("lla", "ncr"):
        model = quietly(NystromRidge(alpha, gamma=gamma, approach=approach, landmarks=chosen).fit, x, y)
        # Eq. (11) squares the condition number of the landmarks, which the orthonormal basis of `lla` does not.
        lost = 10 * EPS * np.linalg.cond(k_nm[chosen]) if approach == "ncr" else 0.0
        check.near(f"{approach} of {n} samples, {m} landmarks", model.predict(new), predict(rows, None), 1e-6 + min(lost, 0.1))
    scale = quietly(KernelSVD(1, kernel="rbf", solver="lanczos", gamma="scale").fit, x, Z=x[:40]).report_["kernel"]["params"]["gamma"]
    check(f"scale of {n} samples", abs(scale / kernels.gamma_by_width(x) - 1), 1e-11)


@pytest.mark.parametrize("n", [1999, 2000, 2001])
@pytest.mark.parametrize("width", [3, 40])
def test_components_around_2000(check, rng, n, width):
    """Exact components of many samples, and of more than 32 coordinates, go other ways."""
    x = rng.standard_normal((n, width)) * (1 + np.arange(width)[::-1])
    gamma = 1 / (2 * width * x.var())
    k = kernels.kernel("rbf", x, x, gamma=gamma)
    h = kernels.centred(k)
    values = np.linalg.eigvalsh(h)[::-1][:4]
    model = quietly(KernelPCA(4, gamma=gamma).fit, x)
    check.near(f"eigenvalues of {n} samples of width {width}", model.eigenvalues_, values, 1e-6)


@pytest.mark.parametrize("n", [255, 257, 700])
def test_support_vectors_of_many_samples(check, rng, n):
    x, y = clusters(rng, n, 3, 2)
    new = rng.standard_normal((50, 3))
    for c in (0.5, 50.0):
        model = quietly(NystromSVC(c, gamma=0.3, approach="exact", tol=1e-8).fit, x, y)
        machine = SVC(C=c, gamma=0.3, tol=1e-8).fit(x, y)
        check.near(f"{n} samples, C {c}", model.decision_function(new), machine.decision_function(new), 1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "sne", "linear", "poly"])
def test_sparse_and_dense_samples(check, rng, kernel):
    """The same samples as sparse and as dense ones, in both precisions."""
    x, z = sparse_rows(rng, 400, 120), sparse_rows(rng, 380, 120)
    settings = {"gamma": 0.3} if kernel in ("rbf", "sne") else {}
    g = kernels.kernel(kernel, x, z, **settings)
    for label, a, b in (("sparse", x, z), ("dense", x.toarray(), z.toarray())):
        model = quietly(KernelSVD(5, kernel=kernel, **settings).fit, a, Z=b)
        honest(check, f"{kernel} of {label} samples", model, g)
    single = quietly(KernelSVD(5, kernel=kernel, tol=1e-4, **settings).fit, x.astype(np.float32), Z=z.astype(np.float32))
    check.near(f"{kernel} in single precision", single.singular_values_, np.linalg.svd(g, compute_uv=False)[:5], 1e-4)


@pytest.mark.parametrize("n", [4999, 5001])
def test_ridge_regression_of_many_samples(check, rng, n):
    """Conjugate gradients in the place of factors, where samples and landmarks are many."""
    m, alpha = 400, 1e-2
    x = rng.standard_normal((n, 3))
    y, new = np.sin(2 * x[:, 0]) + x[:, 1], rng.standard_normal((50, 3))
    chosen = rng.choice(n, m, replace=False)
    k_nm = kernels.kernel("rbf", x, x[chosen], gamma=0.3)
    predict = ref.ridge_on_landmarks(k_nm, k_nm[chosen], y, 1 / alpha, "lla")
    model = quietly(NystromRidge(alpha, gamma=0.3, landmarks=chosen).fit, x, y)
    check.near(f"{n} samples, {m} landmarks", model.predict(new), predict(kernels.kernel("rbf", new, x[chosen], gamma=0.3), None), 1e-3)


def test_plans_say_what_is_taken(check, rng, tmp_path):
    """`--dry-run` names the solver that the run then takes."""
    for side in (300, 301):
        np.save(tmp_path / "g.npy", rng.standard_normal((side, side)))
        words = ("embed", tmp_path / "g.npy", "--kernel", "precomputed", "--rank", 2, "--json", "--quiet")
        _, plan, _ = run(*words, "--dry-run")
        _, found, _ = run(*words)
        check.that(f"solver at {side}", str(found["solver"]) in str(plan))


def test_exact_ridge_of_many_samples(check, rng):
    n = 2050
    x = rng.standard_normal((n, 3))
    y, new = np.sin(2 * x[:, 0]), rng.standard_normal((9, 3))
    coefficients, mean = ref.ridge(kernels.kernel("rbf", x, x, gamma=0.3), y, 10.0)
    model = quietly(KernelRidge(0.1, gamma=0.3).fit, x, y)
    check.near(f"{n} samples", model.predict(new), kernels.kernel("rbf", new, x, gamma=0.3) @ coefficients + mean, 1e-7)
