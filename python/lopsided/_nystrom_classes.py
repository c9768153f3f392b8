"""Support vector machines and logistic regression, by landmarks or exact."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ._docs import documented
from ._machines import KERNEL_PARAMETERS, LANDMARKS, Machine
from ._supervised import Classifier, Probabilities


class ClassMachine(Classifier, Machine):
    """What machines with losses share."""

    _attributes = ("classes_", *Machine._attributes)

    def _restore(self) -> None:
        super()._restore()
        self.C = self.report_["params"].get("penalty", 1.0)


@documented
class NystromSVC(ClassMachine):
    """Support vector classification on landmarks, or exact.

    Minimises |f|^2 / 2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + b)) for each pair of classes, or each class against the rest,
    over functions of the span of the landmarks.

    Parameters
    ----------
    nu : float, default=None
        With a number a nu-SVM is learned, whose share of margin errors is at most nu; C has then no meaning.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The exact machine has the hinge only.
    multi_class : {"ovo", "ovr"}, default="ovo"
        A machine for each pair of classes, as in `SVC`, or for each class against the rest.
    tol : float, default=1e-3
        Tolerance of the optimality conditions.

    Attributes
    ----------
    support_ : ndarray of int
        Rows of X that are support vectors, of the exact machine.
    dual_coef_ : ndarray of shape (n_functions, n_support)
        Their coefficients: f(x) = sum_j dual_coef_[k, j] k(x_j, x) + intercept_[k] for each pair of classes, or for each class;
        of two classes one function, which is `decision_function`.
    intercept_ : ndarray of shape (n_functions,)
        Constants of the functions.

    See Also
    --------
    NystromLogistic : Logistic regression, which has probabilities by itself.
    NystromFeatures : The features alone, for any linear machine.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromSVC
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> y = np.where((X ** 2).sum(1) > 1.4, "outside", "inside")
    >>> NystromSVC(n_landmarks=60).fit(X, y).score(X, y) > 0.95
    True
    """

    _paper = "NKM"
    _core_settings = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS, "multi_class", "probability", "tol")
    _files = ("svm", "nu-svm")

    def __init__(
        self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=0.0, nu=None, approach="lla", n_landmarks=None,
        sampler="uniform", landmarks=None, nystrom=None, truncate=None, loss="hinge", multi_class="ovo",
        probability=False, class_weight=None, tol=1e-3, random_state=None, verbose=0,
    ):
        self._take(locals())

    @property
    def _core_name(self) -> str:  # type: ignore[override]
        return "svm" if self.nu is None else "nu-svm"

    def _settings_for(self, x: Any) -> dict[str, Any]:
        settings = super()._settings_for(x)
        if self.nu is not None:
            return settings | {"nu": float(self.nu)}
        return settings | {"penalty": float(self.C), "loss": str(self.loss).replace("_", "-")}

    def _fit_core(self, given: Any) -> dict[str, Any]:
        report = super()._fit_core(given)
        self.__dict__.pop("_support", None)
        if self.approach == "exact" and not isinstance(given.x, tuple):
            self._support = self._found_in(given)
        return report

    def _found_in(self, given: Any) -> np.ndarray:
        """The rows of X that the coefficients of the model belong to."""
        if self._takes_values:
            return np.arange(len(given.x))
        # The core has the samples of a class side by side, in their order, and keeps support vectors alone.
        order, kept = np.argsort(given.classes[1], kind="stable"), self._model.array("x")
        rows, places = iter(order), []
        for sample in kept:
            places.append(next(row for row in rows if np.array_equal(given.x[row], sample)))
        return np.array(places, dtype=np.int64)

    def _functions(self, name: str) -> np.ndarray:
        self._fitted()
        if not hasattr(self, "_support"):
            raise AttributeError("an exact machine (approach='exact') that was fitted here to dense samples has support vectors")
        sign = -1.0 if len(self.classes_) == 2 else 1.0  # positive for the second class
        return sign * self._model.array(name)

    @property
    def support_(self) -> np.ndarray:
        """Rows of X that are support vectors."""
        return np.sort(self._support[np.any(self._functions("source") != 0, axis=1)])

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support vectors, a row for each function."""
        found = self._functions("source")
        used = np.any(found != 0, axis=1)
        return found[used][np.argsort(self._support[used])].T

    @property
    def intercept_(self) -> np.ndarray:
        """Constants of the functions."""
        return self._functions("source.bias")

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


@documented
class NystromLogistic(Probabilities, ClassMachine):
    """Kernel logistic regression on landmarks, or exact.

    Minimises |f|^2 / 2 + C sum_i w_i loss_i, with the loss -log of the softmax probability of the sample's class, over
    functions of the span of the landmarks.

    Parameters
    ----------
    tol : float, default=1e-6
        Length of the gradient, relative to the one at zero, that counts as converged.

    See Also
    --------
    NystromSVC : Support vector classification.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromLogistic
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
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
        self._take(locals())
