"""Arrays, frames, tensors: what is accepted, and what is not copied."""
import os
import signal
import subprocess
import sys
import time
from textwrap import dedent

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import clusters
from lopsided import AsKLSClassifier, KernelSVD, LSSVMClassifier

X, y = clusters(50)
NAMES = ["a", "b", "c", "d"]


class Tensor:
    """Something that has DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class DeviceTensor(Tensor):
    """The same on a device that NumPy cannot reach."""

    def __dlpack__(self, **kwargs):
        raise BufferError("not on the host")

    def cpu(self):
        return self.array


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES), pa.table(dict(zip(NAMES, X.T))), X.tolist(),
        np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], Tensor(X), DeviceTensor(X), X.astype(object),
    ],
    ids=["pandas", "polars", "pyarrow", "list", "columns", "reversed", "strided", "dlpack", "device", "object"],
)
def test_every_container_gives_the_same(given):
    expected = KernelSVD(3).fit_transform(X)
    np.testing.assert_allclose(KernelSVD(3).fit_transform(given), expected, atol=1e-10)


@pytest.mark.parametrize("frame", [pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES), pa.table(dict(zip(NAMES, X.T)))])
def test_names_of_features_are_kept(frame):
    model = KernelSVD(3).fit(frame)
    assert list(model.feature_names_in_) == NAMES
    assert list(model.get_feature_names_out()) == ["kernelsvd0", "kernelsvd1", "kernelsvd2"]


def test_frames_come_out_where_they_are_wanted():
    model = KernelSVD(3).set_output(transform="pandas")
    out = model.fit_transform(pd.DataFrame(X, index=range(100, 150)))
    assert list(out.columns) == list(model.get_feature_names_out()) and list(out.index) == list(range(100, 150))


def test_pipelines_searches_and_cross_validation_work():
    pipe = make_pipeline(StandardScaler(), KernelSVD(5, kernel="rbf"), LSSVMClassifier())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.6
    search = GridSearchCV(AsKLSClassifier(), {"penalty": [0.1, 10], "merge": ["average", "source"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6


def run(code, **kwargs):
    return subprocess.Popen([sys.executable, "-c", dedent(code)], stdout=subprocess.PIPE, text=True, **kwargs)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read from /proc")
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_not_copied(order):
    code = f"""
        import numpy as np
        from lopsided import KernelSVD

        def peak():
            return next(int(l.split()[1]) // 1024 for l in open("/proc/self/status") if l.startswith("VmHWM"))

        X = np.empty((250_000, 100), order="{order}")
        np.random.default_rng(0).standard_normal(out=X.T if "{order}" == "F" else X)
        Z = X[:10].copy()
        KernelSVD(2, kernel="rbf").fit(Z)
        before = peak()
        model = KernelSVD(2, kernel="rbf", gamma=0.01, solver="randomized").fit(X, Z=Z)
        assert model.transform(X).shape == (250_000, 2)
        print(peak() - before)
    """
    out, _ = run(code).communicate(timeout=120)
    assert int(out) < 100, f"{out} MB more than the array of 200 MB"


def test_control_c_stops_a_fit_within_a_second_and_leaves_a_usable_interpreter():
    code = """
        import numpy as np, time
        from lopsided import KernelSVD
        X = np.random.default_rng(0).standard_normal((30_000, 20))
        print("ready", flush=True)
        try:
            KernelSVD(40, kernel="rbf", gamma=3.0, tol=1e-12, solver="lanczos").fit(X)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        start = time.time()
        KernelSVD(2).fit(X[:100])
        print("usable", flush=True)
    """
    process = run(code)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - start < 1.0
    assert process.stdout.readline() == "usable\n"
    process.kill()


def test_the_interpreter_lock_is_free_during_a_fit():
    from threading import Thread

    data = np.random.default_rng(0).standard_normal((4000, 10))
    worker = Thread(target=lambda: KernelSVD(10, kernel="rbf", tol=1e-10).fit(data))
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 10


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_can_fit():
    KernelSVD(2).fit(X)
    child = os.fork()
    if child == 0:
        KernelSVD(2).fit(X)
        os._exit(7)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 7
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")


def test_callbacks_of_scikit_learn_hear_of_the_fit():
    callback = pytest.importorskip("sklearn.callback")
    heard = []

    class Ear:
        def setup(self, estimator, context): heard.append("setup")
        def teardown(self, estimator, context): heard.append("teardown")
        def on_fit_task_begin(self, estimator, context, **kwargs): heard.append("begin")
        def on_fit_task_end(self, estimator, context, **kwargs): heard.append("end")

    assert isinstance(Ear(), callback.FitCallback)
    KernelSVD(2).set_callbacks(Ear()).fit(X)
    assert heard[0] == "setup" and heard[-1] == "teardown" and heard.count("begin") == heard.count("end") >= 1


def test_verbose_tells_on_stderr(capsys):
    data = np.random.default_rng(0).standard_normal((4000, 10))
    KernelSVD(10, kernel="rbf", tol=1e-10, verbose=1).fit(data)
    assert "[KernelSVD]" in capsys.readouterr().err
