"""Threads, forks, files of others: nothing stands still, nothing is half written, no size is believed."""
import json
import multiprocessing
import os
import pickle
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from common import clusters

import lopsided
from lopsided import KernelSVD, NystromRidge, NystromSVC, OnlineKernelPCA

PATIENCE = 120


def all_at_once(work, count=8):
    """Runs `work(k)` on as many threads; fails on one that does not come back."""
    failures = []

    def guarded(k):
        try:
            work(k)
        except BaseException as failure:  # noqa: BLE001
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(k,), daemon=True) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "threads stand still"
    assert not failures, failures


def test_one_learner_serves_many_threads():
    rng = np.random.default_rng(0)
    x, new = rng.standard_normal((60, 4)), rng.standard_normal((3000, 4))
    learner = OnlineKernelPCA(3, gamma=0.5, steps="fixed", step=1.0).fit(x)
    expected = learner.transform(new)

    def work(_):
        for _ in range(4):
            assert np.array_equal(learner.transform(new), expected)
            pickle.dumps(learner)

    all_at_once(work)


def forked(work):
    """The exit code of a forked child that does `work`."""
    child = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    child.start()
    child.join(PATIENCE)
    if child.is_alive():
        child.kill()
        pytest.fail("the child stands still")
    return child.exitcode


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_saves_loads_and_fits(tmp_path):
    x, y = clusters(300)
    models = [NystromSVC(n_landmarks=20).fit(x, y), KernelSVD(3).fit(x[:, :3] @ x[:, :3].T)]
    models.append(OnlineKernelPCA(2, gamma=0.5).fit(x))
    for model in models:
        model.save(tmp_path / "parent")
        pickle.dumps(model)

    def child():
        for model in models:
            assert pickle.dumps(pickle.loads(pickle.dumps(model)))
            model.save(tmp_path / "child")
            type(model).load(tmp_path / "child")
        assert (models[0].predict(x) == y).mean() > 0.5
        NystromSVC(n_landmarks=20).fit(x, y)

    assert forked(child) == 0


def test_threads_that_save_to_one_path_leave_a_whole_model(tmp_path):
    x, y = clusters(400)
    models = [NystromRidge(n_landmarks=10 + 40 * k).fit(x, y.astype(float)) for k in range(4)]
    path = tmp_path / "model"
    models[0].save(path)

    def work(k):
        for _ in range(15):
            models[k % 4].save(path)
            NystromRidge.load(path)

    all_at_once(work)
    assert os.listdir(tmp_path) == ["model"]


def changed(path, out, change):
    """A model file with other metadata."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    meta = json.loads(header["__metadata__"]["lopsided"])
    change(meta)
    header["__metadata__"]["lopsided"] = json.dumps(meta)
    text = json.dumps(header).encode()
    out.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


def loaded_elsewhere(name, path):
    """How an interpreter of its own ends that loads a file; an abort would take this one along."""
    code = f"import sys, lopsided\ntry:\n    lopsided.{name}.load(sys.argv[1])\nexcept (ValueError, MemoryError) as e:\n    print(e)"
    return subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)


def test_trials_of_a_checkpoint_are_not_believed(tmp_path):
    OnlineKernelPCA(2, gamma=0.5).fit(np.eye(5)).save(tmp_path / "good")

    def many(meta):
        meta["account"]["trials"] = 10**15

    try:
        changed(tmp_path / "good", tmp_path / "bad", many)
    except KeyError:
        pytest.fail("the checkpoint has no account")
    result = loaded_elsewhere("OnlineKernelPCA", tmp_path / "bad")
    assert result.returncode == 0, result.stderr
    assert "8.0 PB" in result.stdout or "8000.0 TB" in result.stdout, result.stdout


def test_widths_of_a_model_are_not_believed(tmp_path):
    import scipy.sparse

    KernelSVD(2, kernel="rbf", gamma=0.1).fit(scipy.sparse.random(30, 30, 0.2, "csr", random_state=0)).save(tmp_path / "good")
    for width in (4 * 10**9, 10**15, 2**63):
        changed(tmp_path / "good", tmp_path / "bad", lambda meta: meta.update({"x.width": width}))
        result = loaded_elsewhere("KernelSVD", tmp_path / "bad")
        assert result.returncode == 0 and result.stdout, (width, result.stderr)


FIT = """
import sys, numpy as np, lopsided
X = np.random.default_rng(0).normal(size=(300, 4))
y = X[:, 0] + np.sin(3 * X[:, 1]) > 0.2
with lopsided.checkpoint("state", resume=True, every=0):
    model = lopsided.LSSVMClassifier(kernel="rbf").fit(X, y)
    model.save(sys.argv[1])
"""


def test_a_killed_fit_goes_on_to_the_same_bytes(tmp_path):
    def start(name):
        return subprocess.Popen([sys.executable, "-c", FIT, name], cwd=tmp_path)

    assert start("whole").wait() == 0 and not (tmp_path / "state").exists()
    child = start("cut")
    while child.poll() is None and not (tmp_path / "state").exists():
        time.sleep(0.001)
    child.kill()
    child.wait()
    assert start("cut").wait() == 0
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["cut", "whole"]


def test_the_checkpoint_of_other_work_is_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    path = tmp_path / "state"

    class Stop(Exception):
        pass

    with pytest.raises(Stop):
        with lopsided.checkpoint(path, every=0):
            lopsided.LSSVMClassifier(kernel="rbf").fit(X, X[:, 0] > 0)
            raise Stop
    kept = path.read_bytes()
    with pytest.raises(ValueError, match="checkpoint of other work: the data are others"):
        with lopsided.checkpoint(path, resume=True):
            lopsided.LSSVMClassifier(kernel="rbf").fit(X, X[:, 1] > 0)
    path.write_bytes(kept[:-1])
    with pytest.raises(ValueError, match="damaged checkpoint"):
        with lopsided.checkpoint(path, resume=True):
            pass
    path.write_bytes(kept)
    with lopsided.checkpoint(path, resume=True):
        with pytest.raises(OSError, match="written by another run"):
            with lopsided.checkpoint(path):
                pass
        lopsided.LSSVMClassifier(kernel="rbf").fit(X, X[:, 0] > 0)
    assert os.listdir(tmp_path) == []
