"""Kernel machines: ridge regression, principal components, support vector machines, logistic regression; with landmarks too."""
import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp


def root_of_inverse(k, rank=None):
    """A with AᵀKA = I on the range of K, from its eigendecomposition, the leading directions first."""
    values, vectors = np.linalg.eigh(k)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > np.finfo(float).eps * len(k) * values[0]
    if rank is not None:
        kept[rank:] = False
    return vectors[:, kept] / np.sqrt(values[kept])


def ridge(k, y, penalty, weights=None):
    """Coefficients and mean of argmin Σ w_i (f(x_i) − y_i)² + |f|²/penalty, the mean taken off before."""
    w = np.ones(len(y)) if weights is None else weights
    mean = np.average(y, weights=w)
    return np.linalg.solve(w[:, None] * k + np.eye(len(y)) / penalty, w * (y - mean)), mean


def ridge_on_landmarks(k_nm, k_mm, y, penalty, approach, k_nn=None):
    """A function of kernel values: of those with landmarks for `lla` and `ncr`, of those with all samples for `gsa`."""
    mean = y.mean()
    if approach == "ncr":
        beta = np.linalg.pinv(k_nm.T @ k_nm + k_mm / penalty, rcond=1e-14, hermitian=True) @ (k_nm.T @ (y - mean))
        return lambda k_zm, k_zn: k_zm @ beta + mean
    a = root_of_inverse(k_mm)
    f = k_nm @ a
    w = np.linalg.solve(f.T @ f + np.eye(f.shape[1]) / penalty, f.T @ (y - mean))
    if approach == "lla":
        return lambda k_zm, k_zn: k_zm @ (a @ w) + mean
    alpha = np.linalg.pinv(f.T) @ w
    return lambda k_zm, k_zn: k_zn @ alpha + mean


def components(k, count, center=True):
    """Eigenvalues of the (centred) kernel matrix, and coefficients of functions of unit length."""
    n = len(k)
    h = np.eye(n) - center / n
    values, vectors = np.linalg.eigh(h @ k @ h)
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    return values, vectors / np.sqrt(values)


def placed(new, k, coefficients, center=True):
    """Components of samples with kernel values `new` against all training samples."""
    if center:
        new = new - new.mean(axis=1)[:, None] - k.mean(axis=0) + k.mean()
    return new @ coefficients


def components_on_landmarks(k_nm, k_mm, count, center=True):
    """Eigenvalues and a map of kernel values with the landmarks to components."""
    a = root_of_inverse(k_mm)
    f = k_nm @ a
    mean = f.mean(axis=0) if center else np.zeros(f.shape[1])
    values, vectors = np.linalg.eigh((f - mean).T @ (f - mean))
    values, q = values[::-1][:count], vectors[:, ::-1][:, :count]
    return values, lambda k_zm: (k_zm @ a - mean) @ q


def svm_objective(k, coefficients, bias, y, penalty, weights=None):
    """½|f|² + C Σ w_i max(0, 1 − y_i f(x_i))."""
    w = np.ones(len(y)) if weights is None else weights
    decisions = k @ coefficients + bias
    return coefficients @ k @ coefficients / 2 + penalty * (w * np.maximum(0, 1 - y * decisions)).sum()


def features_of(k):
    """Φ with ΦΦᵀ = K."""
    values, vectors = np.linalg.eigh(k)
    return vectors * np.sqrt(np.maximum(values, 0))


def squared_hinge(features, y, penalty):
    """Weights and bias of argmin ½|w|² + C Σ max(0, 1 − y f)², the bias free."""
    d = features.shape[1]

    def objective(v):
        slack = np.maximum(0, 1 - y * (features @ v[:d] + v[d]))
        slope = -2 * penalty * slack * y
        return v[:d] @ v[:d] / 2 + penalty * slack @ slack, np.append(v[:d] + features.T @ slope, slope.sum())

    v = minimize(objective, np.zeros(d + 1), jac=True, method="L-BFGS-B", options={"maxiter": 20000, "ftol": 1e-16, "gtol": 1e-10}).x
    # A few Newton steps: the Hessian is constant where the same samples have slack.
    x = np.hstack([features, np.ones((len(y), 1))])
    for _ in range(20):
        active = x[1 - y * (x @ v) > 0]
        h = np.diag(np.append(np.ones(d), 0.0)) + 2 * penalty * active.T @ active
        v = v - np.linalg.lstsq(h, objective(v)[1], rcond=None)[0]
    return v[:d], v[d]


def softmax_regression(features, y, classes, penalty, weights=None):
    """Weights and biases of argmin ½|W|² + C Σ w_i (−log softmax probability of the sample's class), biases free."""
    n, d = features.shape
    w = np.ones(n) if weights is None else weights
    truth = (y[:, None] == np.arange(classes)).astype(float)

    def objective(v):
        v = v.reshape(d + 1, classes)
        scores = features @ v[:d] + v[d]
        normaliser = logsumexp(scores, axis=1)
        slopes = penalty * w[:, None] * (np.exp(scores - normaliser[:, None]) - truth)
        loss = penalty * (w * (normaliser - (scores * truth).sum(axis=1))).sum() + (v[:d] ** 2).sum() / 2
        return loss, np.vstack([features.T @ slopes + v[:d], slopes.sum(axis=0)]).ravel()

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9}
    v = minimize(objective, np.zeros((d + 1) * classes), jac=True, method="L-BFGS-B", options=options).x.reshape(d + 1, classes)
    return v[:d], v[d]


def logistic_regression(features, y, penalty, weights=None):
    """Weights and bias of argmin ½|w|² + C Σ w_i log(1 + exp(−y_i f)), y = ±1, the bias free, by Newton's method."""
    n, d = features.shape
    w = np.ones(n) if weights is None else weights
    x, v = np.hstack([features, np.ones((n, 1))]), np.zeros(d + 1)
    ridge = np.append(np.ones(d), 0.0)

    def objective(v):
        return penalty * (w * np.logaddexp(0, -y * (x @ v))).sum() + ridge * v @ v / 2

    for _ in range(100):
        share = 1 / (1 + np.exp(y * (x @ v)))
        gradient = ridge * v - penalty * x.T @ (w * y * share)
        hessian = np.diag(ridge) + penalty * (x.T * (w * share * (1 - share))) @ x
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while objective(v - size * step) > objective(v) and size > 1e-10:
            size /= 2
        v = v - size * step
    return v[:d], v[d]


def probabilities(scores):
    return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))


def greedy_pivots(k, count, first=None):
    """Pivoted Cholesky: always the sample with the largest part left unexplained."""
    left, chosen = k.copy(), []
    for _ in range(count):
        i = int(np.diag(left).argmax()) if chosen or first is None else first
        chosen.append(i)
        left = left - np.outer(left[:, i], left[i]) / left[i, i]
    return chosen


def unexplained(k, landmarks):
    """trace(K − K[:, m] K[m, m]⁺ K[m, :])."""
    f = k[:, landmarks] @ root_of_inverse(k[np.ix_(landmarks, landmarks)])
    return np.trace(k) - (f**2).sum()


def leverage_scores(k, ridge):
    """diag(K (K + λI)⁻¹)."""
    return np.diag(k @ np.linalg.inv(k + ridge * np.eye(len(k))))
