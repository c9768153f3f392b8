"""The contract of scikit-learn, for every estimator of the package."""
import inspect
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import lopsided
from lopsided._base import Estimator

ESTIMATORS = [
    cls
    for name in lopsided.__all__
    if inspect.isclass(cls := getattr(lopsided, name)) and hasattr(cls, "fit") or hasattr(cls, "partial_fit")
]

#: Checks that an estimator does not pass, each with the reason.
_WEIGHTS = "gamma='scale' looks at samples and not at weights, and the solver stops at `tol`, as in scikit-learn's SVC"
_PARTS = "penalty and merging are found on held-out parts, and gamma from samples: neither sees a weight as a repetition"
EXPECTED: dict[str, dict[str, str]] = {
    name: {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    for name, reason in {
        "NystromSVC": _WEIGHTS, "NystromLogistic": _WEIGHTS,
        "AsKLSClassifier": _PARTS, "AsKLSRegressor": _PARTS, "LSSVMClassifier": _PARTS,
    }.items()
}


@parametrize_with_checks(
    [cls() for cls in ESTIMATORS], expected_failed_checks=lambda estimator: EXPECTED.get(type(estimator).__name__, {})
)
def test_the_contract_of_scikit_learn_holds(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_the_docstring_names_every_parameter_in_numpydoc_order(cls):
    text = inspect.getdoc(cls)
    named = set()
    for line in text.split("Parameters\n----------\n")[1].split("\n\nAttributes\n")[0].splitlines():
        if line and not line.startswith(" "):
            named.update(name.strip() for name in line.split(" : ")[0].split(","))
    assert named == set(cls._parameter_names())
    sections = ["Parameters\n-", "Attributes\n-", "See Also\n-", "Notes\n-", "References\n-", "Examples\n-"]
    places = [text.index(section) for section in sections if section in text]
    assert places == sorted(places) and "Examples\n-" in text


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_clones_and_representations_show_what_was_changed(cls):
    estimator = cls(random_state=3) if "random_state" in cls._parameter_names() else cls()
    again = clone(estimator)
    assert repr(again) == repr(estimator) and again is not estimator
    assert "text/html" in estimator._repr_mimebundle_()


def test_importing_takes_little_time_and_leaves_scikit_learn_alone():
    code = (
        "import json, sys, time; import numpy; start = time.perf_counter(); import lopsided;"
        "print(json.dumps([time.perf_counter() - start, 'sklearn' in sys.modules, 'matplotlib' in sys.modules]))"
    )
    runs = [json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(3)]
    assert min(seconds for seconds, *_ in runs) < 0.2
    assert not any(loaded for _, *modules in runs for loaded in modules)


def test_settings_of_the_registry_are_parameters():
    settings = {name: set(params) for name, _, params in lopsided._core.registry("estimators")}
    kernels_of_nodes = {"beta", "alpha", "decay"}  # in `kernel_params`
    for cls in (c for c in ESTIMATORS if issubclass(c, Estimator) and c._core_name in ("ask-ls", "ls-svm")):
        own = {name.replace("_", "-") for name in cls._parameter_names()}
        other = {"merge" if cls._core_name == "ls-svm" else "symmetrize"}  # of the other machine
        if cls._estimator_type == "regressor":
            other.add("class-weight")
        assert settings[cls._core_name] - kernels_of_nodes - other <= own


def test_models_are_pickled_as_the_bytes_of_their_file(tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = lopsided.KernelSVD(rank=3).fit(X)
    model.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() in pickle.dumps(model)
