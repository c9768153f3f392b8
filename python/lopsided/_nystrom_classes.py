"""Support vector machines and logistic regression, by landmarks or exact."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ._inputs import column, weights_of
from ._machines import KERNEL_PARAMETERS, LANDMARKS, Machine
from ._supervised import Classifier, Probabilities


class ClassMachine(Machine, Classifier):
    """Weights of classes."""

    class_weight: Any

    def _settings_for(self, x: Any) -> dict[str, Any]:
        settings = super()._settings_for(x)
        if self.class_weight is None or isinstance(self.class_weight, dict):
            return settings
        if not isinstance(self.class_weight, str) or self.class_weight != "balanced":
            raise ValueError(f"`class_weight` is {self.class_weight!r} but must be 'balanced', a dict or None")
        return settings | {"class_weight": "balanced"}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn the classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; a square matrix of kernel values for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Classes, of any type that can be sorted.
        sample_weight : float or array-like of shape (n_samples,), default=None
            What C is multiplied by for each sample.

        Returns
        -------
        self : object
        """
        if isinstance(self.class_weight, dict) and y is not None:
            sample_weight = self._class_weighted(column(y), sample_weight)
        return self._fit_target(X, y, sample_weight)

    def _class_weighted(self, y: np.ndarray, sample_weight: Any) -> np.ndarray:
        factors = np.array([float(self.class_weight.get(label, 1.0)) for label in y.tolist()])
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError(f"`class_weight` is {self.class_weight} but must have finite weights above 0")
        weights = weights_of(sample_weight, len(y))
        return factors if weights is None else factors * weights

    def _restore(self) -> None:
        super()._restore()
        self.C = self.report_["params"].get("penalty", 1.0)


class NystromSVC(ClassMachine):
    """Support vector classification on landmarks, or exact.

    Minimises |f|^2 / 2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + b)) for each pair of classes, or each class against the rest,
    over functions of the span of the landmarks.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, as in scikit-learn's `SVC`.
    kernel : {"rbf", "laplacian", "poly", "linear", "precomputed"}, default="rbf"
        A symmetric kernel; "precomputed" if X is the matrix of kernel values.
    gamma : float, {"scale", "auto", "median"} or None, default="scale"
        Coefficient of distance or scalar product: "scale" is 1/(n_features var(X)), "auto" and None are 1/n_features,
        "median" is 1/median distance.
    degree, coef0 : float, default=3, 0
        Degree and constant of the kernel "poly".
    nu : float, default=None
        With a number a nu-SVM is learned, whose share of margin errors is at most nu; C has then no meaning.
    approach : {"lla", "gsa", "exact"}, default="lla"
        Linear machine on the features of the landmarks, its coefficients carried over to all samples, or no landmarks at
        all.
    n_landmarks : int, default=None
        Number of landmarks; 1000, or all samples where there are fewer.
    sampler : str, default="uniform"
        How they are chosen, a name of `lopsided.samplers()`.
    landmarks : array-like of int, or {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
        Landmarks of your own: row numbers of X, or points.
    nystrom : {"standard", "one-shot", "double", "multi-scale"}, default=None
        How landmarks become an orthonormal basis; "standard".
    truncate : int, default=None
        Most basis vectors; all.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The exact machine has the hinge only.
    multi_class : {"ovo", "ovr"}, default="ovo"
        A machine for each pair of classes, as in `SVC`, or for each class against the rest.
    probability : bool, default=False
        Learn probabilities as well, from values held out of five parts.
    class_weight : dict, "balanced" or None, default=None
        What C is multiplied by for the samples of a class.
    tol : float, default=1e-3
        Tolerance of the optimality conditions.
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in the type of the labels; read from a file, whole numbers or words.
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    landmark_indices_ : ndarray of int
        Rows of X that are the landmarks, where they were given.
    report_ : dict
        Kernel with its gamma, approach, support vectors, warnings.

    See Also
    --------
    NystromLogistic : Logistic regression, which has probabilities by itself.
    NystromFeatures : The features alone, for any linear machine.

    References
    ----------
    .. [1] W. Li, M. Liu, D. Zhang, "Geometric Interpretation of Running Nyström-Based Kernel Machines and Error
       Analysis", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2))
    >>> y = np.where((X ** 2).sum(1) > 1.4, "outside", "inside")
    >>> NystromSVC(n_landmarks=60).fit(X, y).score(X, y) > 0.95
    True
    """

    _core_settings = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS, "multi_class", "probability", "tol")
    _files = ("svm", "nu-svm")

    def __init__(
        self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=0.0, nu=None, approach="lla", n_landmarks=None,
        sampler="uniform", landmarks=None, nystrom=None, truncate=None, loss="hinge", multi_class="ovo",
        probability=False, class_weight=None, tol=1e-3, random_state=None, verbose=0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.approach = approach
        self.n_landmarks = n_landmarks
        self.sampler = sampler
        self.landmarks = landmarks
        self.nystrom = nystrom
        self.truncate = truncate
        self.loss = loss
        self.multi_class = multi_class
        self.probability = probability
        self.class_weight = class_weight
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _core_name(self) -> str:  # type: ignore[override]
        return "svm" if self.nu is None else "nu-svm"

    def _settings_for(self, x: Any) -> dict[str, Any]:
        settings = super()._settings_for(x)
        if self.nu is not None:
            return settings | {"nu": float(self.nu)}
        return settings | {"penalty": float(self.C), "loss": str(self.loss).replace("_", "-")}

    @property
    def predict_proba(self) -> Any:
        """Probabilities of the classes, with `probability=True`: a function of X that returns a column for each class."""
        if not self.probability:
            raise AttributeError("predict_proba is not available when probability=False")
        return functools.partial(Probabilities.predict_proba, self)  # type: ignore[arg-type]

    def _restore(self) -> None:
        super()._restore()
        self.nu = self.report_["params"].get("nu")
        self.probability = True  # the file may have them, and whoever asks is told


class NystromLogistic(ClassMachine, Probabilities):
    """Kernel logistic regression on landmarks, or exact.

    Minimises |f|^2 / 2 + C sum_i w_i loss_i, with the loss -log of the softmax probability of the sample's class, over
    functions of the span of the landmarks.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, as in scikit-learn's `LogisticRegression`.
    kernel : {"rbf", "laplacian", "poly", "linear", "precomputed"}, default="rbf"
        A symmetric kernel; "precomputed" if X is the matrix of kernel values.
    gamma : float, {"scale", "auto", "median"} or None, default="scale"
        See `NystromSVC`.
    degree, coef0 : float, default=3, 0
        Degree and constant of the kernel "poly".
    approach : {"lla", "gsa", "exact"}, default="lla"
        See `NystromSVC`.
    n_landmarks : int, default=None
        Number of landmarks; 1000, or all samples where there are fewer.
    sampler : str, default="uniform"
        How they are chosen, a name of `lopsided.samplers()`.
    landmarks : array-like of int, or {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
        Landmarks of your own: row numbers of X, or points.
    nystrom : {"standard", "one-shot", "double", "multi-scale"}, default=None
        How landmarks become an orthonormal basis; "standard".
    truncate : int, default=None
        Most basis vectors; all.
    class_weight : dict, "balanced" or None, default=None
        What C is multiplied by for the samples of a class.
    tol : float, default=1e-6
        Length of the gradient, relative to the one at zero, that counts as converged.
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in the type of the labels; read from a file, whole numbers or words.
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    landmark_indices_ : ndarray of int
        Rows of X that are the landmarks, where they were given.
    report_ : dict
        Kernel with its gamma, approach, Newton steps, warnings.

    See Also
    --------
    NystromSVC : Support vector classification.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromLogistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2))
    >>> y = (X ** 2).sum(1) > 1.4
    >>> NystromLogistic(C=10, n_landmarks=60).fit(X, y).predict_proba([[0.0, 0.0]]).round(1)
    array([[1., 0.]])
    """

    _core_name = "logistic"
    _files = ("logistic",)
    _core_settings = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS, "C", "tol")

    def __init__(
        self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=0.0, approach="lla", n_landmarks=None,
        sampler="uniform", landmarks=None, nystrom=None, truncate=None, class_weight=None, tol=1e-6, random_state=None,
        verbose=0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approach = approach
        self.n_landmarks = n_landmarks
        self.sampler = sampler
        self.landmarks = landmarks
        self.nystrom = nystrom
        self.truncate = truncate
        self.class_weight = class_weight
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
