#!/usr/bin/env python3
"""One attack of trust.py on the Python package: threads, fork, spawn, loky, interrupts or memory."""
import os
import pickle
import resource
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import lopsided
import numpy as np

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def fitted(seed=0):
    return lopsided.LSSVMClassifier(kernel="rbf", gamma=0.5, penalty=1.0).fit(X, Y)


def scores(model):
    return model.decision_function(X).tobytes()


def work(_):
    """Fits, predicts, pickles and saves, as a worker of a pool does."""
    model = fitted()
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "m"))
    return scores(pickle.loads(pickle.dumps(model)))


def threads():
    model, expected = fitted(), scores(fitted())
    with ThreadPoolExecutor(64) as pool:
        assert all(found == expected for found in pool.map(lambda _: scores(model), range(256)))
        assert all(found == expected for found in pool.map(work, range(64)))


def processes(way):
    import multiprocessing

    expected = work(0)
    with multiprocessing.get_context(way).Pool(4) as pool:
        assert all(found == expected for found in pool.map(work, range(16)))


def loky():
    from joblib import Parallel, delayed

    expected = work(0)
    assert all(found == expected for found in Parallel(n_jobs=4, backend="loky")(delayed(work)(i) for i in range(16)))


def interrupts():
    big = RNG.normal(size=(6000, 20))
    fits = [lambda: lopsided.KernelSVD(5, kernel="rbf", gamma=0.05, solver="exact").fit(big, Z=big),
            lambda: lopsided.KernelRidge(kernel="rbf", gamma=0.05).fit(big, big[:, 0]),
            lambda: lopsided.NystromRidge(n_landmarks=3000).fit(big, big[:, 0])]
    for fit in fits:
        for delay in (0.05, 0.4, 1.5):
            begun = [0.0]

            def stop(begun=begun, delay=delay):
                time.sleep(delay)
                begun[0] = time.monotonic()
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=stop)
            thread.start()
            try:
                fit()
                thread.join()
                time.sleep(0.2)
            except KeyboardInterrupt:
                assert time.monotonic() - begun[0] < 1.0, f"{time.monotonic() - begun[0]:.2f} s"
            try:
                thread.join()
            except KeyboardInterrupt:
                pass


def memory():
    limit = 3 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    big = RNG.normal(size=(30000, 5))
    for fit in (lambda: lopsided.KernelSVD(5, kernel="rbf", gamma=1.0, solver="exact").fit(big, Z=big),
                lambda: lopsided.NystromRidge(n_landmarks=25000).fit(big, big[:, 0]), lambda: lopsided.KernelRidge().fit(big, big[:, 0])):
        try:
            fit()
        except (MemoryError, ValueError) as refusal:
            assert "bug" not in str(refusal), refusal


if __name__ == "__main__":
    ways = {"threads": threads, "loky": loky, "interrupts": interrupts, "memory": memory}
    ways.get(sys.argv[1], lambda: processes(sys.argv[1]))()
