"""Python has the words and the defaults of the library; exceptions stand in one list, with their reasons."""
import inspect
import json

import lopsided
import pytest
from lopsided import _core
from lopsided._base import Estimator

DESCRIBED = json.loads(_core.described())
#: Parameters whose default is not the library's, and why.
EXCEPTIONS = {
    "kernel": "scikit-learn's machines have the RBF kernel; graphs and two sample sets have the library's own",
    "approach": "the classes called Nystrom are approximations by their name, the others exact by theirs",
    "gamma": "scikit-learn's words: None is 1/n_features where its own machine has that",
    "n_landmarks": "scikit-learn's Nystroem has 100 components",
    "multi_class": "the name of a scikit-learn class says which",
    "coef0": "scikit-learn's SVC has 0",
    "C": "scikit-learn's machines have 1",
    "center": "kernel PCA is centred",
    "row_clusters": "required by the program, 2 here so that the class can be made without arguments",
    "rank": "positional in Python, so that it is seen",
}
#: Parameters of Python alone.
OWN = {"random_state", "verbose", "kernel_params"}


def classes():
    found = (getattr(lopsided, name) for name in lopsided.__all__)
    for cls in found:
        if inspect.isclass(cls) and issubclass(cls, Estimator) and getattr(cls, "_core_name", "") in DESCRIBED:
            yield cls


@pytest.mark.parametrize("cls", list(classes()), ids=lambda cls: cls.__name__)
def test_every_setting_is_one_of_the_library(cls):
    known = {setting["name"] for setting in DESCRIBED[cls._core_name]}
    for name in cls._core_settings:
        core = getattr(cls, "_renamed", {}).get(name, name).replace("_", "-")
        assert core in known, f"{name} is no setting of {cls._core_name}"


@pytest.mark.parametrize("cls", list(classes()), ids=lambda cls: cls.__name__)
def test_defaults_are_those_of_the_library(cls):
    # Of two settings of one name the estimator's own comes first.
    defaults = {setting["name"]: setting["default"] for setting in reversed(DESCRIBED[cls._core_name])}
    parameters = inspect.signature(cls.__init__).parameters
    for name in cls._core_settings:
        if name in EXCEPTIONS or name in OWN or name not in parameters:
            continue
        value = parameters[name].default
        if value is None or value is inspect.Parameter.empty:
            continue  # left to the library
        core = getattr(cls, "_renamed", {}).get(name, name).replace("_", "-")
        word = defaults[core].split(";")[0].split(",")[0].strip()
        given = str(value).lower() if isinstance(value, (bool, str)) else value
        assert given == word or str(given) == word or float(word) == float(given), f"{name}: {value}, {defaults[core]}"


def test_a_recipe_makes_the_model_again(tmp_path):
    from sklearn.datasets import make_blobs

    x, y = make_blobs(60, random_state=1)
    model = lopsided.AsKLSClassifier(0.5, kernel="sne", gamma=0.3).fit(x, y)
    recipe = model.get_recipe()
    assert recipe["kernel"] == "sne" and recipe["gamma"] == 0.3 and recipe["penalty"] == 0.5
