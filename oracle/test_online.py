"""Online learners against explicit matrices: every prediction, every loss, regret and bound."""
import numpy as np
import pytest
from common import quietly, run, told
from references import kernels
from references import online as ref

from lopsided import OnlineKernelPCA, OnlinePairRegressor
from lopsided import learners as listed

LOSSES = ("squared", "absolute", "logistic", "hinge", "gain")
BALLS = ("trace", "spectral", "frobenius")


def test_every_learner_has_a_reference(check):
    check.that(f"learners are {sorted(listed())}", set(listed()) == {
        "gd-trace", "gd-spectral", "gd-frobenius", "gd-symmetric", "meg", "eg-plus", "online-kpca", "p-norm"})


def labels_for(rng, loss, values):
    return np.where(values > 0, 1.0, -1.0) if loss in ("logistic", "hinge") else values + 0.1 * rng.standard_normal(len(values))


def pairs(rng, trials, left="rbf", right="linear"):
    """Pairs, their instances as explicit matrices, and values that a matrix predicts."""
    x, z = rng.standard_normal((trials, 3)), rng.standard_normal((trials, 4))
    phi = ref.features(kernels.kernel(left, x, x, gamma=0.4))
    psi = ref.features(kernels.kernel(right, z, z, gamma=0.3))
    return x, z, [np.outer(a, b) for a, b in zip(phi, psi)], np.sin(x[:, 0]) * z[:, 1]


@pytest.mark.quick
@pytest.mark.parametrize("ball", BALLS)
def test_gradient_descent_of_pairs(check, rng, ball):
    for loss in LOSSES:
        left, right = rng.choice(["linear", "rbf"]), rng.choice(["linear", "rbf"])
        x, z, matrices, values = pairs(rng, 45, left, right)
        y = labels_for(rng, loss, values)
        radius, steps = rng.uniform(0.3, 3), (rng.choice(["fixed", "decreasing"]), rng.uniform(0.05, 0.5))
        predictions, w = ref.gradient_descent(matrices, y, ball, radius, loss, steps)
        gammas = {"gamma": 0.4 if left == "rbf" else None, "right_gamma": 0.3 if right == "rbf" else None}
        model = OnlinePairRegressor(f"gd-{ball}", loss=loss, radius=radius, kernel=left, right_kernel=right,
                                    steps=steps[0], step=steps[1], **gammas)
        model = quietly(model.fit, x, y, Z=z)
        label = f"gd-{ball}, {loss}, {steps[0]}, {left} and {right}"
        losses = np.array([ref.loss(loss, p, v) for p, v in zip(predictions, y)])
        check.near(f"{label}: losses", model.losses_, losses, 1e-7)
        check.near(f"{label}: predictions at the end", model.predict(x, Z=z), [(w * m).sum() for m in matrices], 1e-7)
        if loss == "gain":
            total = sum(matrices)
            found = model.regret()
            check(f"{label}: comparator", abs(-found["comparator"] / ref.best_gain(total, ball, radius) - 1), 1e-7)
            check(f"{label}: regret", abs(found["regret"] - (losses.sum() - found["comparator"])), 1e-7 * abs(losses).sum())
        if steps[0] == "fixed":
            found = model.regret()
            check(f"{label}: regret within its bound", found["regret"], found["bound"])


@pytest.mark.quick
def test_regret_of_the_squared_loss(check, rng):
    for ball in ("trace", "frobenius", "spectral"):
        x, z, matrices, values = pairs(rng, 30, "linear", "linear")
        radius, step = 1.5, 0.05
        model = quietly(OnlinePairRegressor(f"gd-{ball}", radius=radius, steps="fixed", step=step).fit, x, values, Z=z)
        found = model.regret()
        best = ref.best_squared_loss(matrices, values, ball, radius)
        check(f"{ball}: comparator", abs(found["comparator"] - best), found["gap"] + 1e-6 * best)
        predictions, _ = ref.gradient_descent(matrices, values, ball, radius, "squared", ("fixed", step))
        slopes = 2 * (predictions - values)
        if ball != "spectral":
            wanted = ref.bound_of_gradient_descent(radius, step, slopes, [np.linalg.norm(m) for m in matrices])
            check(f"{ball}: bound", abs(found["bound"] / wanted - 1), 1e-9)
        check(f"{ball}: regret within its bound", found["regret"], found["bound"])


@pytest.mark.quick
def test_tuned_steps(check, rng):
    """η = R/(G√T), and ln(1 + √(2 ln(r/k)/L*)) for exponentiated gradients."""
    trials, radius = 40, 1.3
    x, z, matrices, values = pairs(rng, trials, "linear", "linear")
    for ball in ("trace", "frobenius"):
        step = radius / (ref.largest_slope("squared", radius) * np.sqrt(trials))
        predictions, _ = ref.gradient_descent(matrices, values, ball, radius, "squared", ("fixed", step))
        model = quietly(OnlinePairRegressor(f"gd-{ball}", radius=radius, horizon=trials).fit, x, values, Z=z)
        check.near(f"gd-{ball}, tuned", model.losses_, (predictions - values) ** 2, 1e-7)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    step = np.log(1 + np.sqrt(2 * np.log(7) / 11))
    predictions, _ = ref.exponentiated_gradients(unit, np.zeros(trials), "gain", ("fixed", step))
    model = OnlinePairRegressor("eg-plus", horizon=trials, expected_loss=11.0, expected_rank=7)
    model = quietly(model.fit, unit, np.zeros(trials))
    check.near("eg-plus, tuned", -model.losses_, predictions, 1e-8)


def unit_vectors(rng, trials, kernel):
    """Samples and their features of unit length."""
    x = rng.standard_normal((trials, 4)) * np.array([2.0, 1.0, 0.5, 0.2])
    phi = ref.features(kernels.kernel(kernel, x, x, gamma=0.3))
    return x, phi / np.linalg.norm(phi, axis=1, keepdims=True)


@pytest.mark.quick
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("learner", ["eg-plus", "meg"])
def test_exponentiated_gradients(check, rng, learner, kernel):
    for loss in LOSSES:
        x, phi = unit_vectors(rng, 35, kernel)
        y = labels_for(rng, loss, np.abs(np.sin(x[:, 0])))
        steps = (rng.choice(["fixed", "decreasing"]), rng.uniform(0.1, 2))
        dimension = phi.shape[1] + (0 if kernel == "linear" else int(rng.integers(0, 20)))
        padded = np.hstack([phi, np.zeros((len(phi), dimension - phi.shape[1]))])
        predictions, w = ref.exponentiated_gradients(padded, y, loss, steps, whole=learner == "meg")
        settings = {"dimension": dimension} if learner == "meg" else {}
        model = OnlinePairRegressor(learner, loss=loss, kernel=kernel, gamma=0.3 if kernel == "rbf" else None, normalize=True,
                                    steps=steps[0], step=steps[1], **settings)
        model = quietly(model.fit, x, y)
        label = f"{learner}, {kernel}, {loss}, {steps[0]}"
        losses = np.array([ref.loss(loss, p, v) for p, v in zip(predictions, y)])
        check.near(f"{label}: losses", model.losses_, losses, 1e-6)
        check.near(f"{label}: predictions at the end", model.predict(x), np.einsum("ti,ij,tj->t", padded, w, padded), 1e-6)
        if loss == "gain":
            found = model.regret()
            check(f"{label}: comparator", abs(-found["comparator"] / ref.best_gain(phi.T @ phi, "density") - 1), 1e-8)
            if found["bound"] is not None:
                check(f"{label}: regret within its bound", found["regret"], found["bound"])


@pytest.mark.quick
def test_large_exponents(check, rng):
    """Exponents of thousands: only differences matter."""
    x, phi = unit_vectors(rng, 40, "linear")
    predictions, _ = ref.exponentiated_gradients(phi, np.zeros(40), "gain", ("fixed", 300.0))
    model = quietly(OnlinePairRegressor("eg-plus", normalize=True, steps="fixed", step=300.0).fit, x, np.zeros(40))
    check.near("eg-plus with steps of 300", -model.losses_, predictions, 1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_online_principal_components(check, rng, kernel):
    for k in (1, 2, 3):
        x, phi = unit_vectors(rng, 40, kernel)
        step = rng.uniform(0.2, 2)
        dimension = phi.shape[1]
        for whole in (True, False):
            predictions, _ = ref.exponentiated_gradients(phi, np.zeros(40), "gain", ("fixed", step), k, whole)
            model = OnlineKernelPCA(k, kernel=kernel, gamma=0.3 if kernel == "rbf" else None, steps="fixed", step=step,
                                    dimension=dimension if whole else None)
            model = quietly(model.fit, x)
            label = f"online-kpca, {kernel}, {k} components, dimension {'known' if whole else 'unknown'}"
            # Without a dimension the first trials have fewer directions than components, and what W is then is open.
            first = 0 if whole else k
            check.near(f"{label}: gains", -model.losses_[first:], predictions[first:], 1e-6)
            found = model.regret()
            check(f"{label}: comparator", abs(-found["comparator"] / ref.best_gain(phi.T @ phi, "density", k=k) - 1), 1e-8)
            if found["bound"] is not None:
                check(f"{label}: regret within its bound", found["regret"], found["bound"])


@pytest.mark.quick
def test_symmetric_gradient_descent(check, rng):
    for loss in ("gain", "squared", "hinge"):
        x, phi = unit_vectors(rng, 40, "rbf")
        y = labels_for(rng, loss, np.abs(np.sin(x[:, 0])))
        radius, step = rng.uniform(0.5, 2), rng.uniform(0.1, 0.5)
        matrices = [np.outer(v, v) for v in phi]
        predictions, _ = ref.gradient_descent(matrices, y, "symmetric", radius, loss, ("fixed", step))
        model = OnlinePairRegressor("gd-symmetric", loss=loss, radius=radius, kernel="rbf", gamma=0.3, normalize=True,
                                    steps="fixed", step=step)
        model = quietly(model.fit, x, y)
        losses = np.array([ref.loss(loss, p, v) for p, v in zip(predictions, y)])
        check.near(f"gd-symmetric, {loss}: losses", model.losses_, losses, 1e-7)


@pytest.mark.quick
@pytest.mark.parametrize("power", [2.0, 4.0, 9.0])
def test_perceptron(check, rng, power):
    x, z, matrices, values = pairs(rng, 60)
    y = np.where(values > 0, 1.0, -1.0)
    predictions, w = ref.perceptron(matrices, y, power)
    model = OnlinePairRegressor("p-norm", power=power, kernel="rbf", gamma=0.4, right_kernel="linear")
    model = quietly(model.fit, x, y, Z=z)
    check.near(f"p-norm {power}: mistakes", model.losses_, (y * predictions <= 0).astype(float), 0.0)
    check.near(f"p-norm {power}: predictions", model.predict(x, Z=z), [(w * m).sum() for m in matrices], 1e-6)


@pytest.mark.quick
def test_rotations(check, rng):
    """[KMU] Corollary 2.7: predictions do not change when the instances are rotated."""
    x, z, _, values = pairs(rng, 40)
    u, v = np.linalg.qr(rng.standard_normal((3, 3)))[0], np.linalg.qr(rng.standard_normal((4, 4)))[0]
    for learner in ("gd-trace", "gd-spectral", "gd-frobenius", "p-norm"):
        y = np.sign(values) if learner == "p-norm" else values
        one = quietly(OnlinePairRegressor(learner, step=0.1).fit, x, y, Z=z)
        other = quietly(OnlinePairRegressor(learner, step=0.1).fit, x @ u, y, Z=z @ v)
        check.near(f"{learner}: predictions after a rotation", other.predict(x @ u, Z=z @ v), one.predict(x, Z=z), 1e-8)


@pytest.mark.quick
def test_instances_of_higher_rank_in_the_program(check, rng, tmp_path):
    trials, radius, step = 25, 1.2, 0.2
    x, z, w = rng.standard_normal((trials, 2, 3)), rng.standard_normal((trials, 2, 4)), rng.uniform(0.2, 1, (trials, 2))
    matrices = [sum(w[t, a] * np.outer(x[t, a], z[t, a]) for a in range(2)) for t in range(trials)]
    y = rng.standard_normal(trials)
    with (tmp_path / "s.csv").open("w") as out:
        out.write("trial,x0,x1,x2,y0,y1,y2,y3,weight,label\n")
        for t in range(trials):
            for a in range(2):
                out.write(",".join(map(repr, map(float, [t, *x[t, a], *z[t, a], w[t, a], y[t]]))) + "\n")
    for ball in BALLS:
        found = told("online", f"gd-{ball}", tmp_path / "s.csv", "--radius", radius, "--steps", "fixed", "--step", step, "--out", tmp_path / "p.csv")
        predictions, _ = ref.gradient_descent(matrices, y, ball, radius, "squared", ("fixed", step))
        table = np.loadtxt(tmp_path / "p.csv", delimiter=",", skiprows=1)
        check.near(f"gd-{ball}, rank 2: predictions", table[:, 1], predictions, 1e-8)
        check(f"gd-{ball}, rank 2: cumulative loss", abs(found["cumulative_loss"] / ((predictions - y) ** 2).sum() - 1), 1e-9)
        check.that(f"gd-{ball}, rank 2: {trials} trials", found["trials"] == trials)


def test_why_there_is_no_bound(check, rng, tmp_path):
    """Where no theorem applies the program says why, and how to get a bound."""
    x = rng.standard_normal((30, 3))
    rows = ["x0,x1,x2", *(",".join(map(repr, map(float, row))) for row in x)]
    (tmp_path / "s.csv").write_text("\n".join(rows) + "\n")
    code, found, errors = run("online", "eg-plus", tmp_path / "s.csv", "--normalize", "--json")
    check.that(f"exit code {code}", code == 0)
    if found["bound"] is None:
        talk = errors + " ".join(str(value) for value in found.values())
        check.that("says how to get a bound", "--horizon" in talk)
