"""Claims: chance for random labels, cross-validation as an explicit loop, exit codes, warnings."""
import numpy as np
import pytest
from common import clusters, links, quietly, run, told, with_spectrum, write_column, write_links, write_table
from references import kernels, triplets
from scipy.optimize import linprog

from lopsided import AsKLSClassifier, NystromSVC

ESTIMATORS = {
    "kernel-svd": ("penalty=1",), "ls-svm": ("penalty=1",), "svm": ("penalty=1",), "nu-svm": ("nu=0.2",), "logistic": ("penalty=1",),
    "krr": ("penalty=1",), "ask-ls": ("penalty=1", "merge=stack"), "ask-ls average": ("penalty=1", "merge=average"),
    "ask-ls source": ("penalty=1", "merge=source"), "ask-ls target": ("penalty=1", "merge=target"),
}


@pytest.mark.quick
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_random_labels_give_chance(check, rng, tmp_path, estimator):
    """One setting, so that nothing is chosen: the mean of many trials is 1/classes, within five deviations."""
    n, classes, trials = 30, 5, 12
    for kind in ("table", "graph"):
        if kind == "graph" and estimator in ("krr",):
            continue
        scores = []
        for trial in range(trials):
            y = rng.permutation(np.arange(n) % classes)
            name = estimator.split()[0]
            if kind == "table":
                write_table(tmp_path / "x.csv", rng.standard_normal((n, 3)), [f"c{v}" for v in y])
                words = [tmp_path / "x.csv", "--target", "label"]
            else:
                write_links(tmp_path / "x.csv", links(rng, n, 4 * n))
                write_column(tmp_path / "y.csv", range(n), [f"c{v}" for v in y])
                words = [tmp_path / "x.csv", "--labels", tmp_path / "y.csv"]
            code, found, errors = run("fit", name, *words, "--cv", 5, "--grid", *ESTIMATORS[estimator], "--seed", trial,
                                      "--model", tmp_path / "m", "--json", "--quiet")
            refused = name == "nu-svm" and code == 2  # no margin
            check.that(f"{estimator} of a {kind}: exit code {code}, {errors[:150]}", code in (0, 1) or refused)
            if found is not None:
                scores.append(found["cv"]["mean"])
        if not scores:
            continue
        # Folds of six samples from thirty: what is held out is rarer in the rest, so the score may be below chance.
        check(f"{estimator} of a {kind}: above chance by", np.mean(scores) - 1 / classes,
              5 * np.sqrt(0.2 * 0.8 / (n * len(scores))))


LOOPS = [("kernel-svd", "values", ("--rank", 2)), ("ask-ls", "values", ("--merge", "stack")), ("ask-ls", "values", ("--merge", "average")),
         ("krr", "values", ("--approach", "exact")), ("krr", "values", ("--approach", "lla", "--landmarks", 14)), ("ask-ls", "classes", ("--merge", "stack")),
         ("ls-svm", "classes", ()), ("svm", "classes", ()), ("nu-svm", "classes", ()), ("logistic", "classes", ())]


@pytest.mark.quick
@pytest.mark.parametrize("estimator, task, options", LOOPS)
def test_validation_is_an_explicit_loop(check, rng, tmp_path, estimator, task, options):
    """As many folds as samples: each is predicted by a machine that was fitted to the others, rules of gamma included."""
    n = 15
    x, y = clusters(rng, n, 3, 3)
    target = [f"c{v}" for v in y] if task == "classes" else y + rng.standard_normal(n)
    write_table(tmp_path / "x.csv", x, target)
    tried = ("nu", 0.2) if estimator == "nu-svm" else ("penalty", 0.7)
    words = ["--target", "label", "--task", task, "--kernel", "rbf", "--gamma", "median", *options]
    found = told("fit", estimator, tmp_path / "x.csv", *words, "--cv", n, "--grid", f"{tried[0]}={tried[1]}", "--model", tmp_path / "m")
    scores = []
    for i in range(n):
        (tmp_path / "train").write_text("".join(f"{j}\n" for j in range(n) if j != i))
        (tmp_path / "test").write_text(f"{i}\n")
        told("fit", estimator, tmp_path / "x.csv", *words, f"--{tried[0]}", tried[1], "--train-ids", tmp_path / "train", "--model", tmp_path / "m")
        score = told("predict", tmp_path / "m", tmp_path / "x.csv", "--target", "label", "--ids", tmp_path / "test")
        scores.append(score["micro_f1" if task == "classes" else "rmse"])
    check(f"{estimator} {' '.join(map(str, options))}, {task}: mean of the loop", abs(found["cv"]["mean"] - np.mean(scores)), 1e-9)


@pytest.mark.quick
def test_exit_codes(check, rng, tmp_path):
    """1 if and only if `converged` is false, and what it says is true."""
    n = 320
    g = with_spectrum(rng, n, n, np.sort(rng.uniform(0.9, 1, n))[::-1])
    np.save(tmp_path / "g.npy", g)
    x, y = clusters(rng, 60, 3, 2)
    write_table(tmp_path / "x.csv", x, [f"c{v}" for v in y])
    seen = set()
    for words in (
        ["embed", tmp_path / "g.npy", "--kernel", "precomputed", "--rank", 5, "--solver", "randomized"],
        ["embed", tmp_path / "g.npy", "--kernel", "precomputed", "--rank", 5, "--solver", "nystrom", "--rows-sample", 20, "--cols-sample", 20],
        ["embed", tmp_path / "g.npy", "--kernel", "precomputed", "--rank", 5, "--solver", "symmetric-nystrom"],
        ["embed", tmp_path / "g.npy", "--kernel", "precomputed", "--rank", 5, "--solver", "exact"],
        ["bicluster", tmp_path / "g.npy", "--kernel", "precomputed", "--row-clusters", 2, "--rank", 3, "--solver", "randomized"],
        ["fit", "kernel-svd", tmp_path / "x.csv", "--target", "label", "--rank", 2, "--model", tmp_path / "m"],
        ["fit", "ask-ls", tmp_path / "x.csv", "--target", "label", "--model", tmp_path / "m"],
        ["fit", "ask-ls", tmp_path / "x.csv", "--target", "label", "--penalty", 1000, "--kernel", "rbf", "--route", "minres", "--model", tmp_path / "m"],
        ["fit", "svm", tmp_path / "x.csv", "--target", "label", "--model", tmp_path / "m"],
        ["fit", "svm", tmp_path / "x.csv", "--target", "label", "--kernel", "linear", "--penalty", 1e9, "--tol", 1e-14, "--model", tmp_path / "m"],
    ):
        outs = [tmp_path / "u.npy", tmp_path / "v.npy"]
        words = words + (["--rows-out", outs[0], "--cols-out", outs[1]] if words[0] == "embed" else [])
        code, found, errors = run(*words, "--json", "--quiet")
        label = " ".join(str(word) for word in words if "/" not in str(word))
        check.that(f"{label}: exit code {code} and converged {found and found['converged']}; {errors[:100]}",
                   found is not None and code == (0 if found["converged"] else 1))
        seen.add(code)
        if words[0] == "embed":
            u, v, s = np.load(outs[0]), np.load(outs[1]), np.array(found["singular_values"])
            own = (triplets.residuals(g, u, s, v) / s).max()
            check.that(f"{label}: the residual {found['residual']:.1e} is {own:.1e} by its own σ", own <= 2 * found["residual"] + 1e-13)
            check.that(f"{label}: converged only below the tolerance", not found["converged"] or own <= 1.01e-6)
    check.that("some converged and some did not", seen == {0, 1})


@pytest.mark.quick
def test_what_is_asked_of_nu(check, rng):
    x = rng.standard_normal((60, 2))
    y = (np.arange(60) < 6).astype(int)  # at most 2·6/60 = 0.2
    try:
        quietly(NystromSVC(nu=0.5, gamma=0.3, approach="exact").fit, x, y)
        check.that("nu above its bound is refused", False)
    except ValueError as error:
        text = str(error).lower()
        check.that(f"says that nu must be smaller: {error}", "at most" in text or "below" in text or "<=" in text or "≤" in text)
    for trial in range(6):
        x, y, nu = rng.standard_normal((40, 2)), np.arange(40) % 2, rng.uniform(0.05, 0.6)
        label = f"random labels, linear kernel, nu {nu:.2f}"
        try:
            model = quietly(NystromSVC(nu=nu, kernel="linear", approach="exact").fit, x, y)
        except ValueError as error:
            check.that(f"{label}: does not ask for a smaller nu, which has no margin either: {error}", "smaller" not in str(error))
            continue
        # Decision values are divided by ρ; where the best w is 0 there is nothing to divide.
        check.that(f"{label}: a machine without margin is not called converged without a word",
                   not no_margin(x, y, nu) or not model.report_["converged"] or model.report_["warnings"])


def no_margin(x, y, nu):
    """Whether weights 0 ≤ α ≤ 1/n with Σα = ν, Σα y = 0 and Σ α y x = 0 exist: then the best margin is 0."""
    signs = np.where(y == 1, 1.0, -1.0)
    equal = np.vstack([np.ones(len(y)), signs, (signs[:, None] * x).T])
    return linprog(np.zeros(len(y)), A_eq=equal, b_eq=[nu, 0.0] + [0.0] * x.shape[1], bounds=(0, 1 / len(y))).status == 0


@pytest.mark.quick
def test_indefinite_systems_are_named(check, rng):
    """penalty·σ₁ > 1: the accuracy collapses long before the system is singular."""
    x, y = clusters(rng, 120, 3, 2)
    k = kernels.kernel("rbf", x, x, gamma=0.3)
    kc = kernels.centred(k)
    penalty = 20 / np.linalg.norm(kc, 2)
    model = quietly(AsKLSClassifier(penalty, kernel="rbf", gamma=0.3, merge="average").fit, x, y)
    said = " ".join(model.report_["warnings"])
    check.that(f"penalty·σ₁ = 20 is said to be indefinite: {said}", "indefinite" in said or "1/σ" in said or "definite" in said)
    small = quietly(AsKLSClassifier(0.5 / np.linalg.norm(kc, 2), kernel="rbf", gamma=0.3, merge="average").fit, x, y)
    check.that("nothing is said below 1/σ₁", not small.report_["warnings"])


def test_probabilities_hold(check, rng):
    """Of the samples that get a class with a small probability no more have it, within five deviations."""
    centres = 1.2 * rng.standard_normal((2, 4))
    y, new_y = rng.integers(2, size=300), rng.integers(2, size=4000)
    x, new = centres[y] + rng.standard_normal((300, 4)), centres[new_y] + rng.standard_normal((4000, 4))
    for kernel in ("sne", "rbf"):
        model = quietly(AsKLSClassifier(kernel=kernel).fit, x, y)
        p = model.predict_proba(new)[:, 1]
        for low, high in ((0.0, 0.15), (0.85, 1.0)):
            inside = (p >= low) & (p <= high)
            if inside.sum() >= 50:
                predicted, seen = p[inside].mean(), new_y[inside].mean()
                # The model is estimated from 300 samples: 0.08 besides the noise of counting.
                check(f"{kernel}: predicted {predicted:.2f}, seen {seen:.2f} of {inside.sum()}", abs(predicted - seen),
                      0.08 + 5 * np.sqrt(0.25 / inside.sum()))


@pytest.mark.quick
def test_predictions_in_json(check, rng, tmp_path):
    x, y = clusters(rng, 40, 3, 2)
    write_table(tmp_path / "x.csv", x, [f"c{v}" for v in y])
    told("fit", "logistic", tmp_path / "x.csv", "--target", "label", "--model", tmp_path / "m")
    found = told("predict", tmp_path / "m", tmp_path / "x.csv", "--target", "label", "--scores", "--probabilities")
    text = str({**found, "scored": None})
    check.that(f"the JSON has scores: {sorted(found)}", "score" in text.replace("scored", "") or "decision" in text)
    check.that(f"the JSON has probabilities: {sorted(found)}", "probabilit" in text)


@pytest.mark.quick
def test_labels_as_an_array(check, rng, tmp_path):
    x, y = clusters(rng, 40, 3, 2)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    code, found, errors = run("fit", "svm", tmp_path / "x.npy", "--labels", tmp_path / "y.npy", "--model", tmp_path / "m", "--json", "--quiet")
    check.that(f"--labels y.npy: exit code {code}, {errors[:150]}", code == 0)


@pytest.mark.quick
def test_columns_that_overflow_are_named(check, rng, tmp_path):
    """A new column next to a row that is far from all known columns: its SNE value is beyond any number."""
    x, z = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
    x[0] += 1000
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "z.npy", z)
    np.save(tmp_path / "new.npy", x[:1] + 0.01)
    told("embed", tmp_path / "x.npy", "--cols", tmp_path / "z.npy", "--kernel", "sne", "--gamma", 1, "--rank", 3, "--model", tmp_path / "m")
    code, _, errors = run("transform", tmp_path / "m", "--cols", tmp_path / "new.npy", "--out", tmp_path / "o.npy")
    placed = np.load(tmp_path / "o.npy") if (tmp_path / "o.npy").exists() else None
    check.that(f"exit code {code}: {errors[:150]}", code != 0 or np.isfinite(placed).all() or "finite" in errors or "overflow" in errors)
