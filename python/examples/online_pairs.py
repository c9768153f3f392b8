"""Online pairs: ratings that arrive one after the other, users and items with features."""
# %% A stream: how much a user likes an item depends on both, by a matrix of rank 2.
import tempfile
from pathlib import Path

import numpy as np

from lopsided import OnlineKernelPCA, OnlinePairRegressor
from lopsided.plotting import RegretDisplay

rng = np.random.default_rng(0)
trials = 800
truth = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 5))
truth /= np.abs(np.linalg.svd(truth, compute_uv=False)).sum()
users, items = rng.standard_normal((trials, 6)), rng.standard_normal((trials, 5))
users /= np.linalg.norm(users, axis=1, keepdims=True)
items /= np.linalg.norm(items, axis=1, keepdims=True)
ratings = np.einsum("ti,ij,tj->t", users, truth, items) + 0.02 * rng.standard_normal(trials)

# %% Learn while predicting; every loss is that of a prediction made before the rating was heard.
learner = OnlinePairRegressor("gd-trace", radius=1.0, horizon=trials)
for start in range(0, trials, 200):
    part = slice(start, start + 200)
    learner.partial_fit(users[part], ratings[part], Z=items[part])
    print(f"after {learner.n_trials_:4} trials: mean loss of the last 200 is {learner.losses_[-200:].mean():.5f}")

# %% Regret: what the best fixed matrix of trace norm 1 would have lost, and what the theorem allows.
regret = learner.regret()
print(f"lost {regret['loss']:.2f}, the best matrix {regret['comparator']:.2f}")
print(f"regret {regret['regret']:.2f} of at most {regret['bound']:.1f}")
display = RegretDisplay.from_estimator(learner)

# %% Likes that are no bilinear function of the features, near against far: kernels, and a bound on what is stored.
tastes, places = rng.uniform(-1, 1, (700, 2)), rng.uniform(-1, 1, (700, 2))
likes = np.where(np.linalg.norm(tastes - places, axis=1) < 0.9, 1.0, -1.0)
settings = {"loss": "hinge", "radius": 30.0, "step": 3.0}
for name, kernel in (
    ("linear", {"kernel": "linear"}),
    ("rbf", {"kernel": "rbf", "gamma": 2.0}),
    ("rbf, budget of 20", {"kernel": "rbf", "gamma": 2.0, "budget": 20}),
):
    machine = OnlinePairRegressor(**settings, **kernel).fit(tastes[:500], likes[:500], Z=places[:500])
    right = np.mean(np.sign(machine.predict(tastes[500:], Z=places[500:])) == likes[500:])
    print(f"{name:18} {right:.0%} of new likes, {machine.report_['account']['stored']} samples stored")

# %% A learner goes on where its checkpoint was made, here or with the program `lopsided`.
with tempfile.TemporaryDirectory() as folder:
    learner.save(Path(folder) / "checkpoint")
    again = OnlinePairRegressor.load(Path(folder) / "checkpoint")
print("the same predictions:", np.array_equal(again.predict(users, Z=items), learner.predict(users, Z=items)))

# %% Users alone, one after the other: which of them are novel?
watch = OnlineKernelPCA(2, kernel="linear", steps="fixed", step=0.5).fit(users[:500] * [3, 3, 0.3, 0.3, 0.3, 0.3])
usual, novel = watch.score_samples([[1, -1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]])
print(f"captured of a usual user {usual:.2f}, of a novel one {novel:.2f}")
