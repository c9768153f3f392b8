"""A directed graph: one embedding of nodes as sources, another as targets."""
# %% Four groups of pages that link in a circle: a to b, b to c, c to d, d to a.
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

from lopsided import GraphEmbedding
from lopsided.plotting import EmbeddingDisplay

rng = np.random.default_rng(0)
nodes = 160
group = np.repeat(np.arange(4), nodes // 4)
chance = np.where((group[None] - group[:, None]) % 4 == 1, 0.2, 0.02)
adjacency = (rng.random((nodes, nodes)) < chance) & ~np.eye(nodes, dtype=bool)
links = np.argwhere(adjacency)
mutual = np.mean(adjacency.T[adjacency])
print(f"{nodes} nodes, {len(links)} links, {mutual:.0%} of them in both directions")

# %% Embed the graph; a tenth of the links is kept back.
shuffled = rng.permutation(links)
test, train = np.split(shuffled, [len(links) // 10])
model = GraphEmbedding(rank=4).fit(train, nodes=range(nodes))
order = np.argsort(model.nodes_)  # nodes come in the order of their first link
rows, cols = model.row_vectors_[order], model.col_vectors_[order]
print("singular values:", np.round(model.singular_values_, 2))

# %% Which side tells the groups?
for name, features in (("row side", rows), ("column side", cols), ("two sides together", np.hstack([rows, cols]))):
    accuracy = cross_val_score(LinearDiscriminantAnalysis(), features, group, cv=5).mean()
    print(f"groups from the {name}: {accuracy:.2f} correct")
undirected = GraphEmbedding(rank=4).fit(np.concatenate([train, train[:, ::-1]]), nodes=range(nodes))
both = np.hstack([undirected.row_vectors_, undirected.col_vectors_])[np.argsort(undirected.nodes_)]
accuracy = cross_val_score(LinearDiscriminantAnalysis(), both, group, cv=5).mean()
print(f"groups from the graph without directions: {accuracy:.2f} correct, since a and c have the same neighbours")

# %% Links that were kept back, against as many pairs without a link.
empty = rng.permutation(np.argwhere(~adjacency & ~np.eye(nodes, dtype=bool)))[: len(test)]
pairs, truth = np.concatenate([test, empty]), np.repeat([1, 0], [len(test), len(empty)])


def features(pairs):
    """Products of the features of both ends, in the direction of the link."""
    source, target = np.hstack([rows, cols])[pairs.T]
    return np.einsum("ni,nj->nij", source, target).reshape(len(pairs), -1)


known = np.concatenate([train, rng.permutation(np.argwhere(~adjacency))[: len(train)]])
machine = LinearDiscriminantAnalysis().fit(features(known), np.repeat([1, 0], [len(train), len(train)]))
area = roc_auc_score(truth, machine.decision_function(features(pairs)))
print(f"kept back links against others: area under the curve {area:.2f}")
forward, backward = (machine.decision_function(features(some)) for some in (test, test[:, ::-1]))
print(f"their direction is right for {np.mean(forward > backward):.0%}")

# %% Both sides as a picture.
display = EmbeddingDisplay.from_estimator(model, components=(2, 3), labels=np.array(list("abcd"))[group][model.nodes_])
