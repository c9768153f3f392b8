"""Estimators on a Dask cluster: the bytes of one process, whoever computes them."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from common import program

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
from dask.distributed import Client, LocalCluster  # noqa: E402

import lopsided  # noqa: E402
import lopsided.dask as ld  # noqa: E402

ROWS, PIECE = 1500, 100
rng = np.random.default_rng(0)
X = rng.standard_normal((ROWS, 3))
values = np.sin(2 * X[:, 0]) + X[:, 1]
two = np.where((X**2).sum(1) > 2.2, "outside", "inside")
three = np.digitize((X**2).sum(1), [1.5, 3.5])

#: Estimators with targets, and what the program calls the same.
CASES = {
    "ridge": (ld.NystromRidge(0.1, gamma=0.5, n_landmarks=60, piece=PIECE), values,
              "krr --penalty 10 --gamma 0.5 --task values --scale none"),
    "several": (ld.NystromRidge(0.1, gamma=0.5, n_landmarks=60, piece=PIECE), np.column_stack([values, X[:, 2] ** 2]),
                "krr --penalty 10 --gamma 0.5 --scale none"),
    "logistic": (ld.NystromLogistic(5.0, gamma=0.5, n_landmarks=50, piece=PIECE), three,
                 "logistic --penalty 5 --gamma 0.5 --tol 1e-6 --scale none"),
    "svc": (ld.NystromSVC(2.0, gamma=0.5, n_landmarks=50, piece=PIECE), three, "svm --penalty 2 --gamma 0.5 --tol 1e-5 --scale none"),
    "pca": (ld.NystromPCA(4, gamma=0.5, n_landmarks=50, piece=PIECE), None, "kpca --rank 4 --gamma 0.5"),
    "features": (ld.NystromFeatures(gamma=0.5, n_landmarks=50, piece=PIECE), None, "features --gamma 0.5"),
}  # fmt: skip


@pytest.fixture(scope="module")
def clients():
    """Clusters of one, two and three workers, each when it is asked for first."""
    made = {}

    def of(workers):
        if workers not in made:
            cluster = LocalCluster(n_workers=workers, processes=True, threads_per_worker=1, dashboard_address=":0")
            made[workers] = (cluster, Client(cluster, set_as_default=False))
        return made[workers][1]

    yield of
    for cluster, client in made.values():
        client.close()
        cluster.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    np.save(folder / "x.npy", X)
    np.save(folder / "values.npy", values)
    np.save(folder / "several.npy", np.column_stack([values, X[:, 2] ** 2]))
    np.save(folder / "three.npy", three)
    return folder


def bytes_of(model, folder):
    model.save(folder / "saved.model")
    return (folder / "saved.model").read_bytes()


def streamed(name, files):
    """The bytes that the program writes."""
    words = CASES[name][2].split()
    labels = {"ridge": "values", "several": "several", "logistic": "three", "svc": "three"}.get(name)
    landmarks = CASES[name][0].n_landmarks
    more = ["--labels", files / f"{labels}.npy"] if labels else []
    program("fit", words[0], files / "x.npy", *words[1:], *more, "--stream", "--piece", PIECE, "--landmarks", landmarks,
            "--model", files / "program.model")  # fmt: skip
    return (files / "program.model").read_bytes()


def fitted(name, rows=300, client=None):
    model, y, _ = CASES[name]
    target = None if y is None else da.from_array(y, chunks=(170,) + y.shape[1:])
    with client.as_current() if client else dask.config.set(scheduler="threads"):
        return type(model)(**model.get_params()).fit(da.from_array(X, chunks=(rows, 2)), target)


@pytest.mark.parametrize("name", CASES)
def test_one_process_and_any_number_of_workers_give_the_same_bytes(name, files, clients):
    expected = streamed(name, files)
    assert bytes_of(fitted(name), files) == expected
    for workers, rows in [(1, 500), (2, 230), (3, 100)]:
        assert bytes_of(fitted(name, rows, clients(workers)), files) == expected, workers


@pytest.mark.parametrize(("name", "wait"), [("ridge", 0.6), ("ridge", 2.0), ("svc", 4.0), ("pca", 2.0)])
def test_a_worker_that_is_killed_in_a_pass_changes_nothing(name, wait, files):
    expected = streamed(name, files)
    with LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        victims = [worker["pid"] for worker in client.run(lambda: {"pid": os.getpid()}).values()]

        def slow(chunk):
            time.sleep(0.15)
            return chunk

        model, y, _ = CASES[name]
        rows = da.from_array(X, chunks=(100, -1)).map_blocks(slow, dtype=X.dtype)
        killer = threading.Timer(wait, os.kill, (victims[0], signal.SIGKILL))
        killer.start()
        found = type(model)(**model.get_params()).fit(rows, None if y is None else da.from_array(y, chunks=100))
        killer.join()
    assert bytes_of(found, files) == expected


def test_files_never_pass_the_scheduler(files, clients):
    np.save(files / "1.npy", X[:330])
    np.save(files / "2.npy", X[330:])
    model, y, _ = CASES["ridge"]
    with clients(2).as_current():
        found = type(model)(**model.get_params()).fit([files / "1.npy", files / "2.npy"], files / "values.npy")
    assert bytes_of(found, files) == streamed("ridge", files)


def test_predictions_are_lazy_and_of_the_same_chunks(clients):
    rows = da.from_array(X, chunks=(400, -1))
    with clients(2).as_current():
        ridge = fitted("ridge", client=clients(2))
        lazy = ridge.predict(rows)
        assert isinstance(lazy, da.Array) and lazy.chunks == (rows.chunks[0],)
        np.testing.assert_allclose(lazy.compute(), ridge.to_local().predict(X), atol=1e-12)
        assert ridge.score(X, values) > 0.95
        logistic = fitted("logistic", client=clients(2))
        shares = logistic.predict_proba(rows)
        assert shares.chunks == (rows.chunks[0], (3,)) and abs(shares.sum(axis=1).compute() - 1).max() < 1e-12
        assert (logistic.predict(rows).compute() == three).mean() > 0.9
        placed = fitted("pca", client=clients(2)).transform(rows)
        assert placed.chunks == (rows.chunks[0], (4,)) and placed.compute().shape == (ROWS, 4)


def test_the_model_is_the_ordinary_one(tmp_path):
    model = fitted("svc")
    model.save(tmp_path / "svc.model")
    there = lopsided.NystromSVC.load(tmp_path / "svc.model")
    assert (there.predict(X) == model.predict(X)).all() and (there.classes_ == [0, 1, 2]).all()
    assert isinstance(model.to_local(), lopsided.NystromSVC) and not isinstance(model.to_local(), ld.NystromSVC)
    words = type(model)(gamma=0.5, n_landmarks=40, piece=PIECE).fit(da.from_array(X, chunks=(500, -1)), two)
    assert (words.classes_ == ["inside", "outside"]).all() and words.score(X, two) > 0.9


def test_frames_keep_the_names_of_their_columns():
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")).assign(y=values), npartitions=4)
    model = ld.NystromRidge(0.1, gamma=0.5, n_landmarks=60, piece=PIECE).fit(frame[["a", "b", "c"]], frame["y"])
    assert list(model.feature_names_in_) == ["a", "b", "c"] and model.score(pd.DataFrame(X, columns=list("abc")), values) > 0.95
    assert model.predict(frame[["a", "b", "c"]]).compute().shape == (ROWS,)


def test_what_is_wrong_is_said_in_a_sentence():
    rows = da.from_array(X, chunks=(300, -1))
    ridge = ld.NystromRidge(0.1, gamma=0.5, n_landmarks=60, piece=PIECE)
    broken = X.copy()
    broken[1234, 1] = np.nan
    with pytest.raises(ValueError, match="chunk 4: the table contains NaN at row 1234, column 1"):
        ridge.fit(da.from_array(broken, chunks=(300, -1)), values)
    kept = np.ones(ROWS, dtype=bool)
    kept[300:600] = False
    with pytest.raises(ValueError, match="chunk 1 of X has no rows"):
        ridge.fit(rows[da.from_array(kept, chunks=300)], values[kept])
    with pytest.raises(ValueError, match="y has 1400, X has 1500"):
        ridge.fit(rows, values[:1400])
    lying = da.from_delayed(dask.delayed(X[:, :2]), shape=(ROWS, 3), dtype=float)
    with pytest.raises(ValueError, match="chunk 0: the number of columns .* is 2 but must be 3"):
        ridge.fit(lying, values)
    short = da.from_delayed(dask.delayed(X[:1400]), shape=(ROWS, 3), dtype=float)
    with pytest.raises(ValueError, match="chunk 0 of X has 1400 rows where 1500 are announced"):
        ridge.fit(short, values)
    with pytest.raises(ValueError, match="`n_landmarks` is 2000"):
        ld.NystromRidge(n_landmarks=2000, piece=PIECE).fit(rows, values)


def test_the_package_loads_no_dask():
    loaded = "import sys, lopsided; sys.exit(any(name.split('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", loaded]).returncode == 0
