"""Online learners on explicit feature matrices: W is a dense matrix, decomposed anew in every trial."""
import numpy as np


def features(k):
    """Φ with ΦΦᵀ = K for all samples that will ever be seen."""
    values, vectors = np.linalg.eigh(k)
    kept = values > 1e-13 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def loss(name, prediction, label):
    return {
        "squared": lambda: (prediction - label) ** 2,
        "absolute": lambda: abs(prediction - label),
        "logistic": lambda: np.logaddexp(0, -label * prediction),
        "hinge": lambda: max(0.0, 1 - label * prediction),
        "gain": lambda: -prediction,
    }[name]()


def slope(name, prediction, label):
    return {
        "squared": lambda: 2 * (prediction - label),
        "absolute": lambda: np.sign(prediction - label),
        "logistic": lambda: -label / (1 + np.exp(label * prediction)),
        "hinge": lambda: -label if label * prediction < 1 else 0.0,
        "gain": lambda: -1.0,
    }[name]()


def largest_slope(name, radius):
    """For predictions of size `radius` at most and labels of size 1 at most."""
    return 2 * (radius + 1) if name == "squared" else 1.0


def simplex(values, total, equal=False):
    """The nearest point with entries ≥ 0 and sum ≤ total, or = total."""
    kept = np.maximum(values, 0)
    if not equal and kept.sum() <= total:
        return kept
    ordered = np.sort(values)[::-1]
    thresholds = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    count = np.nonzero(ordered > thresholds)[0][-1]
    return np.maximum(values - thresholds[count], 0)


def project(w, ball, radius):
    """The nearest matrix in a ball."""
    if ball == "frobenius":
        return w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
    if ball == "symmetric":
        values, vectors = np.linalg.eigh((w + w.T) / 2)
        return (vectors * simplex(values, radius)) @ vectors.T
    u, s, vt = np.linalg.svd(w, full_matrices=False)
    return (u * (simplex(s, radius) if ball == "trace" else np.minimum(s, radius))) @ vt


def size_of_step(steps, trial):
    """("fixed", η), or ("decreasing", η) for η/√t."""
    return steps[1] if steps[0] == "fixed" else steps[1] / np.sqrt(trial)


def gradient_descent(matrices, labels, ball, radius, loss_name, steps):
    """[KMU] Eq. (4.1): W ← proj(W − η ∂ M) from W = 0; predictions before learning, and W."""
    w, predictions = np.zeros_like(matrices[0]), []
    for trial, (m, label) in enumerate(zip(matrices, labels), start=1):
        predictions.append((w * m).sum())
        w = project(w - size_of_step(steps, trial) * slope(loss_name, predictions[-1], label) * m, ball, radius)
    return np.array(predictions), w


def capped(weights, k):
    """Weights of sum 1, none above 1/k: those that exceed it are set to it, the others scaled up, again and again."""
    weights = weights / weights.sum()
    fixed = np.zeros(len(weights), dtype=bool)
    while (weights > 1 / k * (1 + 1e-14)).any():
        fixed |= weights > 1 / k * (1 + 1e-14)
        weights = np.where(fixed, 1 / k, weights)
        rest = 1 - fixed.sum() / k
        if weights[~fixed].sum() <= 0 or rest <= 0:
            break
        weights = np.where(fixed, weights, weights * rest / weights[~fixed].sum())
    return weights


def density(h, basis, k):
    """exp(H)/tr exp(H) on the span of a basis, eigenvalues capped at 1/k."""
    if basis.shape[1] == 0:
        return np.zeros_like(h)
    values, vectors = np.linalg.eigh(basis.T @ h @ basis)
    vectors = basis @ vectors
    return (vectors * capped(np.exp(values - values.max()), k)) @ vectors.T


def span(vectors):
    """An orthonormal basis of the span of some rows."""
    if len(vectors) == 0:
        return np.zeros((vectors.shape[1], 0))
    _, s, vt = np.linalg.svd(vectors, full_matrices=False)
    return vt[s > 1e-8 * max(s.max(), 1e-300)].T


def exponentiated_gradients(vectors, labels, loss_name, steps, k=1, whole=False):
    """[KMU] Eq. (4.3): W ∝ exp(−Σ η ∂ M), on the whole space or on the span of past instances; predictions tr(k W M)."""
    count, d = vectors.shape
    h, predictions = np.zeros((d, d)), []
    for t in range(count):
        w = density(h, np.eye(d) if whole else span(vectors[:t]), k)
        predictions.append(k * vectors[t] @ w @ vectors[t])
        h = h - size_of_step(steps, t + 1) * slope(loss_name, predictions[-1], labels[t]) * np.outer(vectors[t], vectors[t])
    return np.array(predictions), k * density(h, np.eye(d) if whole else span(vectors), k)


def perceptron(matrices, labels, power):
    """θ ← θ + y M after a mistake, W the gradient of ½‖θ‖_p²."""
    theta, w, predictions = np.zeros_like(matrices[0]), np.zeros_like(matrices[0]), []
    for m, label in zip(matrices, labels):
        predictions.append((w * m).sum())
        if label * predictions[-1] <= 0:
            theta = theta + label * m
            u, s, vt = np.linalg.svd(theta, full_matrices=False)
            norm = (s**power).sum() ** (1 / power)
            w = (u * (s ** (power - 1) / norm ** (power - 2))) @ vt
    return np.array(predictions), w


def best_gain(total, ball, radius=1.0, k=1):
    """The largest Σ tr(WᵀM) over the set, for the sum of all instances."""
    if ball == "density":
        return np.sort(np.linalg.eigvalsh(total))[::-1][:k].sum()
    s = np.linalg.svd(total, compute_uv=False)
    return radius * {"trace": s[0], "spectral": s.sum(), "frobenius": np.linalg.norm(s)}[ball]


def best_squared_loss(matrices, labels, ball, radius, iterations=4000):
    """min over the ball of Σ (tr(WᵀM) − y)², by accelerated projected gradients."""
    a = np.stack([m.ravel() for m in matrices])
    largest = 2 * np.linalg.norm(a, 2) ** 2
    w = y = np.zeros_like(matrices[0])
    momentum = 1.0
    for _ in range(iterations):
        gradient = 2 * a.T @ (a @ y.ravel() - labels)
        new = project(y - gradient.reshape(w.shape) / largest, ball, radius)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        y, w, momentum = new + (momentum - 1) / following * (new - w), new, following
    return ((a @ w.ravel() - labels) ** 2).sum()


def bound_of_gradient_descent(radius, step, slopes, sizes):
    """R²/(2η) + ½ Σ η (∂‖M‖)² for steps of one size."""
    return radius**2 / (2 * step) + step / 2 * (np.square(slopes) * np.square(sizes)).sum()
