"""Biclustering: rows and columns of a matrix that belong together.

Prints how well the clusters are those that made the matrix: all documents are in their topic with three components.
"""
# %% Documents of three topics and words of four kinds; each topic has its own rates of the kinds.
import numpy as np
from sklearn.metrics import adjusted_rand_score

from lopsided import KernelBiclustering
from lopsided.plotting import BiclusterDisplay, SpectrumDisplay

rng = np.random.default_rng(0)
topics, kinds = np.sort(rng.integers(3, size=90)), np.sort(rng.integers(4, size=120))
rates = np.array([[6.0, 1.0, 1.0, 4.0], [1.0, 6.0, 1.0, 4.0], [1.0, 1.0, 6.0, 0.5]])
counts = rng.poisson(rates[topics][:, kinds])
rows, cols = rng.permutation(len(topics)), rng.permutation(len(kinds))
X = counts[np.ix_(rows, cols)].astype(float)

# %% How many components? The spectrum falls after the third: further ones are noise.
spectrum = SpectrumDisplay.from_estimator(KernelBiclustering(3, 4, rank=10).fit(X))
print("singular values:", np.round(spectrum.values / spectrum.values[0], 3))

# %% Cluster rows and columns at once, with three components and, to compare, with ten.
for rank in (10, 3):
    model = KernelBiclustering(row_clusters=3, col_clusters=4, rank=rank, random_state=0).fit(X)
    documents = adjusted_rand_score(topics[rows], model.row_labels_)
    words = adjusted_rand_score(kinds[cols], model.column_labels_)
    print(f"rank {rank:2}: adjusted Rand index {documents:.2f} of documents, {words:.2f} of words")

# %% What the blocks are like.
for row in range(3):
    means = [X[np.ix_(model.row_labels_ == row, model.column_labels_ == col)].mean() for col in range(4)]
    print(f"cluster {row} of documents, mean counts of the word clusters:", np.round(means, 1))

# %% The matrix in the order of the clusters.
display = BiclusterDisplay.from_estimator(model, X)
