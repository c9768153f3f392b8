"""A Dask cluster: a grid search over its workers, and a machine that learns from rows which no process holds.

Prints the best settings and how much of new values the two machines explain.
"""
# %% A table of 40000 rows; in earnest it would be read by the workers, from files.
import dask.array as da
import joblib
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

import lopsided
import lopsided.dask as ld


def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (40_000, 4))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.1 * rng.standard_normal(len(X))


# %% Settings are searched on some rows: scikit-learn's search, whose fits are done by the workers.
def searched(X, y):
    grid = {"alpha": [0.01, 0.1, 1.0], "gamma": [0.2, 0.5]}
    with joblib.parallel_config("dask"):
        return GridSearchCV(lopsided.NystromRidge(n_landmarks=150), grid, cv=3).fit(X, y)


# %% All rows are learned by passes over chunks that stay on the workers.
def learned(X, y, settings):
    return ld.NystromRidge(**settings, n_landmarks=300).fit(X, y)


# %% A cluster of two processes on this machine; `Client("address:8786")` takes another one.
if __name__ == "__main__":
    X, y = table()
    new, truth = X[:1000], y[:1000]
    print(f"{len(X)} rows of {X.shape[1]} columns, two workers")
    with LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        search = searched(X[1000:4000], y[1000:4000])
        print(f"best of the grid: {search.best_params_}, R² of new rows {search.score(new, truth):.3f}")
        rows = da.from_array(X[1000:], chunks=(8192, -1))
        model = learned(rows, da.from_array(y[1000:], chunks=8192), search.best_params_)
        print(f"all rows on the cluster, {model.n_passes_} passes: R² of new rows {model.score(new, truth):.3f}")
        print(f"chunks of lazy predictions: {model.predict(rows).chunks}")
