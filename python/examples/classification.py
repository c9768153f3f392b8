"""Classes from an asymmetric kernel, beside symmetric ones."""
# %% Three groups of nodes that link in a circle, among other links: a to b, b to c, c to a.
import numpy as np

from lopsided import AsKLSClassifier, DirectedGraph, LSSVMClassifier, NystromSVC

rng = np.random.default_rng(0)
count = 240
group = np.arange(count) % 3
y = np.array(["a", "b", "c"])[group]


def circle(along, other):
    """A graph with these chances of links along the circle and elsewhere."""
    chance = np.where((group[None] - group[:, None]) % 3 == 1, along, other)
    return DirectedGraph.of((rng.random((count, count)) < chance).astype(float))


# %% The classes of two fifths are known, those of a fifth choose the settings, the rest is the test.
part = rng.choice(["known", "choice", "test"], size=count, p=[0.4, 0.2, 0.4])
known = np.where(part == "known", y.astype(object), None)


def shares(machine, graph):
    """Correct classes among the nodes of the choice and of the test."""
    right = machine.fit(graph, known).predict(graph) == y
    return right[part == "choice"].mean(), right[part == "test"].mean()


# %% AsK-LS has a function of nodes as sources and one of nodes as targets; an LS-SVM needs a symmetric matrix.
machines = {
    "AsK-LS": AsKLSClassifier(kernel="sne"),
    "LS-SVM, (K + K')/2": LSSVMClassifier(kernel="sne", symmetrize="average"),
    "LS-SVM, KK'": LSSVMClassifier(kernel="sne", symmetrize="rows"),
}
grid = [{"penalty": 10.0**p, "gamma_factor": f} for p in range(5) for f in (1.0, 2.0, 5.0)]
for along, other in ((0.2, 0.05), (0.12, 0.04)):
    graph = circle(along, other)
    print(f"{len(graph.sources)} links, {along} along the circle and {other} elsewhere; correct classes of the test:")
    for name, machine in machines.items():
        found = [shares(machine.set_params(**settings), graph) for settings in grid]
        print(f"  {name:20} {max(found, key=lambda pair: pair[0])[1]:.2f}")

# %% A kernel of your own: every row sample looks around as far as it is from the centre.
X = rng.standard_normal((300, 2))
classes = np.floor(np.arctan2(X[:, 1], X[:, 0]) / (np.pi / 3)).astype(int) % 6
train, test = slice(200), slice(200, None)


def own_width(X, Z):
    """exp(-|x - z|² / (0.3 + |x|²)), which is not symmetric."""
    X, Z = np.asarray(X), np.asarray(Z)
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2) / (0.3 + (X**2).sum(axis=1, keepdims=True)))


for name, kernel in (("own width", own_width), ("rbf", "rbf")):
    machine = AsKLSClassifier(10.0, kernel=kernel).fit(X[train], classes[train])
    print(f"AsK-LS with the kernel {name}: {machine.score(X[test], classes[test]):.2f} correct")

# %% Where a symmetric kernel will do, landmarks make the machine cheap.
svc = NystromSVC(C=10.0, n_landmarks=50, sampler="rpcholesky").fit(X[train], classes[train])
print(f"support vector machine with 50 landmarks: {svc.score(X[test], classes[test]):.2f} correct")
