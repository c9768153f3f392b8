"""Models that the program learned from tables of numbers and words predict frames and arrays of objects."""
import csv
import json

import numpy as np
import pytest

from common import program
from lopsided import KernelPCA, LSSVMClassifier
from lopsided._tables import table_given

CITIES = ["Oslo", 'Aalborg, "N"', "Ærø"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    size, city = rng.normal(size=60), rng.integers(3, size=60)
    with open(tmp_path / "shops.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["size", "city", "open", "buys", "spends"])
        for i in range(60):
            gap = "" if i % 13 == 0 else size[i]
            rows.writerow([gap, CITIES[city[i]], i % 2 == 0, "yes" if city[i] else "no", size[i] + city[i]])
    return tmp_path


def table(folder):
    with open(folder / "shops.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array(
        [[float(r["size"]) if r["size"] else None, r["city"], r["open"] == "True"] for r in rows], dtype=object
    )


def test_classes_of_objects_and_frames(folder):
    shops = folder / "shops.csv"
    program("fit", "ls-svm", shops, "--target", "buys", "--drop", "spends", "--impute", "mean", "--model", folder / "m")
    told = json.loads(program("predict", folder / "m", shops, "--drop", "spends", "--json"))["predictions"]
    model, X = LSSVMClassifier.load(folder / "m"), table(folder)
    with pytest.warns(UserWarning, match="missing values are filled: 5 of `size`"):
        found = model.predict(X)
    assert list(found) == [label for _, label in told]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"open": X[:, 2].astype(bool), "city": X[:, 1], "size": X[:, 0].astype(float)})
    with pytest.warns(UserWarning):
        assert list(model.predict(frame)) == list(found)
    frame.loc[4, "city"] = "Rome"
    with pytest.warns(UserWarning, match="`Rome` 1"):
        model.predict(frame)
    with pytest.raises(ValueError, match="X has no column 'city'"):
        model.predict(frame.drop(columns="city"))
    with pytest.raises(ValueError, match="expects 3 columns: size, city, open"):
        model.predict(X[:, :2])
    X[3, 0] = "large"
    with pytest.raises(ValueError, match="column 'size' holds 'large'"):
        model.predict(X)


def test_components_of_words_are_left_to_the_program(folder):
    program("fit", "kpca", folder / "shops.csv", "--target", "buys", "--drop", "spends", "--impute", "mean", "--rank", 2, "--model", folder / "m")
    with pytest.raises(ValueError, match="prepares the columns of a table"):
        KernelPCA.load(folder / "m")


def test_words_are_written_as_the_program_reads_them():
    X = np.array([[1.0, True, "a "], [None, None, float("nan")]], dtype=object)
    given = table_given(X, [("n", True), ("f", True), ("t", True)], False)
    assert given.columns == [("n", ["1", None]), ("f", ["true", None]), ("t", ["a", None])]
