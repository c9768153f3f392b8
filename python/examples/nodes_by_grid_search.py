"""Classes of nodes: cross-validation and a grid search over the nodes of a directed graph, which stays whole.

Prints the share of nodes whose class is found, of folds and of nodes that were never seen: nearly all, where guessing finds a quarter.
"""
# %% Four groups of pages that link in a circle; of half of them the group is known.
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from lopsided import AsKLSClassifier, DirectedGraph, GraphEmbedding

rng = np.random.default_rng(0)
count = 200
group = np.array(["news", "shop", "blog", "wiki"])[np.repeat(np.arange(4), count // 4)]
circle = np.repeat(np.arange(4), count // 4)
chance = np.where((circle[None] - circle[:, None]) % 4 == 1, 0.15, 0.02)
links = np.argwhere((rng.random((count, count)) < chance) & ~np.eye(count, dtype=bool))
graph = DirectedGraph.of(links, nodes=range(count))
known, new, y, truth = train_test_split(np.arange(count), group, test_size=0.5, stratify=group, random_state=0)
print(f"{count} nodes, {len(links)} links, {len(known)} nodes with a class")

# %% With `graph` a machine takes nodes as X: labels are divided, links are not.
scores = cross_val_score(AsKLSClassifier(graph=graph), known, y, cv=5)
guess = cross_val_score(DummyClassifier(), known[:, None], y, cv=5).mean()
print(f"AsK-LS, five folds of the known nodes: {scores.mean():.2f} correct, the most frequent class {guess:.2f}")

# %% A grid over the bandwidth and the way of merging both functions.
grid = {"gamma_factor": [2.0, 5.0], "merge": ["stack", "average"]}
search = GridSearchCV(AsKLSClassifier(graph=graph), grid, cv=5).fit(known, y)
print("best of the grid:", search.best_params_, f"{search.best_score_:.2f}")
print(f"nodes without a known class: {search.score(new, truth):.2f} correct")

# %% Both sides of an embedding in a pipeline.
for side in ("rows", "columns", "both"):
    pipeline = make_pipeline(GraphEmbedding(8, graph=graph, side=side, scaling="sqrt"), LogisticRegression(C=100))
    print(f"features of {side:7}: {cross_val_score(pipeline, known, y, cv=5).mean():.2f} correct")
