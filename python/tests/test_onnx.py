"""Exported models give what `predict` gives, in onnxruntime."""
import csv
import json

import numpy as np
import pytest

from common import clusters, program
from lopsided import AsKLSClassifier, AsKLSRegressor, DirectedGraph, KernelRidge, LSSVMClassifier, NystromLogistic, NystromRidge, NystromSVC

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
onnx = pytest.importorskip("onnx", reason="onnx is not installed")

#: A penalty of 1 is too large for many of these kernels, which changes nothing here.
pytestmark = pytest.mark.filterwarnings("ignore:penalty 1 is above")

KERNELS = ["rbf", "linear", "poly", "laplacian"]
#: A class that is anything but a word.
HOSTILE = 'a,"b"\n\\0\u2028 é %s {x} '


def told(path, X):
    """What the runtime says about samples, by the names of the outputs; the file is one that the format allows."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, {"X": X})))


def assert_near(found, expected, tolerance=1e-5):
    """Relative to the largest of a column, as far as it is above 1."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.all(np.abs(found - expected) <= tolerance * np.maximum(1.0, np.abs(expected)))


def class_values(model, X):
    """A column of decision values for each class, as the core has them."""
    return model._decision(X)


def assert_same_classes(model, path, X):
    model.export_onnx(path)
    found = told(path, X)
    scores = class_values(model, X)
    assert_near(found["scores"], scores)
    best, second = np.sort(scores, axis=1)[:, -1], np.sort(scores, axis=1)[:, -2]
    clear = best - second > 1e-5 * np.maximum(1, np.abs(best))
    assert clear.sum() > len(X) // 2
    assert (found["label"].astype(str)[clear] == model.predict(X).astype(str)[clear]).all()
    return found


def machines():
    landmarks = {"n_landmarks": 20, "random_state": 0}
    yield "svc", lambda **k: NystromSVC(approach="exact", **k)
    for approach in ("lla", "gsa"):
        yield f"svc-{approach}", lambda a=approach, **k: NystromSVC(approach=a, **landmarks, **k)
        yield f"logistic-{approach}", lambda a=approach, **k: NystromLogistic(approach=a, **landmarks, **k)
    yield "svc-ovr", lambda **k: NystromSVC(approach="exact", multi_class="ovr", **k)
    yield "nu-svc", lambda **k: NystromSVC(approach="exact", nu=0.2, **k)
    yield "logistic", lambda **k: NystromLogistic(approach="exact", **k)
    yield "ls-svm", lambda **k: LSSVMClassifier(**k)
    for merge in ("stack", "average", "source", "target"):
        yield f"ask-ls-{merge}", lambda m=merge, **k: AsKLSClassifier(1.0, merge=m, **k)


MACHINES = dict(machines())


def settings(kernel):
    return {"kernel": kernel} | ({"degree": 2} if kernel == "poly" else {})


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", list(MACHINES))
def test_classifiers_say_what_predict_says(tmp_path, name, kernel, classes):
    X, y = clusters(90, classes=classes, width=3)
    new, _ = clusters(50, classes=classes, width=3, seed=1)
    model = MACHINES[name](**settings(kernel)).fit(X, y)
    found = assert_same_classes(model, tmp_path / "m.onnx", new)
    assert ("probabilities" in found) == (name.startswith("logistic") or name == "ask-ls-stack")
    if "probabilities" in found:
        assert_near(found["probabilities"], model.predict_proba(new))


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("way", ["ovo", "ovr"])
def test_probabilities_of_machines_for_two_classes_are_coupled(tmp_path, way, classes):
    X, y = clusters(150, classes=classes)
    new, _ = clusters(60, classes=classes, seed=2)
    model = NystromSVC(approach="exact", multi_class=way, probability=True).fit(X, y)
    found = assert_same_classes(model, tmp_path / "m.onnx", new)
    assert_near(found["probabilities"], model.predict_proba(new))
    np.testing.assert_allclose(found["probabilities"].sum(axis=1), 1)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("approach", ["exact", "lla", "gsa", "ncr"])
def test_ridge_says_what_predict_says(tmp_path, approach, kernel):
    X, _ = clusters(90, width=3)
    y = 100 + 30 * np.sin(X[:, 0])
    own = {} if approach == "exact" else {"n_landmarks": 20, "random_state": 0}
    model = NystromRidge(0.1, approach=approach, **settings(kernel), **own).fit(X, y)
    model.export_onnx(tmp_path / "m.onnx")
    assert_near(told(tmp_path / "m.onnx", X[::-1].copy())["values"][:, 0], model.predict(X[::-1]))


@pytest.mark.parametrize("model", [KernelRidge(), AsKLSRegressor(1.0, kernel="rbf"), AsKLSRegressor(1.0, merge="average", kernel="poly")])
def test_other_regressors_say_what_predict_says(tmp_path, model):
    X, _ = clusters(60)
    model.fit(X, X[:, 0] ** 2).export_onnx(tmp_path / "m.onnx")
    assert_near(told(tmp_path / "m.onnx", X)["values"][:, 0], model.predict(X))


@pytest.mark.parametrize("kernel", KERNELS)
def test_single_precision_is_a_graph_of_floats(tmp_path, kernel):
    X, y = clusters(90)
    X = X.astype(np.float32)
    model = NystromSVC(approach="exact", probability=True, **settings(kernel)).fit(X, y)
    found = assert_same_classes(model, tmp_path / "m.onnx", X)
    assert found["scores"].dtype == found["probabilities"].dtype == np.float32
    assert_near(found["probabilities"], model.predict_proba(X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("width", [1, 30])
def test_one_feature_one_landmark_one_row(tmp_path, width, kernel):
    X, y = clusters(40, classes=2, width=width)
    model = NystromRidge(1.0, n_landmarks=1, approach="ncr", random_state=0, **settings(kernel)).fit(X, X[:, 0])
    model.export_onnx(tmp_path / "r.onnx")
    assert_near(told(tmp_path / "r.onnx", X[:1])["values"], model.predict(X[:1])[:, None])
    assert_same_classes(NystromLogistic(n_landmarks=1, random_state=0, **settings(kernel)).fit(X, y), tmp_path / "c.onnx", X)


def test_classes_of_any_name(tmp_path):
    X, y = clusters(60, classes=3)
    names = np.array([HOSTILE, "", "x" * 1000], dtype=object)
    model = NystromSVC(approach="exact").fit(X, names[y])
    assert_same_classes(model, tmp_path / "m.onnx", X)
    facts = onnxruntime.InferenceSession(tmp_path / "m.onnx").get_modelmeta().custom_metadata_map
    assert json.loads(facts["classes"]) == [str(name) for name in model.classes_]


def test_samples_far_from_zero_keep_their_digits(tmp_path):
    """Where squares are 1e12 times as large as distances, the graph is nearer to the truth than the expanded form."""
    X, _ = clusters(60, width=2)
    y = np.sin(X[:, 0])
    near = KernelRidge(0.1, gamma=0.5).fit(X, y)
    far = KernelRidge(0.1, gamma=0.5).fit(X + 1e4, y)
    far.export_onnx(tmp_path / "m.onnx")
    assert_near(told(tmp_path / "m.onnx", X + 1e4)["values"][:, 0], near.predict(X), 1e-5)


@pytest.mark.parametrize(
    ("fitted", "reason"),
    [
        (lambda X, y: AsKLSClassifier(1.0, kernel="sne").fit(X, y), "its kernel is `sne`"),
        (lambda X, y: NystromSVC(approach="exact", kernel="precomputed").fit(X @ X.T, y), "computed elsewhere"),
        (lambda X, y: LSSVMClassifier(kernel=lambda a, b: a @ b.T).fit(X, y), "computed elsewhere"),
        (lambda X, y: NystromSVC(approach="exact", kernel="linear").fit(pytest.importorskip("scipy.sparse").csr_matrix(X), y), "sparse"),
        (lambda X, y: AsKLSClassifier(1.0).fit(DirectedGraph.of(np.c_[np.arange(60), (np.arange(60) + 1) % 60]), y), "graph"),
    ],
)
def test_other_models_are_refused_in_a_sentence(tmp_path, fitted, reason):
    X, y = clusters(60)
    with pytest.raises(ValueError, match="cannot be exported to ONNX: .*" + reason) as error:
        fitted(X, y).export_onnx(tmp_path / "m.onnx")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def written(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def predictions(folder, *words):
    program("predict", folder / "m.model", folder / "new.csv", "--scores", *words, "--out", folder / "p.csv")
    with open(folder / "p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = lambda kind: np.array([[float(value) for name, value in row.items() if name.startswith(kind)] for row in rows])
    return [row["prediction"] for row in rows], columns("score"), columns("probability")


@pytest.mark.parametrize("scale", ["auto", "standard", "minmax", "none"])
@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("machine", ["svm --probability", "nu-svm --nu 0.2", "logistic", "ls-svm", "ask-ls --merge stack", "krr"])
def test_scaled_tables_from_the_shell(tmp_path, machine, precision, scale):
    X, y = clusters(80, width=3)
    X = X * [1, 100, 0.01] + ([5, 1e4, 0] if scale != "none" else [0, 0, 0])
    X = X if scale != "none" else X / [1, 100, 0.01]
    header = ["a", "b", "c", "kind"]
    names = np.array(["red", "green", HOSTILE.replace("\n", " ")], dtype=object)
    written(tmp_path / "x.csv", [header, *([*row, names[k]] for row, k in zip(X.tolist(), y))])
    written(tmp_path / "new.csv", [header[:3], *X[:30].tolist()])
    program("fit", *machine.split(), tmp_path / "x.csv", "--kernel", "rbf", "--scale", scale, "--precision", precision, "--penalty" if "nu-" not in machine else "--seed", 1, "--model", tmp_path / "m.model")
    out = json.loads(program("export", tmp_path / "m.model", "--onnx", tmp_path / "m.onnx", "--json"))
    assert out["features"] == 3 and out["precision"] == precision and out["bytes"] == (tmp_path / "m.onnx").stat().st_size
    found = told(tmp_path / "m.onnx", X[:30].astype(np.float32 if precision == "f32" else np.float64))
    assert list(found) == out["outputs"]
    sure = "probabilities" in found
    labels, scores, probabilities = predictions(tmp_path, *(["--probabilities"] if sure else []))
    # A table of single precision has digits enough for the scale, but not for more.
    tolerance = 1e-5 if precision == "f64" else 2e-4
    assert_near(found["scores"], scores, tolerance)
    assert not sure or np.abs(found["probabilities"] - probabilities).max() <= tolerance
    assert np.mean(found["label"] == np.array(labels, dtype=object)) > 0.95


def test_values_from_the_shell(tmp_path):
    X, _ = clusters(80, width=3)
    X = X * [1, 1000, 0.01] + 7
    y = X[:, 0] ** 2
    written(tmp_path / "x.csv", [["a", "b", "c", "y"], *np.c_[X, y].tolist()])
    written(tmp_path / "new.csv", [["a", "b", "c"], *X.tolist()])
    program("fit", "krr", tmp_path / "x.csv", "--target", "y", "--approach", "lla", "--landmarks", 30, "--model", tmp_path / "m.model")
    program("export", tmp_path / "m.model", "--onnx", tmp_path / "m.onnx")
    program("predict", tmp_path / "m.model", tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    with open(tmp_path / "p.csv") as lines:
        expected = [float(row["prediction"]) for row in csv.DictReader(lines)]
    assert_near(told(tmp_path / "m.onnx", X)["values"][:, 0], expected)
