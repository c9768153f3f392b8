#!/usr/bin/env python3
"""One process, shards and a Dask cluster on the same Parquet folder: bytes, time, memory, and what a user would take instead.

    benchsuite/shards.py [--rows 200000] [--landmarks 500] [--files 8] [--out FILE.md]

1. Ridge regression on rows × 20: `fit --stream`, three shards that merge, Dask with 1, 2 and 3 workers, and with a worker killed; the
   bytes of all models are compared, and peak memory of every process and processor time are told.
2. The same for logistic regression, squared-hinge machines, components and features: bytes alone, on a tenth of the rows.
3. Beside ridge regression: scikit-learn's Nystroem with SGDRegressor.partial_fit, by the test error that it has when it has taken as
   long, and when it has taken ten times as long.

With --rows 10000000 --landmarks 2000 the first is the large run: below 1 GB for each process. Needs the Python package with its extra
`dask` (an optimised build: `maturin build --release`), pyarrow and scikit-learn.
"""
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

from common import TARGET, WORK, build, numpy, options

np = numpy()
WIDTH, NOISE, TEST = 20, 0.3, 20_000


def target(x):
    """A smooth function of all columns."""
    return np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * np.tanh(x[:, 3:].sum(1) / 2)


def table(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, WIDTH))
    return x, target(x) + NOISE * rng.standard_normal(rows)


def folder(rows, files, label="value"):
    """Parquet files of all rows, a part of them in memory at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = WORK / f"shards-{rows}-{files}-{label}"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        ends = np.linspace(0, rows, files + 1).astype(int)
        for number, (start, end) in enumerate(zip(ends, ends[1:])):
            x, y = table(end - start, number)
            y = y if label == "value" else np.where(y > 0, "high", "low")
            columns = {f"x{j}": x[:, j] for j in range(WIDTH)} | {label: y}
            pq.write_table(pa.table(columns), unfinished / f"{number:04}.parquet", row_group_size=65536)
        unfinished.rename(path)
    return path


def ran(*words, codes=(0,), threads=2):
    """Seconds, processor seconds and peak MB of a run of the program; it ends this script if it fails."""
    command = [str(word) for word in (TARGET / "lopsided", *words, "--threads", threads, "--quiet")]
    start, peak = time.perf_counter(), 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak = max(peak, peak_of(process.pid))
            time.sleep(0.02)
        message = process.stderr.read()
    if process.returncode not in codes:
        sys.exit(f"{' '.join(command)}\n{message}")
    return time.perf_counter() - start, peak, process.returncode


def peak_of(pid):
    """The most memory that a process has had, in MB; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:")), 0.0)
    except OSError:
        return 0.0


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_program(estimator, path, words, count, model):
    """A fit by so many shards, or by one process with none: seconds, processor seconds, largest peak."""
    start, used, peak = time.perf_counter(), children_seconds(), 0.0
    if count == 0:
        peak = ran("fit", estimator, path, *words, "--stream", "--model", model)[1]
        return time.perf_counter() - start, children_seconds() - used, peak
    state, parts = WORK / "shards.state", [WORK / f"shards-{i}.part" for i in range(1, count + 1)]
    for number in range(200):
        more = ["--state", state] if number else []
        for i, part in enumerate(parts, 1):
            peak = max(peak, ran("part", estimator, path, *words, *more, "--shard", f"{i}/{count}", "--out", part)[1])
        turned = parts[number % count:] + parts[: number % count]
        _, merged, code = ran("merge", *turned, "--model", model, "--state", state, codes=(0, 1))
        peak = max(peak, merged)
        if code == 0:
            break
    return time.perf_counter() - start, children_seconds() - used, peak


def by_dask(machine, path, label, workers, model, kill=False):
    """A fit on a cluster: seconds, processor seconds and largest peak of a worker."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=workers, processes=True, threads_per_worker=1, dashboard_address=":0") as cluster, \
            Client(cluster) as client:
        def cost(dask_worker):
            used = resource.getrusage(resource.RUSAGE_SELF)
            return os.getpid(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

        before = client.run(cost)
        if kill:
            victim = next(iter(before.values()))[0]
            threading.Timer(1.0, os.kill, (victim, signal.SIGKILL)).start()
        start = time.perf_counter()
        found = machine.fit(str(path), label) if label else machine.fit(str(path), "none")
        seconds, after = time.perf_counter() - start, client.run(cost)
    found.save(model)
    used = sum(one[1] for one in after.values()) - sum(before[name][1] for name in after if name in before)
    return seconds, used, max(one[2] for one in after.values())


def beside(path, rows, seconds, landmarks):
    """Test errors of Nystroem and SGDRegressor after about so many seconds, and after ten times as many."""
    import pyarrow.parquet as pq
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDRegressor

    x_test, y_test = table(TEST, 10_000)
    files, found, start = sorted(path.glob("*.parquet")), [], time.perf_counter()
    features = learner = None
    while len(found) < 2:
        for file in files:
            for batch in pq.ParquetFile(file).iter_batches(16384):
                block = np.column_stack([column.to_numpy() for column in batch.columns])
                if features is None:
                    features = Nystroem(gamma=0.02, n_components=landmarks, random_state=0).fit(block[:, :-1])
                    learner = SGDRegressor(random_state=0)
                learner.partial_fit(features.transform(block[:, :-1]), block[:, -1])
                taken = time.perf_counter() - start
                if taken > seconds * (1 if not found else 10):
                    error = np.sqrt(np.mean((learner.predict(features.transform(x_test)) - y_test) ** 2))
                    found.append((taken, error))
                    if len(found) == 2:
                        return found
    return found


def main():
    chosen = options(__doc__, rows=200_000, landmarks=500, files=8)
    build()
    import lopsided
    import lopsided.dask as ld

    path, m = folder(chosen.rows, chosen.files), chosen.landmarks
    words = ["--gamma", 0.02, "--penalty", 10, "--landmarks", m, "--task", "values", "--scale", "none"]
    ridge = lambda: ld.NystromRidge(0.1, gamma=0.02, n_landmarks=m)  # noqa: E731
    lines = [f"Ridge regression on {chosen.rows} × {WIDTH} from Parquet, {m} landmarks.", "",
             "| how | seconds | processor seconds | largest peak of a process, MB | values at test rows |", "| --- | --- | --- | --- | --- |"]
    models, (x_test, y_test) = {}, table(TEST, 10_000)
    runs = [("one process, `fit --stream`", lambda out: by_program("krr", path, words, 0, out)),
            ("3 shards, merged in turns", lambda out: by_program("krr", path, words, 3, out))]
    runs += [(f"Dask, {n} workers", lambda out, n=n: by_dask(ridge(), path, "value", n, out)) for n in (1, 2, 3)]
    runs += [("Dask, 2 workers, one killed", lambda out: by_dask(ridge(), path, "value", 2, out, kill=True))]
    alone = None
    for name, run in runs:
        out = WORK / f"shards-{len(models)}.model"
        seconds, used, peak = run(out)
        alone = alone or seconds
        models[name] = lopsided.NystromRidge.load(out)._model.array("weights").tobytes()
        same = "the same bits" if models[name] == next(iter(models.values())) else "OTHER BITS"
        lines.append(f"| {name} | {seconds:.1f} | {used:.1f} | {peak:.0f} | {same} |")
        print(lines[-1], flush=True)
    error = np.sqrt(np.mean((lopsided.NystromRidge.load(WORK / "shards-0.model").predict(x_test) - y_test) ** 2))
    lines += ["", f"Test error {error:.4f} (noise {NOISE}). scikit-learn's Nystroem with SGDRegressor.partial_fit on the same rows:"]
    lines += [f"- after {taken:.1f} s: {other:.4f}" for taken, other in beside(path, chosen.rows, alone, m)]
    lines += ["", "Other estimators on a tenth of the rows: bits of one process, 3 shards, Dask with 2 workers and with one killed.", ""]
    tenth, few = chosen.rows // 10, max(50, m // 4)
    named = folder(tenth, 3, "kind")
    common = ["--gamma", 0.02, "--landmarks", few, "--piece", 2048]
    others = {
        "logistic": (["--tol", 1e-6, "--scale", "none"], "kind", lambda: ld.NystromLogistic(gamma=0.02, n_landmarks=few, piece=2048)),
        "svm": (["--tol", 1e-5, "--scale", "none"], "kind", lambda: ld.NystromSVC(gamma=0.02, n_landmarks=few, piece=2048)),
        "kpca": (["--rank", 5], "kind", lambda: ld.NystromPCA(5, gamma=0.02, n_landmarks=few, piece=2048)),
        "features": ([], "kind", lambda: ld.NystromFeatures(gamma=0.02, n_landmarks=few, piece=2048)),
    }
    for name, (more, label, machine) in others.items():
        found = []
        for at, run in enumerate((lambda out: by_program(name, named, [*common, *more], 0, out),
                                  lambda out: by_program(name, named, [*common, *more], 3, out),
                                  lambda out: by_dask(machine(), named, label, 2, out),
                                  lambda out: by_dask(machine(), named, label, 2, out, kill=True))):
            out = WORK / f"shards-{name}-{at}.model"
            run(out)
            found.append(lopsided._core.Model.load(out).array("weights").tobytes())
        lines.append(f"- {name}: {'the same bits' if len(set(found)) == 1 else 'OTHER BITS'}")
        print(lines[-1], flush=True)
    text = "\n".join(lines)
    print(text)
    if chosen.out:
        chosen.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
