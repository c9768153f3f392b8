"""AsK-LS and LS-SVM as dense systems, their merging, and the linear machine on features of a kernel SVD."""
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar


@dataclass
class Functions:
    """f_s(x) = k(x, X) b + β_s of a sample as source, f_t(z) = k(X, z)ᵀ a + β_t as target."""

    a: np.ndarray
    b: np.ndarray
    source_bias: np.ndarray
    target_bias: np.ndarray

    def source(self, rows):
        return rows @ self.b + self.source_bias

    def target(self, cols):
        return cols.T @ self.a + self.target_bias


def bordered(k, penalty):
    """[I/γ K 1 0; Kᵀ I/γ 0 1; 1ᵀ 0 0 0; 0 1ᵀ 0 0], whose solutions are [a; b; β_s; β_t]."""
    n = len(k)
    one, nothing, eye = np.ones((n, 1)), np.zeros((n, 1)), np.eye(n) / penalty
    return np.block([
        [eye, k, one, nothing],
        [k.T, eye, nothing, one],
        [one.T, nothing.T, np.zeros((1, 2))],
        [nothing.T, one.T, np.zeros((1, 2))],
    ])


def solve(k, y, penalty):
    """[AsKLS] Eq. (6) with the labels moved out of the matrix."""
    n = len(k)
    found = np.linalg.solve(bordered(k, penalty), np.vstack([y, y, np.zeros((2, y.shape[1]))]))
    return Functions(found[:n], found[n : 2 * n], found[2 * n], found[2 * n + 1])


def centred_system(k, penalty):
    """M = [gI K_c; K_cᵀ gI], what is left of the system for coefficients of mean 0."""
    n = len(k)
    h = np.eye(n) - 1 / n
    kc = h @ k @ h
    return np.block([[np.eye(n) / penalty, kc], [kc.T, np.eye(n) / penalty]])


def solve_otherwise(k, y, penalty, tikhonov):
    """(M² + λI)⁻¹M in the place of M⁻¹; the pseudo-inverse for λ = 0."""
    n = len(k)
    values, vectors = np.linalg.eigh(centred_system(k, penalty))
    if tikhonov > 0:
        factors = values / (values**2 + tikhonov)
    else:
        gone = np.abs(values) <= 1e-10 * np.abs(values).max()
        factors = np.where(gone, 0.0, 1 / np.where(gone, 1.0, values))
    yc = y - y.mean(axis=0)
    found = vectors @ (factors[:, None] * (vectors.T @ np.vstack([yc, yc])))
    a, b = found[:n], found[n:]
    return Functions(a, b, (y - k @ b).mean(axis=0), (y - k.T @ a).mean(axis=0))


def condition(k, penalty):
    values = np.abs(np.linalg.eigvalsh(centred_system(k, penalty)))
    return values.max() / values.min()


def one_against_rest(y, classes=None):
    classes = np.unique(y) if classes is None else classes
    return np.where(y[:, None] == classes[None], 1.0, -1.0)


def merged(functions, rows, cols, merge):
    """Scores of new samples with rows k(new, known) and columns k(known, new)."""
    source, target = functions.source(rows), functions.target(cols)
    return {"source": source, "target": target, "average": (source + target) / 2}[merge]


def logistic_weights(features, signs, ridge=1e-2):
    """argmin Σ log(1 + exp(−y xᵀw)) + ridge/2 |w|²."""
    def objective(w):
        margins = signs * (features @ w)
        slopes = -signs / (1 + np.exp(margins))
        return np.logaddexp(0, -margins).sum() + ridge / 2 * w @ w, features.T @ slopes + ridge * w

    def hessian(w):
        shares = 1 / (1 + np.exp(-features @ w))
        return (features.T * (shares * (1 - shares))) @ features + ridge * np.eye(len(w))

    w = minimize(objective, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x
    for _ in range(20):
        w = w - np.linalg.solve(hessian(w), objective(w)[1])
    return w


def stacked_leaving_one_out(k, y, penalty, rows, cols, values=False):
    """Stacking with as many parts as samples: a regression on scores of held-out samples, then the mean of all functions."""
    n = len(k)
    held_out, new_source, new_target = [], 0.0, 0.0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        functions = solve(k[np.ix_(rest, rest)], y[rest], penalty)
        held_out.append((functions.source(k[[i]][:, rest])[0], functions.target(k[rest][:, [i]])[0]))
        new_source = new_source + functions.source(rows[:, rest]) / n
        new_target = new_target + functions.target(cols[rest]) / n
    scores, held_logs = np.empty_like(new_source), np.empty((n, y.shape[1]))
    for c in range(y.shape[1]):
        features = np.array([(s[c], t[c], 1.0) for s, t in held_out])
        new = np.stack([new_source[:, c], new_target[:, c], np.ones(len(new_source))], axis=1)
        if values:
            w = np.linalg.solve(features.T @ features + 1e-6 * np.eye(3), features.T @ y[:, c])
            scores[:, c] = new @ w
        else:
            # The ridge is meant for scores of mean 0 and deviation 1.
            mean, deviation = features[:, :2].mean(axis=0), features[:, :2].std(axis=0)
            scale = lambda f: np.column_stack([(f[:, :2] - mean) / deviation, f[:, 2]])
            w = logistic_weights(scale(features), y[:, c])
            held_logs[:, c], scores[:, c] = (-np.logaddexp(0, -scale(f) @ w) for f in (features, new))
    if values:
        return scores
    return powered(scores, best_power(held_logs, y.argmax(axis=1)))


def powered(logs, power):
    """p^power divided by the sum over the classes."""
    p = np.exp(power * (logs - logs.max(axis=1, keepdims=True)))
    return p / p.sum(axis=1, keepdims=True)


def best_power(logs, truth, ridge=1e-2):
    """argmin −Σ log(probability of the true class) + ridge/2 (power − 1)² over powers above 0."""
    rows = np.arange(len(truth))

    def objective(power):
        return -np.log(powered(logs, power)[rows, truth]).sum() + ridge / 2 * (power - 1) ** 2

    return minimize_scalar(objective, bounds=(1e-6, 1e3), method="bounded", options={"xatol": 1e-12}).x


def symmetrised(k, rows, cols, way):
    """A symmetric matrix of the known samples, and values between new and known ones."""
    if way == "average":
        return (k + k.T) / 2, (rows + cols.T) / 2
    if way == "columns":
        return k.T @ k, cols.T @ k
    return k @ k.T, rows @ k.T


def least_squares_svm(k, y, penalty):
    """[K + I/γ, 1; 1ᵀ, 0][a; β] = [y; 0] for a symmetric K."""
    n = len(k)
    system = np.block([[k + np.eye(n) / penalty, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    found = np.linalg.solve(system, np.vstack([y, np.zeros((1, y.shape[1]))]))
    return found[:n], found[n]
