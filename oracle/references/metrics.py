"""How good a result is, by counting."""
import numpy as np


def accuracy(truth, predicted):
    return np.mean([t == p for t, p in zip(truth, predicted)])


def counts(truth, predicted, c):
    pairs = list(zip(truth, predicted))
    true = sum(t == c and p == c for t, p in pairs)
    return true, sum(t != c and p == c for t, p in pairs), sum(t == c and p != c for t, p in pairs)


def macro_f1(truth, predicted):
    """Mean over the classes that occur of 2TP/(2TP + FP + FN)."""
    found = [counts(truth, predicted, c) for c in sorted({*truth, *predicted})]
    return np.mean([2 * tp / (2 * tp + fp + fn) for tp, fp, fn in found])


def micro_f1(truth, predicted):
    tp, fp, fn = np.sum([counts(truth, predicted, c) for c in sorted({*truth, *predicted})], axis=0)
    return 2 * tp / (2 * tp + fp + fn)


def auroc(positive, scores):
    """Share of pairs of a positive and a negative sample in the right order, ties one half."""
    good, bad = scores[positive], scores[~positive]
    return np.mean([(g > bad).mean() + (g == bad).mean() / 2 for g in good])


def rmse(truth, predicted):
    return np.sqrt(np.mean((truth - predicted) ** 2))


def together(a, b):
    """How often each pair of classes occurs together."""
    return np.array([[np.sum((a == i) & (b == j)) for j in np.unique(b)] for i in np.unique(a)], dtype=float)


def nmi(a, b):
    p = together(a, b) / len(a)
    rows, cols = p.sum(axis=1), p.sum(axis=0)
    mutual = sum(p[i, j] * np.log(p[i, j] / rows[i] / cols[j]) for i in range(len(rows)) for j in range(len(cols)) if p[i, j] > 0)
    entropy = -(rows * np.log(rows)).sum() - (cols * np.log(cols)).sum()
    return 2 * mutual / entropy if entropy > 0 else 1.0


def adjusted_rand(a, b):
    """From all pairs of samples."""
    tp = fp = fn = tn = 0
    for i in range(len(a)):
        for j in range(i):
            one, other = a[i] == a[j], b[i] == b[j]
            tp, fp, fn, tn = tp + (one and other), fp + (one and not other), fn + (other and not one), tn + (not one and not other)
    return 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn))


def coherence(a, clusters):
    """Mean PMI inside a cluster of columns minus the mean between it and the rest, weighted by size."""
    c = a.T @ a
    totals = c.sum(axis=1)
    pmi = np.zeros_like(c)
    present = c > 0
    pmi[present] = np.log((c * c.sum() / np.outer(totals, totals))[present])
    out = 0.0
    for k in np.unique(clusters):
        inside = clusters == k
        between = pmi[np.ix_(inside, ~inside)].mean() if (~inside).any() else 0.0
        out += inside.sum() * (pmi[np.ix_(inside, inside)].mean() - between)
    return out / len(clusters)
