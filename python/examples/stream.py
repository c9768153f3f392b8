"""More rows than memory holds: a file that is read in passes, and samples that come one after the other.

Prints how much of new values is explained by a machine that never held the file, nearly all, and errors that vanish day by day.
"""
# %% Sensors write a file of 20000 rows and a value for each.
import tempfile
from pathlib import Path

import numpy as np

from lopsided import NystromRidge, OnlinePairRegressor

rng = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "sensors.npy"
X = rng.uniform(-2, 2, (20_000, 4))
y = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.1 * rng.standard_normal(len(X))
np.save(path, X)
print(f"{path.stat().st_size / 1e6:.1f} MB of rows")

# %% Ridge regression out of core: the file is read in passes and never held.
machine = NystromRidge(0.1, gamma=0.5, n_landmarks=300).fit_stream(path, y)
new = rng.uniform(-2, 2, (500, 4))
truth = np.sin(2 * new[:, 0]) * new[:, 1] + new[:, 2] ** 2
print(f"R² of new rows: {machine.score(new, truth):.3f}")
held = NystromRidge(0.1, gamma=0.5, n_landmarks=300, approach="ncr").fit(X[:5000], y[:5000])
print(f"of a machine that holds the first 5000 rows: {held.score(new, truth):.3f}")

# %% What would a fit in memory cost? Ask before.
plan = NystromRidge(0.1, gamma=0.5, n_landmarks=300).plan(X, y)
print(f"in memory: about {plan['bytes'] / 1e6:.0f} MB of {plan['memory'] / 1e9:.1f} GB, operator {plan['operator']}")

# %% Pairs that come one after the other: predict, hear the value, learn.
weights = rng.standard_normal((3, 2))
learner = OnlinePairRegressor(radius=np.linalg.norm(weights, "nuc"), step=0.1)
for day in range(5):
    left, right = rng.standard_normal((100, 3)), rng.standard_normal((100, 2))
    values = np.einsum("ti,ij,tj->t", left, weights, right)
    learner.partial_fit(left, values, Z=right)
    print(f"day {day}: mean squared error before learning {np.mean(learner.losses_[-100:]):.4f}, of zeros {np.mean(values**2):.4f}")
folder.cleanup()
