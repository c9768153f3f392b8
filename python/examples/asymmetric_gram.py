"""A kernel matrix of your own that is not symmetric: cross-validation cuts it on both sides.

Prints the share of texts whose author is found: nearly all, where guessing finds a third.
"""
# %% Texts of three authors, compared by how much of one is found in another: k(x, z) is not k(z, x).
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.linear_model import LogisticRegression

from lopsided import AsKLSClassifier, KernelMatrix, KernelSVD, LSSVMClassifier

rng = np.random.default_rng(0)
words = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60)]
habits = rng.dirichlet(np.full(60, 0.7), size=3)
author = np.repeat(np.arange(3), 50)
texts = [" ".join(rng.choice(words, rng.integers(10, 40), p=habits[a])) for a in author]


def found_in(x, z):
    """Share of the words of x that z has as well."""
    x, z = set(x.split()), set(z.split())
    return len(x & z) / len(x)


K = np.array([[found_in(x, z) for z in texts] for x in texts])
print(f"{len(texts)} texts; |K - K'| is {np.linalg.norm(K - K.T) / np.linalg.norm(K + K.T):.2f} of |K + K'|")

# %% `KernelMatrix` hands on rows and columns: k(new, known) and k(known, new).
scores = cross_val_score(AsKLSClassifier(kernel="precomputed"), KernelMatrix(K), author, cv=5)
print(f"AsK-LS, both directions: {scores.mean():.2f} correct, guessing {1 / 3:.2f}")
scores = cross_val_score(LSSVMClassifier(kernel="precomputed"), KernelMatrix((K + K.T) / 2), author, cv=5)
print(f"LS-SVM of the mean of both: {scores.mean():.2f} correct")

# %% A grid search over the same matrix.
search = GridSearchCV(
    AsKLSClassifier(kernel="precomputed"), {"penalty": [0.01, 0.03, 0.1], "merge": ["stack", "source", "target"]}, cv=5
).fit(KernelMatrix(K), author)
print("best of the grid:", search.best_params_, f"{search.best_score_:.2f}")

# %% Features of both sides in a pipeline.
pipeline = make_pipeline(KernelSVD(8, kernel="precomputed", side="both"), LogisticRegression(C=100))
print(f"kernel SVD, both sides: {cross_val_score(pipeline, KernelMatrix(K), author, cv=5).mean():.2f} correct")

# %% Or let a machine call the kernel: on strings, in blocks.
train, test, y, truth = train_test_split(texts, author, test_size=50, stratify=author, random_state=0)
machine = AsKLSClassifier(kernel=found_in).fit(train, y)
print(f"new texts, kernel called by the machine: {machine.score(test, truth):.2f} correct")
