"""The jobs of the comparison: data, our command, the peers' and what must agree before times count.

A job's `data` writes files into a folder of its own and returns settings that both sides share. `ours` gives the words of one
`lopsided` command; its time is that of the whole process, reading and writing included. `peers` names jobs of `peers.py`,
whose times begin at opening the data.
"""
import csv
import gzip
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import online
from common import numpy, report

np = numpy()
DATA = Path(os.environ.get("LOPSIDED_DATA", "."))


@dataclass
class Job:
    name: str
    about: str
    goal: str
    data: Callable
    ours: Callable
    peers: list
    agree: Callable
    full: bool = False
    rounds: int = 3
    needs: list = field(default_factory=list)
    then: Callable = None
    stdin: str = None

    def missing(self):
        """Data sets that are not there."""
        return [name for name in self.needs if not (DATA / name).is_dir()]


def found(path):
    """The file or its gzipped form."""
    return path if path.exists() else path.with_name(path.name + ".gz")


def agree_on(key, tolerance):
    """Our numbers under a key differ from the peer's by at most so much, relative to the first."""
    def check(ours, theirs):
        a, b = np.array(ours[key]), np.array(theirs[key])
        difference = float(np.abs(a - b[: len(a)]).max() / np.abs(b).max())
        return difference <= tolerance, f"{key} within {difference:.1e}"
    return check


def not_worse(key, larger_is_better, slack):
    """Our score is at most so much worse."""
    def check(ours, theirs):
        worse = theirs[key] - ours[key] if larger_is_better else ours[key] / theirs[key] - 1
        return worse <= slack, f"{key} {ours[key]:.4f} against {theirs[key]:.4f}"
    return check


# Graphs

def graph(name):
    def data(folder):
        return {"path": str(found(DATA / name / "edges.csv")), "rank": 20, "gamma": gamma_of(name)}
    return data


def graph_links(name):
    return lambda folder: {"path": str(found(DATA / name / "edges.csv")), "rank": 20}


def gamma_of(name):
    plan = report("embed", found(DATA / name / "edges.csv"), "--kernel", "sne", "--rank", 1, "--tol", 0.1)
    return plan["gamma"]


def embed_graph(tol):
    def ours(folder, s):
        outs = ["--rows-out", folder / "rows.npy", "--cols-out", folder / "cols.npy"]
        return ["embed", s["path"], "--kernel", "sne", "--gamma", s["gamma"], "--rank", s["rank"], "--tol", tol, *outs]
    return ours


# Tables

def clusters(rows, width, count, seed, spread=1.7):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(9).standard_normal((count, width))
    labels = rng.integers(count, size=rows)
    return spread * centers[labels] + rng.standard_normal((rows, width)), labels


def sne_samples(rows, width):
    def data(folder):
        x = clusters(rows, width, 60, 0)[0]
        np.save(folder / "x.npy", x)
        median = float(np.median(((x[:4000:2] - x[1:4000:2]) ** 2).sum(1)))
        return {"gamma": 1 / median, "rank": 20}
    return data


def regression(rows, width=20, tests=5000):
    def data(folder):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((rows + tests, width))
        y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * np.tanh(x[:, 3:].sum(1) / 2)
        y[:rows] += 0.3 * rng.standard_normal(rows)
        save(folder, (x[:rows], y[:rows]), (x[rows:], y[rows:]))
        return {"gamma": 0.02, "penalty": 10.0}
    return data


def save(folder, train, test):
    for name, (x, y) in {"": train, "test-": test}.items():
        np.save(folder / f"{name}x.npy", np.ascontiguousarray(x))
        np.save(folder / f"{name}y.npy", y)
        lines = (f"{i},{v}\n" for i, v in enumerate(y.tolist()))
        (folder / f"{name}y.csv").write_text("row,label\n" + "".join(lines))


def fit(estimator, *more):
    def ours(folder, s):
        words = ["--gamma", s["gamma"], "--kernel", "rbf", "--model", folder / "model", *more]
        if "penalty" in s:
            words += ["--penalty", s["penalty"]]
        if "landmarks" in s:
            words += ["--approach", "lla", "--landmarks", s["landmarks"]]
        return ["fit", estimator, folder / "x.npy", "--labels", folder / "y.csv", *words]
    return ours


def tested(folder):
    """How well the model of `fit` does on the test rows."""
    told = report("predict", folder / "model", folder / "test-x.npy", "--labels", folder / "test-y.csv", "--out", folder / "out.csv")
    return {"rmse": told.get("rmse"), "accuracy": told.get("accuracy", told.get("micro_f1"))}


def blobs(rows, width, count):
    def data(folder):
        (x, y), (tx, ty) = clusters(rows, width, 12, 1, 0.45), clusters(4000, width, 12, 2, 0.45)
        save(folder, (x, y % count), (tx, ty % count))
        return {"gamma": 1 / width, "penalty": 1.0}
    return data


def table_set(name):
    def read(path):
        with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
            rows = list(csv.reader(file))[1:]
        return np.array([row[:-1] for row in rows], float), np.array([int(float(row[-1])) for row in rows])

    def data(folder):
        save(folder, read(found(DATA / name / "data.csv")), read(found(DATA / name / "test.csv")))
        return {"gamma": 1 / 256, "penalty": 10.0}
    return data


def predict(folder, s):
    return ["predict", folder / "model", folder / "test-x.npy", "--labels", folder / "test-y.csv", "--out", folder / "out.csv"]


def prepared_predict(data):
    """Both sides have a model before the clock starts."""
    def prepared(folder):
        from suite import peer, program_words
        settings = data(folder)
        program_words(fit("svm", "--multi-class", "ovo")(folder, settings))
        peer("svc_fit", folder, settings)
        return {}
    return prepared


def half_split(name):
    def data(folder):
        labels = DATA / name / "labels.csv"
        (folder / "labels.csv").write_text(labels.read_text())
        n = len(labels.read_text().splitlines()) - 1
        order = np.random.default_rng(0).permutation(n)
        cut = int(0.6 * n)
        for part, nodes in {"train": order[:cut], "test": order[cut:]}.items():
            np.save(folder / f"{part}.npy", np.sort(nodes))
            (folder / f"{part}.txt").write_text("".join(f"{i}\n" for i in np.sort(nodes)))
        return {"path": str(found(DATA / name / "edges.csv")), "penalty": 1.0, "folds": 10, "tikhonov": 1.0}
    return data


def ask_ls(folder, s):
    files = ["--labels", folder / "labels.csv", "--train-ids", folder / "train.txt", "--model", folder / "model"]
    return ["fit", "ask-ls", s["path"], "--kernel", "precomputed", "--penalty", s["penalty"], "--merge", "stack", *files]


def ask_ls_tested(folder, s):
    words = ["--ids", folder / "test.txt", "--labels", folder / "labels.csv", "--out", folder / "out.csv"]
    told = report("predict", folder / "model", s["path"], *words)
    return {"accuracy": told.get("accuracy", told.get("micro_f1"))}


def matrix_set(name, clusters_wanted):
    def data(folder):
        (folder / "labels.csv").write_text((DATA / name / "labels.csv").read_text())
        return {"path": str(found(DATA / name / "features.mtx")), "clusters": clusters_wanted}
    return data


def bicluster(folder, s):
    words = ["--row-clusters", s["clusters"], "--kernel", "rbf", "--center", "--labels", folder / "labels.csv"]
    return ["bicluster", s["path"], *words, "--row-labels-out", folder / "rows.csv"]


# Streams

def pairs(trials, width=10):
    def data(folder):
        online.written(*online.stream(trials, width), folder / "stream.csv")
        return {"trials": trials, "width": width}
    return data


def online_words(folder, name, step, radius):
    """Reads standard input: of a short file the best comparator would be found as well, which the peer does not do."""
    options = ["--kernel", "rbf", "--gamma", online.GAMMA, "--steps", "fixed", "--step", step, "--radius", radius]
    return ["online", "gd-trace", "-", "--format", "csv", *options, "--out", folder / f"{name}-out.csv"]


def online_learned(folder, s):
    """What was predicted, and a stream that is too long for the peer."""
    online.written(*online.stream(5000, s["width"]), folder / "long.csv")
    words = [folder / "long.csv" if word == "-" else word for word in online_words(folder, "long", 0.3, 5.0)]
    told = report(*words)
    with open(folder / "stream-out.csv") as file:
        predictions = [float(row["prediction"]) for row in csv.DictReader(file)]
    return {"predictions": predictions, "long": f"5000 trials take ours {told['seconds']:.1f} s, rank {told['rank']}"}


def same_predictions(ours, theirs):
    agrees, note = agree_on("predictions", 1e-8)(ours, theirs)
    return agrees, f"{note}; {ours['long']}"


# The path of penalties

PENALTIES = [round(1.3**k, 4) for k in range(-15, 15)]


def sne_classes(samples, classes):
    """An SNE kernel matrix between samples around centres, and their labels."""
    def data(folder):
        rng = np.random.default_rng(0)
        labels = rng.integers(classes, size=samples)
        x = rng.normal(size=(samples, 10)) + 2 * rng.normal(size=(classes, 10))[labels]
        squares = (x**2).sum(1)
        k = np.exp(-(squares[:, None] + squares[None, :] - 2 * x @ x.T) / 20)
        np.save(folder / "kernel.npy", k / k.sum(1, keepdims=True))
        (folder / "labels.csv").write_text("row,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
        return {"penalties": ",".join(map(str, PENALTIES))}
    return data


def penalty_path(folder, s):
    words = ["--kernel", "precomputed", "--merge", "average", "--cv", 5, "--grid", f"penalty={s['penalties']}"]
    return ["fit", "ask-ls", folder / "kernel.npy", "--labels", folder / "labels.csv", *words, "--model", folder / "model"]


def same_path(ours, theirs):
    return agree_on("scores", 1e-3)({"scores": [point["mean"] for point in ours["cv"]["points"]]}, theirs)


JOBS = [
    Job("pubmed", "KSVD of pubmed (SNE, rank 20, residual 1e-6) from edge list to embeddings", "100×, 1/20 of the memory",
        graph("pubmed"), embed_graph(1e-6), [("graph_svds", {"tol": 1e-6}, "NumPy matrix + svds")],
        agree_on("sigma", 1e-6), needs=["pubmed"], rounds=1),
    Job("pubmed-rough", "the same, η ≤ 1e-1", "32.5×", graph("pubmed"), embed_graph(1e-1),
        [("graph_randomized", {"passes": 2}, "NumPy matrix + randomized_svd")], agree_on("sigma", 1e-1), needs=["pubmed"]),
    Job("pubmed-randomized", "the same, η ≤ 1e-2", "8.8×", graph("pubmed"), embed_graph(1e-2),
        [("graph_randomized", {"passes": 2}, "NumPy matrix + randomized_svd")], agree_on("sigma", 1e-2), needs=["pubmed"]),
    Job("sne-dense", "KSVD of a dense 20 000 × 20 000 SNE kernel, d = 500, rank 20, residual 1e-10", "3×",
        sne_samples(20_000, 500), lambda f, s: ["embed", f / "x.npy", "--cols", f / "x.npy", "--kernel", "sne", "--gamma", s["gamma"],
                                              "--rank", s["rank"], "--tol", 1e-10, "--rows-out", f / "rows.npy"],
        [("dense_svds", {"tol": 0, "solver": "propack"}, "NumPy matrix + PROPACK")], agree_on("sigma", 1e-8), rounds=1),
    Job("sne-rough", "the same, residual 1e-5", "6×",
        sne_samples(20_000, 500), lambda f, s: ["embed", f / "x.npy", "--cols", f / "x.npy", "--kernel", "sne", "--gamma", s["gamma"],
                                              "--rank", s["rank"], "--tol", 1e-5, "--precision", "f32", "--rows-out", f / "rows.npy"],
        [("dense_svds", {"tol": 1e-5, "solver": "propack"}, "NumPy matrix + PROPACK"),
         ("dense_fbpca", {"passes": 8}, "NumPy matrix + fbpca, 8 passes")], agree_on("sigma", 1e-3), rounds=1),
    Job("graph-svd", "SVD of pubmed's links, rank 20, from edge list to embeddings", "faster", graph_links("pubmed"),
        lambda f, s: ["embed", s["path"], "--kernel", "precomputed", "--rank", s["rank"], "--rows-out", f / "rows.npy", "--cols-out", f / "cols.npy"],
        [("graph_network", {}, "scikit-network SVD"), ("graph_lobpcg", {}, "SciPy svds, LOBPCG"), ("graph_arpack", {}, "SciPy svds, ARPACK")],
        agree_on("sigma", 1e-3), needs=["pubmed"]),
    Job("krr-landmarks", "ridge regression, 100 000 rows, d = 20, 1000 landmarks", "10×",
        lambda f: {**regression(100_000)(f), "landmarks": 1000}, fit("krr", "--task", "values"),
        [("krr_landmarks", {}, "Nystroem + Ridge")], not_worse("rmse", False, 0.02), then=lambda f, s: tested(f)),
    Job("krr-exact", "exact ridge regression, 5000 rows, d = 20", "1.5×", regression(5000),
        fit("krr", "--task", "values", "--approach", "exact"), [("krr_exact", {}, "KernelRidge")],
        not_worse("rmse", False, 0.001), then=lambda f, s: tested(f)),
    Job("svc", "C-SVM, 8000 × 64, 3 classes: fit", "4×", blobs(8000, 64, 3), fit("svm", "--multi-class", "ovo"), [("svc_fit", {}, "SVC")],
        not_worse("accuracy", True, 0.002), then=lambda f, s: tested(f)),
    Job("svc-predict", "the same: predict 4000 rows", "10×", prepared_predict(blobs(8000, 64, 3)), predict,
        [("svc_predict", {}, "SVC.predict")], not_worse("accuracy", True, 0.002), then=lambda f, s: tested(f)),
    Job("nusvc", "ν-SVM, the same samples, ν = 0.3: fit", "5×", lambda f: {**blobs(8000, 64, 3)(f), "penalty": 0.3},
        lambda f, s: fit("nu-svm", "--multi-class", "ovo", "--nu", s["penalty"])(f, {"gamma": s["gamma"]}),
        [("svc_fit", {"machine": "NuSVC"}, "NuSVC")], not_worse("accuracy", True, 0.002), then=lambda f, s: tested(f)),
    Job("svc-usps", "C-SVM on usps, 10 classes: fit", "4×", table_set("usps"), fit("svm", "--multi-class", "ovo"), [("svc_fit", {}, "SVC")],
        not_worse("accuracy", True, 0.002), needs=["usps"], then=lambda f, s: tested(f)),
    Job("kpca", "kernel PCA, 20 components, 20 000 rows, d = 20", "3×, 1/4 of the memory",
        lambda f: {**{k: v for k, v in regression(20_000)(f).items() if k == "gamma"}, "rank": 20},
        lambda f, s: ["fit", "kpca", f / "x.npy", "--kernel", "rbf", "--gamma", s["gamma"], "--rank", s["rank"], "--approach", "exact",
                      "--model", f / "model"],
        [("kpca", {"solver": "randomized"}, "KernelPCA, randomized"), ("kpca", {"solver": "arpack"}, "KernelPCA, arpack")],
        agree_on("values", 1e-2), rounds=1),
    Job("ask-ls", "AsK-LS on cora, 7 classes, stacking of 10 parts: fit", "50×", half_split("cora"), ask_ls,
        [("ask_ls", {}, "NumPy, Eq. (6)")], not_worse("accuracy", True, 0.02), needs=["cora"], then=ask_ls_tested, rounds=1),
    Job("ask-ls-path", "AsK-LS, 2000 samples, 7 classes: 30 penalties by 5-fold cross-validation in one command", "15×",
        sne_classes(2000, 7), penalty_path, [("ask_ls_penalties", {}, "lopsided, a command for each penalty")], same_path, rounds=1),
    Job("online", "gradient descent in the trace norm, 400 trials", "100×", pairs(400),
        lambda f, s: online_words(f, "stream", online.STEP, online.RADIUS),
        [("online_transcription", {}, "NumPy, T × T matrices in every trial")], same_predictions, then=online_learned, stdin="stream.csv"),
    Job("biclustering", "biclusters of acm", "not slower, better NMI", matrix_set("acm", 3), bicluster,
        [("coclustering", {}, "SpectralCoclustering")], not_worse("nmi", True, 0.0), needs=["acm"]),
    Job("biclustering-quick", "the same in 30 coordinates, residual 1e-2", "not slower, better NMI",
        matrix_set("acm", 3), lambda f, s: [*bicluster(f, s), "--compat-width", 30, "--tol", 1e-2],
        [("coclustering", {}, "SpectralCoclustering")], not_worse("nmi", True, 0.0), needs=["acm"]),
]
