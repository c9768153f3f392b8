"""Choosing landmarks: how many, by which sampler, or your own."""
# %% A function over two dense groups of samples and a small one far away, where it matters as much.
import numpy as np

import lopsided
from lopsided import KernelRidge, NystromFeatures, NystromRidge
from lopsided.plotting import SpectrumDisplay

rng = np.random.default_rng(0)
CENTRES, SHARES = np.array([[0.0, 0.0], [3.0, 0.0], [9.0, 9.0]]), [0.6, 0.38, 0.02]


def draw(count, shares):
    group = rng.choice(3, size=count, p=shares)
    X = CENTRES[group] + rng.standard_normal((count, 2))
    return X, np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1]) + 0.05 * rng.standard_normal(count)


X, y = draw(2000, SHARES)
new_X, new_y = draw(1000, [1 / 3, 1 / 3, 1 / 3])  # all groups count the same

# %% The machine with all samples is what landmarks are to reach.
settings = {"alpha": 0.01, "gamma": 1.0}
exact = KernelRidge(**settings).fit(X, y).score(new_X, new_y)
print(f"R² with all {len(X)} samples: {exact:.3f}")

# %% Samplers: the mean over five seeds.
samplers = ["uniform", "kmeans", "leverage", "rpcholesky", "greedy"]
print("landmarks  " + "  ".join(f"{name:>10}" for name in samplers))
for count in (40, 80, 160):
    scores = [
        np.mean([
            NystromRidge(n_landmarks=count, sampler=name, random_state=seed, **settings).fit(X, y).score(new_X, new_y)
            for seed in range(5)
        ])
        for name in samplers
    ]
    print(f"{count:9}  " + "  ".join(f"{score:10.3f}" for score in scores))
print("all of them:", ", ".join(lopsided.samplers()))

# %% Landmarks of your own: points on a grid around each group.
grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 6)] * 2), axis=-1).reshape(-1, 2)
own = np.concatenate([centre + grid for centre in CENTRES])
score = NystromRidge(landmarks=own, **settings).fit(X, y).score(new_X, new_y)
print(f"R² with {len(own)} points of a grid: {score:.3f}")

# %% The features alone: how much of the kernel they keep, and which samples were chosen.
features = NystromFeatures(gamma=1.0, n_landmarks=80, sampler="rpcholesky").fit(X)
kept = (features.transform(X) ** 2).sum() / len(X)
far = (X[features.landmark_indices_].sum(axis=1) > 12).sum()
print(f"80 landmarks keep {kept:.1%} of the trace of the kernel matrix; {far} of them are in the small group")

# %% How fast the spectrum falls says how many landmarks are worth it.
display = SpectrumDisplay.from_estimator(lopsided.NystromPCA(100, gamma=1.0, n_landmarks=400).fit(X))
