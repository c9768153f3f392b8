"""Why KPCA with a learned matrix is ahead of KSVD with one on some tables (KSVD Table 3): what is learned, and how many samples are compared with.

Features of a row are its kernel values with the samples of the other side, projected on the leading right singular vectors. KPCA with a
learned C has the N rows there and moves rows and anchors together (a metric); KSVD a3 has the M columns and moves them alone, since z C takes any
value. Here both are learned by the same loop (gradients of a softmax head through the kernel, V and the head anew in every epoch, a fifth of the
training rows chooses the epoch), and start, number of anchors and what is moved are varied one at a time. Splits are the same for all ways; a
difference is tested by its mean over the splits divided by its standard error.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/learned.py --sets heart_statlog ionosphere liver_ilpd --trials 20
"""

import argparse
import os
from pathlib import Path

import numpy as np
from compat import accuracy, aligned_columns, load
from sklearn.linear_model import LogisticRegression


def distances(x, z):
    return np.maximum((x**2).sum(1)[:, None] + (z**2).sum(1) - 2 * x @ z.T, 0)


def unit_like(z, x):
    """Columns as long as the rows are on average."""
    return z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12) * np.linalg.norm(x, axis=1).mean()


class Adam:
    def __init__(self, size, rate):
        self.m, self.v, self.t, self.rate = np.zeros(size), np.zeros(size), 0, rate

    def step(self, gradient):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * gradient**2
        return self.rate * self.m / (1 - 0.9**self.t) / (np.sqrt(self.v / (1 - 0.999**self.t)) + 1e-12)


class Way:
    """x D against anchors: rows times D (`tied`), or free samples; D moves, or the free samples, or both."""

    def __init__(self, anchors, tied, metric):
        self.anchors, self.tied, self.metric = anchors.copy(), tied, metric
        self.d = np.eye(anchors.shape[1])

    def sides(self, x):
        return x @ self.d, self.anchors @ self.d if self.tied else self.anchors

    def gamma(self, x):
        self.g = 1.0 / np.median(distances(x, self.anchors))

    def kernel(self, x):
        return np.exp(-self.g * distances(*self.sides(x)))

    def project(self, x, rank):
        g = self.kernel(x)
        g = g - g.mean(0) - g.mean(1)[:, None] + g.mean()
        _, sigma, vt = np.linalg.svd(g, full_matrices=False)
        rank = min(rank, int((sigma > 1e-10 * sigma[0]).sum()))
        return vt[:rank].T * np.sqrt(len(x)) / np.maximum(sigma[:rank], 0.01 * sigma[0])

    def start(self, rate):
        self.steps = Adam(self.d.shape, rate * np.sqrt((self.d**2).mean())), Adam(self.anchors.shape, rate * np.sqrt((self.anchors**2).mean()))

    def move(self, x, by_g):
        """One step against the gradient `by_g` of the loss with respect to the kernel values of the batch x."""
        a, z = self.sides(x)
        w = -2 * self.g * by_g * np.exp(-self.g * distances(a, z))
        by_a, by_z = w.sum(1)[:, None] * a - w @ z, w.sum(0)[:, None] * z - w.T @ a
        if self.metric:
            self.d = self.d - self.steps[0].step(x.T @ by_a + (self.anchors.T @ by_z if self.tied else 0))
        if not self.tied:
            self.anchors = self.anchors - self.steps[1].step(by_z)


def learn(way, x, y, rank, rng, epochs=50, patience=12, rate=0.01, batch=64):
    order = rng.permutation(len(x))
    judge, train = order[: len(x) // 5], order[len(x) // 5 :]
    way.gamma(x)
    way.start(rate)
    one, best = np.eye(y.max() + 1), None

    def losses(head, f):
        return -np.log(np.maximum(head.predict_proba(f)[np.arange(len(f)), y[judge]], 1e-12))

    for epoch in range(epochs + 1):
        p = way.project(x, rank)
        head = LogisticRegression(C=10.0, max_iter=200).fit(way.kernel(x[train]) @ p, y[train])
        loss = losses(head, way.kernel(x[judge]) @ p)
        if epoch == 0:
            first = loss, way.d.copy(), way.anchors.copy()
        if best is None or loss.mean() < best[0].mean():
            best = loss, way.d.copy(), way.anchors.copy(), epoch
        if epoch - best[3] >= patience:
            break
        w = head.coef_ if len(head.coef_) > 1 else np.r_[-head.coef_, head.coef_] / 2
        for rows in np.array_split(rng.permutation(train), max(1, len(train) // batch)):
            f = way.kernel(x[rows]) @ p
            scores = head.predict_proba(f)
            way.move(x[rows], (scores - one[y[rows]]) @ w @ p.T / len(rows))
    gains = first[0] - best[0]
    kept = best if gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)) else first
    way.d, way.anchors = kept[1], kept[2]
    return way


def ways(x, rng):
    z = aligned_columns(x)
    m, some = len(z), rng.permutation(len(x))
    long = unit_like(z, x)
    yield "KPCA, N rows, metric learned", Way(x, True, True)
    yield "KPCA, M rows, metric learned", Way(x[some[:m]], True, True)
    yield "KSVD a3, M columns learned", Way(z, False, False)
    yield "columns as long as rows", Way(long, False, False)
    yield "and their negatives (2M)", Way(np.r_[long, -long], False, False)
    yield "and the metric learned", Way(np.r_[long, -long], False, True)
    yield "M rows in place of columns, learned", Way(x[some[:m]], False, False)
    yield "4M rows in place of columns, learned", Way(x[some[: 4 * m]], False, False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["heart_statlog", "ionosphere", "liver_ilpd"])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--few", action="store_true", help="only KPCA, KSVD a3 and columns as long as rows")
    args = parser.parse_args()
    print("| set | way | accuracy, fixed | accuracy, learned | behind the first | standard errors |\n" + "| --- " * 6 + "|")
    for name in args.sets:
        x, y = load(Path(os.environ["LOPSIDED_DATA"]) / name)
        found = {}
        for seed in range(args.trials):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(x))
            test, train = order[: len(x) // 5], order[len(x) // 5 :][:500]
            mean, deviation = x[train].mean(0), np.maximum(x[train].std(0), 1e-12)
            a, b = (x[train] - mean) / deviation, (x[test] - mean) / deviation
            for at, (label, way) in enumerate(ways(a, rng)):
                if args.few and at not in (0, 2, 3):
                    continue
                scores = []
                for learned in (False, True):
                    way.gamma(a)
                    way = learn(way, a, y[train], args.rank, rng) if learned else way
                    p = way.project(a, args.rank)
                    scores.append(accuracy(way.kernel(a) @ p, way.kernel(b) @ p, y[train], y[test]))
                found.setdefault(label, []).append(scores)
        first = np.array(next(iter(found.values())))[:, 1]
        for label, scores in found.items():
            scores = np.array(scores)
            behind = first - scores[:, 1]
            error = behind.std(ddof=1) / np.sqrt(len(behind))
            sure = f"{behind.mean() / error:.1f}" if error > 0 else "-"
            cells = [f"{scores[:, 0].mean():.3f}", f"{scores[:, 1].mean():.3f}", f"{behind.mean():+.3f}", sure]
            print("|", " | ".join([name, label, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
