"""Every kernel by its formula, matrices of graphs, rules of gamma, centring, compatibility."""
import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist


def dense(x):
    return x.toarray() if sp.issparse(x) else np.asarray(x, dtype=np.float64)


def squared_distances(x, z):
    """|x - z|² from the differences, without cancellation."""
    return cdist(dense(x), dense(z), "sqeuclidean")


def absolute_distances(x, z):
    return cdist(dense(x), dense(z), "cityblock")


def kullback_leibler(x, z, epsilon):
    """Σ p ln(p/q) of histograms with epsilon added to the share of every bin."""
    def shares(a):
        a = dense(a)
        a = a / a.sum(axis=1, keepdims=True) + epsilon
        return a / a.sum(axis=1, keepdims=True)

    p, q = shares(x), shares(z)
    return np.stack([(row * (np.log(row) - np.log(q))).sum(axis=1) for row in p])


def rows_sum_to_one(values, normalisers):
    return values / normalisers[:, None]


def kernel(name, x, z, known=None, gamma=None, coef0=1.0, degree=3, epsilon=1e-6):
    """k(x_i, z_j); rows of `sne` and `t` are divided by their sums over the `known` columns, z if they are all there are."""
    known = z if known is None else known
    if name == "linear":
        return dense(x) @ dense(z).T
    if name == "poly":
        return ((1.0 if gamma is None else gamma) * (dense(x) @ dense(z).T) + coef0) ** degree
    if name == "rbf":
        return np.exp(-gamma * squared_distances(x, z))
    if name == "laplacian":
        return np.exp(-gamma * absolute_distances(x, z))
    if name == "kl":
        return np.exp(-(1.0 if gamma is None else gamma) * kullback_leibler(x, z, epsilon))
    if name == "sne":
        own, new = -gamma * squared_distances(x, known), -gamma * squared_distances(x, z)
        largest = own.max(axis=1)  # a common factor of a row leaves the quotient as it is
        return rows_sum_to_one(np.exp(new - largest[:, None]), np.exp(own - largest[:, None]).sum(axis=1))
    if name == "t":
        gamma = 1.0 if gamma is None else gamma
        return rows_sum_to_one(1 / (1 + gamma * squared_distances(x, z)), (1 / (1 + gamma * squared_distances(x, known))).sum(axis=1))
    raise ValueError(name)


def graph_matrix(pairs, nodes, side="in", self_loops=True, normalize="row"):
    """P = D⁻¹(A + I) with A[i, j] = 1 for a link j → i, or its other forms."""
    a = np.zeros((nodes, nodes))
    for source, target in pairs:
        if side == "in":
            a[target, source] += 1
        else:
            a[source, target] += 1
    if self_loops:
        a += np.eye(nodes)
    sums = a.sum(axis=1)
    return a / np.where(sums > 0, sums, 1)[:, None] if normalize == "row" else a


def spectral_radius(a):
    return np.abs(np.linalg.eigvals(a)).max()


def katz(a, share=0.5):
    """Σ_k≥1 (βA)^k with β = share/ρ(A)."""
    b = share / spectral_radius(a) * a
    return np.linalg.solve(np.eye(len(a)) - b, b)


def page_rank(p, alpha=0.85):
    return (1 - alpha) * np.linalg.inv(np.eye(len(p)) - alpha * p)


def shortest_path(p, decay=1.0, least=1e-4):
    """exp(-decay·d) for d links between two nodes along the rows of P; what is below `least` is 0."""
    distances = sp.csgraph.shortest_path(sp.csr_matrix(p != 0), unweighted=True)
    values = np.exp(-decay * distances)
    return np.where(values < least, 0.0, values)


def variance(x):
    """Of all entries."""
    return np.var(dense(x))


def gamma_by_width(x, factor=1.0):
    """`scale` and `ksvd`: 1/(k²·width·var)."""
    return 1 / (factor**2 * x.shape[1] * variance(x))


def gamma_by_median(x, z, distances=squared_distances):
    """The range between the two middle distances, inverted: any value in it is a median."""
    values = np.sort(distances(x, z).ravel())
    return 1 / values[len(values) // 2], 1 / values[(len(values) - 1) // 2]


def centred(g):
    """Both feature maps centred."""
    return g - g.mean(axis=0) - g.mean(axis=1)[:, None] + g.mean()


def centred_rows(new, g):
    """Rows k(x, Z) of new samples, centred with the means of the training samples."""
    return new - new.mean(axis=1)[:, None] - g.mean(axis=0) + g.mean()


def compatible(a, choice):
    """Rows and columns of A in the same coordinates, complete decomposition."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    if choice == "none":
        return a, a.T
    middle = s if choice == "pca" else (s > s[0] * 1e-12).astype(float)
    if a.shape[1] >= a.shape[0]:
        return (u * middle) @ u.T, a.T
    return a, (vt.T * middle) @ vt
