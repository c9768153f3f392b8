"""Least squares support vector machines with asymmetric and symmetrised kernels."""
from __future__ import annotations

from typing import Any

from ._base import GRAPH, KERNEL
from ._supervised import Classifier, Probabilities, Regressor

COUPLED = ("penalty", "on_singular", "tikhonov", "route")

_MERGE = """merge : {"stack", "average", "source", "target"}, default="stack"
        How the source and the target function become one: a logistic or linear regression on held-out scores, their
        mean, or one of them."""

_PARAMETERS = """kernel : str or callable, default="sne"
        A name of `lopsided.kernels()`, "precomputed", or a function K(X, Z) or k(x, z), which is evaluated for all pairs
        in Python: the slow path.
    gamma : float, {"scale", "median", "ksvd"}, default=None
        Coefficient of the distance; "median", and "scale" for a graph.
    gamma_factor : float, default=None
        Multiplies the bandwidth: gamma is divided by its square. 1, or 5 for a graph without `gamma`.
    degree, coef0, epsilon : float, default=None
        Degree and constant of the kernel "poly", what the kernel "kl" adds to every bin.
    kernel_params : dict, default=None
        Parameters of the kernels of nodes: "beta" of "katz", "alpha" of "ppr", "decay" of "shortest-path".
    on_singular : {"tikhonov", "min-norm", "error"}, default="tikhonov"
        What to do with a singular system.
    tikhonov : float, default=None
        Lambda of Tikhonov's method; 1.
    route : {"auto", "svd", "dense", "krylov", "minres", "lsmr"}, default="auto"
        How the system is solved.
    links : {"in", "out"}, default="in"
        Links that make up a node's row.
    self_loops : bool, default=None
        Link every node to itself; yes, except for the kernel "katz".
    normalize : {"row", "none"}, default=None
        Divide each row by its sum; "row", except for the kernel "katz".
    max_degree : int, default=None
        Keep at most so many links in and out of any node.
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is."""


class _Coupled:
    """Parameters of both machines with an asymmetric kernel."""

    _core_name = "ask-ls"
    _core_settings: tuple[str, ...] = (*KERNEL, *COUPLED, "merge", *GRAPH)

    def __init__(
        self, penalty="auto", *, merge="stack", kernel="sne", gamma=None, gamma_factor=None, degree=None, coef0=None,
        epsilon=None, kernel_params=None, on_singular="tikhonov", tikhonov=None, route="auto",
        links="in", self_loops=None, normalize=None, max_degree=None, random_state=None, verbose=0,
    ):
        self.penalty = penalty
        self.merge = merge
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_factor = gamma_factor
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.kernel_params = kernel_params
        self.on_singular = on_singular
        self.tikhonov = tikhonov
        self.route = route
        self.links = links
        self.self_loops = self_loops
        self.normalize = normalize
        self.max_degree = max_degree
        self.random_state = random_state
        self.verbose = verbose


class AsKLSClassifier(_Coupled, Probabilities, Classifier):
    __doc__ = f"""Least squares support vector machine with an asymmetric kernel.

    Two functions, of a sample as source and of it as target, are found together by one linear system for all classes and
    merged. A graph is learned transductively: the kernel matrix holds all nodes, the system those with a class.

    Parameters
    ----------
    penalty : float or "auto", default="auto"
        Weight of the errors against the size of the weights; "auto" is the best of a few around 1/sigma_1 on held-out
        samples. Above `report_["params"]["largest_definite_penalty"]`, which is 1/sigma_1, the system is indefinite.
    {_MERGE}
    {_PARAMETERS}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted.
    n_features_in_ : int
        Width of X, or the number of nodes.
    nodes_ : list
        Nodes of the graph it was fitted with.
    report_ : dict
        Settings, also those found from the data, condition number and warnings.

    See Also
    --------
    LSSVMClassifier : The same with a symmetric or symmetrised kernel.
    AsKLSRegressor : The same for values.

    References
    ----------
    .. [1] M. He, F. He, L. Shi, X. Huang, J. Suykens, "Learning with Asymmetric Kernels: Least Squares and Feature
       Interpretation", IEEE TPAMI 45(8), 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsKLSClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> AsKLSClassifier(penalty=10).fit(X, y).score(X, y) > 0.9
    True
    """

    def fit(self, X: Any, y: Any) -> AsKLSClassifier:
        """Learn classes of samples or nodes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or graph
            Samples, a square precomputed kernel matrix, or a graph of networkx, igraph or `DirectedGraph`.
        y : array-like of shape (n_samples,) or dict
            Classes; for a graph one for each node, None where unknown, or a dict of nodes and classes.

        Returns
        -------
        self : AsKLSClassifier
        """
        return self._fit_target(X, y)


class AsKLSRegressor(_Coupled, Regressor):
    __doc__ = f"""Least squares regression with an asymmetric kernel.

    The machine of `AsKLSClassifier` for values.

    Parameters
    ----------
    penalty : float or "auto", default="auto"
        Weight of the errors against the size of the weights; "auto" is the best of a few around 1/sigma_1 on held-out
        samples. Above `report_["params"]["largest_definite_penalty"]`, which is 1/sigma_1, the system is indefinite.
    {_MERGE}
    {_PARAMETERS}

    Attributes
    ----------
    n_features_in_ : int
        Width of X, or the number of nodes.
    nodes_ : list
        Nodes of the graph it was fitted with.
    report_ : dict
        Settings, also those found from the data, condition number and warnings.

    See Also
    --------
    AsKLSClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsKLSRegressor
    >>> X = np.linspace(0, 3, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> AsKLSRegressor(penalty=100, kernel="rbf").fit(X, y).score(X, y) > 0.99
    True
    """

    def fit(self, X: Any, y: Any) -> AsKLSRegressor:
        """Learn values of samples or nodes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or graph
            Samples, a square precomputed kernel matrix, or a graph of networkx, igraph or `DirectedGraph`.
        y : array-like of shape (n_samples,) or dict
            Values; for a graph one for each node, NaN where unknown, or a dict of nodes and values.

        Returns
        -------
        self : AsKLSRegressor
        """
        return self._fit_target(X, y)


class LSSVMClassifier(Classifier):
    __doc__ = f"""Least squares support vector machine with a symmetric kernel, or a symmetrised one.

    Parameters
    ----------
    penalty : float or "auto", default=1.0
        Weight of the errors against the size of the weights; "auto" is the best of a few around 1/sigma_1 on held-out
        samples.
    symmetrize : {{"average", "columns", "rows"}}, default="average"
        Symmetric matrix of a kernel that is not: (K + K')/2, K'K or KK'.
    {_PARAMETERS.replace('default="sne"', 'default="rbf"')}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted.
    n_features_in_ : int
        Width of X, or the number of nodes.
    nodes_ : list
        Nodes of the graph it was fitted with.
    report_ : dict
        Settings, also those found from the data, condition number and warnings.

    See Also
    --------
    AsKLSClassifier : The same with an asymmetric kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import LSSVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1, "out", "in")
    >>> LSSVMClassifier(penalty=10).fit(X, y).score(X, y) > 0.9
    True
    """

    _core_name = "ls-svm"
    _core_settings = (*KERNEL, *COUPLED, "symmetrize", *GRAPH)

    def __init__(
        self, penalty="auto", *, symmetrize="average", kernel="rbf", gamma=None, gamma_factor=None, degree=None, coef0=None,
        epsilon=None, kernel_params=None, on_singular="tikhonov", tikhonov=None, route="auto",
        links="in", self_loops=None, normalize=None, max_degree=None, random_state=None, verbose=0,
    ):
        self.penalty = penalty
        self.symmetrize = symmetrize
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_factor = gamma_factor
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.kernel_params = kernel_params
        self.on_singular = on_singular
        self.tikhonov = tikhonov
        self.route = route
        self.links = links
        self.self_loops = self_loops
        self.normalize = normalize
        self.max_degree = max_degree
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> LSSVMClassifier:
        """Learn classes of samples or nodes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or graph
            Samples, a square precomputed kernel matrix, or a graph of networkx, igraph or `DirectedGraph`.
        y : array-like of shape (n_samples,) or dict
            Classes; for a graph one for each node, None where unknown, or a dict of nodes and classes.

        Returns
        -------
        self : LSSVMClassifier
        """
        return self._fit_target(X, y)
