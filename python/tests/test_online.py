"""Online learners: the same learner in pieces, in files and by hand."""
import json
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from common import PROGRAM, program
from sklearn.model_selection import cross_val_score

from lopsided import OnlineKernelPCA, OnlinePairRegressor

RNG = np.random.default_rng(2)
X, Z = RNG.standard_normal((200, 3)), RNG.standard_normal((200, 2))
Y = X[:, 0] * Z[:, 1] + 0.1 * RNG.standard_normal(200)
LEARNERS = [
    OnlinePairRegressor(radius=2.0, step=0.1),
    OnlinePairRegressor("gd-frobenius", kernel="rbf", right_kernel="poly", loss="absolute", steps="fixed", step=0.05),
    OnlinePairRegressor("gd-spectral", kernel="rbf", gamma=0.2, normalize=True, horizon=200, budget=30),
]
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def in_pieces(learner, pieces=7):
    for x, y, z in zip(*(np.array_split(part, pieces) for part in (X, Y, Z))):
        learner.partial_fit(x, y, Z=z)
    return learner


@pytest.mark.parametrize("learner", LEARNERS)
def test_pieces_pickles_and_files_are_the_same_learner_bit_for_bit(tmp_path, learner):
    whole = type(learner)(**learner.get_params()).fit(X, Y, Z=Z)
    part = in_pieces(type(learner)(**learner.get_params()), 2)
    part.save(tmp_path / "checkpoint")
    others = [part, pickle.loads(pickle.dumps(part)), OnlinePairRegressor.load(tmp_path / "checkpoint")]
    for again in others:
        assert again.n_trials_ == again.n_iter_ == 200
        assert np.array_equal(again.losses_, whole.losses_)
    for again in (whole, *others):
        again.partial_fit(X[:20], Y[:20], Z=Z[:20])
    for again in others:
        assert np.array_equal(again.predict(X, Z=Z), whole.predict(X, Z=Z))
    if learner.kernel == "linear":  # the search for the best matrix takes its time with other kernels
        assert part.regret() == whole.regret() == others[1].regret()


def test_gradient_descent_is_what_it_says():
    radius, step = 1.0, 0.1
    learner = OnlinePairRegressor("gd-frobenius", radius=radius, steps="fixed", step=step).fit(X, Y, Z=Z)
    W, losses = np.zeros((3, 2)), []
    for x, z, y in zip(X, Z, Y):
        error = x @ W @ z - y
        losses.append(error**2)
        W -= step * 2 * error * np.outer(x, z)
        W /= max(1.0, np.linalg.norm(W) / radius)
    assert np.allclose(learner.losses_, losses) and np.isclose(learner.cumulative_loss_, np.sum(losses))
    assert np.allclose(learner.predict(X, Z=Z), np.einsum("ni,ij,nj->n", X, W, Z))


def test_regret_is_below_its_bound_and_grows_slowly():
    learner = OnlinePairRegressor(radius=1.0, horizon=200, normalize=True).fit(X, Y, Z=Z)
    curve = learner.regret(curve=True)
    assert [point["trials"] for point in curve] == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 200]
    last, whole = ({k: v for k, v in point.items() if v is not None} for point in (curve[-1], learner.regret()))
    assert last == pytest.approx(whole, rel=1e-6, abs=1e-9)  # the search starts elsewhere
    assert set(curve[-1]) == {"trials", "loss", "comparator", "gap", "regret", "bound", "bound_note"}
    assert all(point["bound_note"] is None for point in curve)
    assert all(point["regret"] <= point["bound"] for point in curve)
    assert curve[-1]["loss"] == learner.cumulative_loss_


def test_regret_needs_the_trials(tmp_path):
    learner = OnlinePairRegressor(keep_trials=100).fit(X, Y, Z=Z)
    with pytest.raises(ValueError, match="`keep_trials` is 100"):
        learner.regret()
    assert OnlinePairRegressor(keep_trials=200).fit(X, Y, Z=Z).regret()["trials"] == 200


def test_trials_are_kept_even_if_their_memory_is_used_again():
    buffer, expected = np.empty((50, 3)), OnlinePairRegressor(step=0.1).fit(X, Y, Z=Z).regret()
    learner = OnlinePairRegressor(step=0.1)
    for start in range(0, 200, 50):
        buffer[:] = X[start : start + 50]
        learner.partial_fit(buffer, Y[start : start + 50], Z=Z[start : start + 50])
    assert learner.regret() == expected


def test_sparse_samples_learn_the_same():
    dense, sparse = OnlinePairRegressor(step=0.1), OnlinePairRegressor(step=0.1)
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    dense.fit(thin, Y, Z=Z)
    sparse.fit(scipy.sparse.csr_array(thin), Y, Z=scipy.sparse.csr_array(Z))
    assert np.allclose(sparse.predict(thin, Z=Z), dense.predict(thin, Z=Z))
    assert np.isclose(sparse.regret()["comparator"], dense.regret()["comparator"], rtol=1e-4, atol=1e-8)


def test_single_samples_are_paired_with_themselves():
    y = X[:, 0] ** 2
    both = OnlinePairRegressor(step=0.05).fit(X, y, Z=X).predict(X, Z=X)
    assert np.allclose(OnlinePairRegressor(step=0.05).fit(X, y).predict(X), both)
    assert np.isfinite(cross_val_score(OnlinePairRegressor("gd-symmetric", step=0.05, radius=2.0), X, y)).all()


def test_components_capture_what_varies():
    x = RNG.standard_normal((300, 6)) * [3, 2, 0.1, 0.1, 0.1, 0.1]
    learner = OnlineKernelPCA(2, kernel="linear", steps="fixed", step=1.0)
    for part in np.array_split(x, 5):
        learner.partial_fit(part)
    assert np.array_equal(learner.transform(x), OnlineKernelPCA(**learner.get_params()).fit_transform(x))
    # Both caps are taken: what is captured is the length of the projection.
    assert np.allclose((learner.transform(x) ** 2).sum(axis=1), learner.score_samples(x), atol=1e-6)
    usual, novel = learner.score_samples([[1.0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]])
    assert usual > 0.99 and novel < 0.01 and learner.score(x) > 0.95
    assert learner.get_feature_names_out().tolist() == ["onlinekernelpca0", "onlinekernelpca1"]
    again = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(again.transform(x), learner.transform(x)) and again.regret() == learner.regret()


def test_components_of_a_kernel_are_orthonormal_functions():
    """Coordinates along all directions have the scalar products of the samples in feature space."""
    x = X[:30]
    learner = OnlineKernelPCA(30, gamma=0.5, steps="fixed", step=1.0).fit(x)
    places = learner.transform(x)
    distances = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    assert np.allclose(places @ places.T, np.exp(-0.5 * distances), atol=1e-6)


@needs_program
def test_checkpoints_of_the_program_go_on_here(tmp_path):
    columns = [*(f"x{i}" for i in range(3)), *(f"y{i}" for i in range(2)), "label"]
    table = np.column_stack([X, Z, Y])
    np.savetxt(tmp_path / "pairs.csv", table, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    program(
        "online", "gd-trace", tmp_path / "pairs.csv", "--radius", 2, "--step", 0.1, "--checkpoint", tmp_path / "theirs",
        "--out", tmp_path / "out.csv", "--quiet",
    )
    theirs = OnlinePairRegressor.load(tmp_path / "theirs")
    ours = OnlinePairRegressor(radius=2.0, step=0.1).fit(X, Y, Z=Z)
    assert theirs.n_trials_ == 200 and np.isnan(theirs.losses_).all()
    assert np.array_equal(theirs.predict(X, Z=Z), ours.predict(X, Z=Z))
    assert theirs.report_ == ours.report_
    ours.save(tmp_path / "ours")
    assert json.loads(program("inspect", tmp_path / "ours", "--json"))


@pytest.mark.parametrize(
    "learner, sentence",
    [
        (OnlinePairRegressor("gd-trce"), "no learner `gd-trce` (did you mean `gd-trace`?)"),
        (OnlinePairRegressor(radius=-1), "`radius` is -1 but must be a number above 0"),
        (OnlinePairRegressor(kernel="sne"), "`kernel` is sne but must be a scalar product of features"),
        (OnlinePairRegressor(loss="hinge"), "`label` is "),
        (OnlinePairRegressor("eg-plus"), "instance is a pair but must be symmetric"),
        (OnlinePairRegressor(steps="tuned"), "`horizon` is missing"),
    ],
)
def test_mistakes_are_told(learner, sentence):
    with pytest.raises(ValueError) as error:
        learner.fit(X, Y, Z=Z)
    assert str(error.value).startswith(sentence)


def test_pairs_stay_pairs(tmp_path):
    learner = OnlinePairRegressor().fit(X, Y, Z=Z)
    with pytest.raises(ValueError, match="Z must be given"):
        learner.predict(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: Z has 199"):
        learner.partial_fit(X, Y, Z=Z[1:])
    with pytest.raises(ValueError, match="`n_components` is 0"):
        OnlineKernelPCA(0).fit(X)
    learner.save(tmp_path / "pairs")
    with pytest.raises(ValueError, match="checkpoint of the learner `gd-trace`"):
        OnlineKernelPCA.load(tmp_path / "pairs")


INTERRUPTED = """
import numpy as np, os, signal, threading, time
from lopsided import OnlineKernelPCA
x = np.random.default_rng(0).standard_normal((20_000, 20))
learner = OnlineKernelPCA(3, gamma=0.05, keep_trials=30_000)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    learner.fit(x)
except KeyboardInterrupt:
    assert time.perf_counter() - start < 2.0
    assert 0 < learner.n_trials_ < 20_000 and len(learner.losses_) == learner.n_trials_
    assert sum(len(y) for _, _, y in learner._trials) == learner.n_trials_
    print("stopped")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="signals are sent by os.kill")
def test_an_interrupt_stops_learning_and_keeps_what_was_learned():
    result = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60)
    assert result.stdout == "stopped\n", result.stderr
