"""Kernel matrices entry by entry: the complete decomposition is multiplied back to G."""
import numpy as np
import pytest
import scipy.sparse as sp
from common import EPS, EPS32, clusters, links, quietly, run, sparse_rows, told, write_links
from references import kernels as ref

from lopsided import GraphEmbedding, KernelSVD
from lopsided import kernels as listed

SAMPLES = ("linear", "poly", "rbf", "laplacian", "sne", "t", "kl")
NODES = ("katz", "ppr", "shortest-path")
#: Tiles have 256 rows and columns, strips 64, vector units 8 and 32 entries.
EDGES = (1, 2, 7, 8, 9, 31, 33, 63, 64, 65, 127, 200, 255, 256, 257, 300)
ALLOWED = {np.float64: 1e-12, np.float32: 2e-5}


def test_every_kernel_has_a_reference(check):
    check.that(f"kernels are {sorted(listed())}", set(listed()) == {*SAMPLES, *NODES, "precomputed"})


def back(model):
    """G from its complete decomposition."""
    return (model.row_vectors_.astype(float) * model.singular_values_) @ model.col_vectors_.astype(float).T


def rounding(model, g, eps):
    """What the entries may miss, relative to the largest: a decomposition is known to a few eps·σ₁, and values up to
    eps·max(n, m)·σ₁ count as zero and are left out."""
    complete = len(model.singular_values_) == min(g.shape)
    return (8 if complete else 8 + max(g.shape)) * eps * model.singular_values_[0] / np.abs(g).max()


def parameters(rng, name, x, z):
    """Random parameters of a kernel for these samples."""
    if name == "linear":
        return {}
    if name == "poly":
        return {"gamma": rng.uniform(0.1, 1) / x.shape[1], "coef0": rng.uniform(0, 2), "degree": int(rng.integers(1, 5))}
    if name == "kl":
        return {"gamma": rng.uniform(0.1, 2), "epsilon": 10 ** rng.uniform(-6, -2)}
    distance = ref.absolute_distances if name == "laplacian" else ref.squared_distances
    return {"gamma": rng.uniform(0.1, 3) / np.median(distance(x, z))}


def samples(rng, name, kind, n, m, width):
    """Row and column samples of a kind, as the kernel may have them."""
    if kind == "sparse":
        return sparse_rows(rng, n, width), sparse_rows(rng, m, width)
    x, z = rng.standard_normal((n, width)), rng.standard_normal((m, width))
    return (np.abs(x), np.abs(z)) if name == "kl" else (x, z)


@pytest.mark.quick
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", SAMPLES)
def test_values_between_samples(check, rng, name, kind):
    for dtype in (np.float64, np.float32):
        n, m, width = rng.choice(EDGES), rng.choice(EDGES), rng.choice([1, 3, 8, 33, 70])
        x, z = (part.astype(dtype) for part in samples(rng, name, kind, n, m, width))
        settings = parameters(rng, name, x, z)
        model = quietly(KernelSVD(int(min(n, m)), kernel=name, solver="exact", **settings).fit, x, Z=z)
        label = f"{name}, {kind} {np.dtype(dtype)}, {n} by {m} of width {width}"
        g = ref.kernel(name, x, z, **settings)
        check.near(f"G of {label}", back(model), g, ALLOWED[dtype] + 4 * rounding(model, g, np.finfo(dtype).eps))
        new_x, new_z = (part.astype(dtype) for part in samples(rng, name, kind, 5, 4, width))
        few = quietly(KernelSVD(1, kernel=name, solver="exact", **settings).fit, x, Z=z)
        u, v, sigma = few.row_vectors_, few.col_vectors_, few.singular_values_
        rows = ref.kernel(name, new_x, z, **settings) @ v / sigma
        cols = ref.kernel(name, x, new_z, known=z, **settings).T @ u / sigma
        check.near(f"new rows of {label}", few.transform(new_x), rows, 10 * ALLOWED[dtype])
        check.near(f"new columns of {label}", few.transform_columns(new_z), cols, 10 * ALLOWED[dtype])


@pytest.mark.parametrize("operator", ["auto", "sparse", "tiles", "dense"])
@pytest.mark.parametrize("name", SAMPLES)
def test_operators_of_the_program(check, rng, tmp_path, name, operator):
    n, m, width = rng.choice([40, 255, 257]), rng.choice([64, 256, 300]), 40
    x, z = samples(rng, name, "sparse", n, m, width)
    settings = parameters(rng, name, x, z)
    sp.save_npz(tmp_path / "x.npz", x)
    sp.save_npz(tmp_path / "z.npz", z)
    words = [word for key, value in settings.items() for word in (f"--{key}", value)]
    rank, outs = 12, [tmp_path / "u.npy", tmp_path / "v.npy"]
    code, found, errors = run(
        "embed", tmp_path / "x.npz", "--cols", tmp_path / "z.npz", "--kernel", name, *words, "--operator", operator,
        "--solver", "exact", "--rank", rank, "--rows-out", outs[0], "--cols-out", outs[1], "--json", "--quiet",
    )
    if operator == "sparse" and name in ("t", "kl") and code == 2:
        return  # kernels without the sparse form are refused
    check.that(f"{name} by {operator} runs: {errors.strip()[:200]}", code in (0, 1))
    if code not in (0, 1):
        return
    g = ref.kernel(name, x, z, **settings)
    u, s, v = np.load(outs[0]), np.array(found["singular_values"]), np.load(outs[1])
    largest = max(np.linalg.norm(g @ v - u * s), np.linalg.norm(g.T @ u - v * s))
    check(f"triplets of {name} by {operator}, {n} by {m}", largest / s[0], 1e-11)
    check.near(f"values of {name} by {operator}", s, np.linalg.svd(g, compute_uv=False)[: len(s)], 1e-11)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["linear", "rbf", "sne", "poly"])
def test_centring(check, rng, name):
    n, m, width = 70, 65, 5
    x, z = rng.standard_normal((n, width)), rng.standard_normal((m, width))
    settings = parameters(rng, name, x, z)
    g = ref.kernel(name, x, z, **settings)
    model = quietly(KernelSVD(m, kernel=name, solver="exact", center=True, **settings).fit, x, Z=z)
    # Centring leaves a matrix of rank m − 1 at most, and what is far below G is rounded with G.
    check.near(f"centred {name}", back(model), ref.centred(g), 1e-12 + rounding(model, g, EPS), scale=np.abs(g).max())
    few = quietly(KernelSVD(2, kernel=name, solver="exact", center=True, **settings).fit, x, Z=z)
    new = rng.standard_normal((6, width))
    rows = ref.centred_rows(ref.kernel(name, new, z, **settings), g) @ few.col_vectors_ / few.singular_values_
    check.near(f"new rows, centred {name}", few.transform(new), rows, 1e-10)
    cols = ref.centred_rows(ref.kernel(name, x, new, known=z, **settings).T, g.T) @ few.row_vectors_ / few.singular_values_
    check.near(f"new columns, centred {name}", few.transform_columns(new), cols, 1e-10)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["rbf", "sne", "laplacian"])
def test_rules_of_gamma(check, rng, name):
    n, m, width = rng.integers(20, 90), rng.integers(20, 90), rng.integers(1, 9)
    x, z = 3 * rng.standard_normal((n, width)) + 1, rng.standard_normal((m, width))
    factor = rng.uniform(0.3, 4)

    def found(**settings):
        return quietly(KernelSVD(2, kernel=name, **settings).fit, x, Z=z).report_["kernel"]["params"]["gamma"]

    wanted = ref.gamma_by_width(x)
    check("default is scale", abs(found() / wanted - 1), 1e-12)
    for rule in ("scale", "ksvd"):
        check(rule, abs(found(gamma=rule) / wanted - 1), 1e-12)
        check(f"{rule} with a factor", abs(found(gamma=rule, gamma_factor=factor) * factor**2 / wanted - 1), 1e-12)
    low, high = ref.gamma_by_median(x, z, ref.absolute_distances if name == "laplacian" else ref.squared_distances)
    median = found(gamma="median")
    check(f"median of {name}", max(low / median - 1, median / high - 1, 0), 1e-12)


def test_median_of_sampled_pairs(check, rng):
    """Beyond 200 000 pairs some are drawn: the share of all distances below theirs is a half, within five deviations."""
    x, z = rng.standard_normal((520, 3)), rng.standard_normal((510, 3))
    gamma = quietly(KernelSVD(2, kernel="rbf", gamma="median").fit, x, Z=z).report_["kernel"]["params"]["gamma"]
    check("share below", abs(np.mean(ref.squared_distances(x, z) < 1 / gamma) - 0.5), 5 * 0.5 / np.sqrt(200_000))


@pytest.mark.quick
@pytest.mark.parametrize("choice", ["none", "pca", "pinv"])
def test_compatibility(check, rng, choice):
    shapes = [(30, 30)] if choice == "none" else [(25, 40), (40, 25), (210, 260), (30, 30)]
    for n, m in shapes:
        a = rng.standard_normal((n, m))
        rows, cols = ref.compatible(a, choice)
        g = ref.kernel("rbf", rows, cols, gamma=0.02)
        model = quietly(KernelSVD(min(n, m), kernel="rbf", gamma=0.02, compat=choice, solver="exact").fit, a)
        check.near(f"{choice} of {n} by {m}", back(model), g, 1e-11 + rounding(model, g, EPS))
        check.near(f"rows again, {choice} of {n} by {m}", model.transform(a)[:, :3], model.row_vectors_[:, :3], 1e-9)


@pytest.mark.quick
@pytest.mark.parametrize("side", ["in", "out"])
def test_kernels_of_nodes(check, rng, side):
    nodes = int(rng.integers(20, 90))
    pairs = links(rng, nodes, 4 * nodes)
    a = ref.graph_matrix(pairs, nodes, side, self_loops=False, normalize="none")
    p = ref.graph_matrix(pairs, nodes, side)

    def found(name, **settings):
        model = GraphEmbedding(nodes, kernel=name, solver="exact", links=side, **settings)
        model = quietly(model.fit, [tuple(pair) for pair in pairs.tolist()], nodes=range(nodes))
        order = np.argsort(model.nodes_)
        return back(model)[np.ix_(order, order)]

    gamma = ref.gamma_by_width(p)
    check.near(f"P, links {side}", found("precomputed"), p, 1e-13)
    check.near(f"sne, links {side}", found("sne", normalize="row", gamma_factor=1.0), ref.kernel("sne", p, p.T, gamma=gamma), 1e-12)
    plain = found("rbf", normalize="row", gamma_factor=3.0)
    check.near(f"rbf, links {side}", plain, ref.kernel("rbf", p, p.T, gamma=gamma / 9), 1e-12)
    rows, cols = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (p, p.T))
    usual = ref.kernel("rbf", rows, cols, gamma=ref.gamma_by_width(rows) / 9)
    check.near(f"rbf of unit length, links {side}", found("rbf"), usual, 1e-12)
    alpha, decay = rng.uniform(0.2, 0.95), rng.uniform(0.3, 2)
    check.near(f"ppr {alpha:.2f}, links {side}", found("ppr", kernel_params={"alpha": alpha}), ref.page_rank(p, alpha), 1e-11)
    check.near(f"ppr, links {side}", found("ppr"), ref.page_rank(p), 1e-11)
    paths = found("shortest-path", kernel_params={"decay": decay})
    check.near(f"shortest-path {decay:.2f}, links {side}", paths, ref.shortest_path(p, decay), 1e-12)
    for share in (0.5, rng.uniform(0.05, 0.9)):
        # β is known to 1e-10 and the sum multiplies that by 1/(1 − share).
        values = found("katz", kernel_params={"beta": share})
        check.near(f"katz {share:.2f}, links {side}", values, ref.katz(a, share), 2e-9 / (1 - share))


def test_katz_with_weights_and_many_nodes(check, rng, tmp_path):
    """Above 5000 nodes nothing is stored; the spectral radius is that of ARPACK."""
    nodes = 5003
    pairs = links(rng, nodes, 3 * nodes)
    a = sp.csr_matrix((np.ones(len(pairs)), (pairs[:, 1], pairs[:, 0])), shape=(nodes, nodes))
    radius = np.abs(sp.linalg.eigs(a, k=3, which="LM", return_eigenvectors=False, tol=1e-12)).max()
    write_links(tmp_path / "g.csv", pairs)
    (tmp_path / "nodes.txt").write_text("".join(f"{i}\n" for i in range(nodes)))
    found = told("embed", tmp_path / "g.csv", "--kernel", "katz", "--beta", 0.6, "--rank", 3, "--nodes",
                 tmp_path / "nodes.txt", "--rows-out", tmp_path / "u.csv", "--cols-out", tmp_path / "v.csv")
    u, v = (read_in_order(tmp_path / name) for name in ("u.csv", "v.csv"))
    s = np.array(found["singular_values"])
    m = 0.6 / radius * a
    solve = sp.linalg.splu(sp.csc_matrix(sp.eye(nodes) - m))
    rows = np.linalg.norm(solve.solve(m @ v) - u * s, axis=0)
    cols = np.linalg.norm(m.T @ solve.solve(u, trans="T") - v * s, axis=0)
    check("katz of 5003 nodes: residual by its own value", (np.maximum(rows, cols) / s).max(), 1.1e-6)


def read_in_order(path):
    """An embedding by the numbers of its nodes."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[np.argsort(table[:, 0]), 1:]


@pytest.mark.quick
def test_katz_of_a_graph_without_cycles(check, rng, tmp_path):
    """ρ = 0: every β is allowed, and what is used instead is said."""
    pairs = np.array([(i, j) for i in range(12) for j in range(i + 1, 12) if rng.random() < 0.4 or j == i + 1])
    write_links(tmp_path / "g.csv", pairs)
    code, found, errors = run("embed", tmp_path / "g.csv", "--kernel", "katz", "--rank", 4, "--json")
    check.that(f"embeds: exit code {code}, {errors[:200]}", code == 0)
    talk = errors + " ".join(map(str, (found or {}).get("notes", []))) + " ".join(map(str, (found or {}).get("warnings", [])))
    check.that("says that there is no cycle", any(word in talk.lower() for word in ("cycl", "spectral radius", "radius 0", "nilpotent")))


@pytest.mark.quick
def test_extreme_exponents(check, rng):
    """SNE needs only quotients within a row: large gammas must neither underflow nor overflow."""
    x, z = rng.standard_normal((40, 4)), rng.standard_normal((37, 4))
    for gamma in (1e-12, 1e-3, 50.0, 1e4, 1e8):
        g = ref.kernel("sne", x, z, gamma=gamma)
        model = quietly(KernelSVD(37, kernel="sne", gamma=gamma, solver="exact").fit, x, Z=z)
        # A squared distance from a scalar product is known to some eps·|x|², which gamma multiplies.
        allowed = 1e-12 + 20 * EPS * gamma * ref.squared_distances(x, z).max()
        check.near(f"sne with gamma {gamma}", back(model), g, min(allowed, 1e-3) + rounding(model, g, EPS))


def test_shifted_samples(check, rng):
    """Far from the origin distances cancel; the centre of the samples is taken off first."""
    shift = 10.0 ** rng.integers(2, 5)
    x, z = rng.standard_normal((80, 6)) + shift, rng.standard_normal((90, 6)) + shift
    for dtype, eps in ((np.float64, EPS), (np.float32, EPS32)):
        a, b = x.astype(dtype), z.astype(dtype)
        g = ref.kernel("rbf", a.astype(float), b.astype(float), gamma=0.1)
        model = quietly(KernelSVD(80, kernel="rbf", gamma=0.1, solver="exact").fit, a, Z=b)
        check.near(f"rbf at distance {shift} in {np.dtype(dtype)}", back(model), g, 400 * eps + rounding(model, g, eps))


@pytest.mark.quick
def test_kernels_in_python(check, rng):
    x, y = clusters(rng, 40, 3, 2)

    def kernel(a, b):
        return np.tanh(np.asarray(a) @ np.asarray(b).T + np.asarray(a)[:, :1])

    model = quietly(KernelSVD(40, kernel=kernel, solver="exact").fit, x)
    check.near("a kernel of the user's", back(model), kernel(x, x), 1e-12)
