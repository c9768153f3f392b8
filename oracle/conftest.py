"""Fresh seeds, an account of all comparisons, and the table at the end."""
import os
import zlib

# Before NumPy is loaded: the matrices are small, and threads that wait for each other cost more than they give.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

ACCOUNT = pytest.StashKey()
SEED = pytest.StashKey()


class Account:
    """Comparisons of all tests by family."""

    def __init__(self):
        self.families = {}

    def add(self, family, what, deviation, allowed):
        entries = self.families.setdefault(family, [])
        entries.append((deviation / allowed if allowed > 0 else (0.0 if deviation == 0 else np.inf), deviation, allowed, what))

    def lines(self):
        yield f"{'family':<12}{'comparisons':>12}{'failures':>10}{'deviation':>12}{'allowed':>10}  closest to, or farthest beyond, what is allowed"
        for family, entries in sorted(self.families.items()):
            failures = sum(not entry[0] <= 1 for entry in entries)
            worst = max(entries, key=lambda entry: np.inf if np.isnan(entry[0]) else entry[0])
            yield f"{family:<12}{len(entries):>12}{failures:>10}{worst[1]:>12.2e}{worst[2]:>10.1e}  {worst[3]}"


class Check:
    """Compares without stopping at the first difference; the test fails at its end if there was any."""

    def __init__(self, account, family):
        self.account, self.family, self.failures = account, family, []

    def __call__(self, what, deviation, allowed):
        """A number that may be at most so large; NaN is too large."""
        deviation = float(deviation)
        self.account.add(self.family, what, deviation, float(allowed))
        if not deviation <= allowed:
            self.failures.append(f"{what}: deviation {deviation:.3e}, allowed {allowed:.1e}")

    def near(self, what, got, want, allowed, scale=None):
        """Largest difference of two arrays relative to the largest entry of the reference, or to `scale`."""
        got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
        if got.shape != want.shape:
            self.that(f"{what}: shape {got.shape} instead of {want.shape}", False)
            return
        if got.size == 0:
            return
        scale = np.abs(want).max() if scale is None else scale
        self(what, np.abs(got - want).max() / (scale if scale > 0 else 1.0), allowed)

    def that(self, what, condition):
        """A statement."""
        self(what, 0.0 if condition else np.inf, 1.0)


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=None, help="repeats the random problems of an earlier run")


def pytest_configure(config):
    config.addinivalue_line("markers", "quick: also part of `make test`")
    chosen = config.getoption("--seed")
    config.stash[SEED] = int.from_bytes(os.urandom(4), "little") if chosen is None else chosen
    config.stash[ACCOUNT] = Account()


def pytest_report_header(config):
    return f"seed {config.stash[SEED]}, repeated by make oracle SEED={config.stash[SEED]}"


@pytest.fixture
def rng(request):
    """Random numbers of this test alone, so that it can be repeated without the others."""
    return np.random.default_rng([request.config.stash[SEED], zlib.crc32(request.node.name.encode())])


@pytest.fixture
def check(request):
    family = request.path.stem.removeprefix("test_")
    request.node.checks = Check(request.config.stash[ACCOUNT], family)
    return request.node.checks


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    result = yield
    failures = getattr(pyfuncitem, "checks", None) and pyfuncitem.checks.failures
    if failures:
        shown = "\n".join(failures[:12]) + (f"\nand {len(failures) - 12} more" if len(failures) > 12 else "")
        pytest.fail(shown, pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter, config):
    account = config.stash[ACCOUNT]
    if account.families:
        terminalreporter.section(f"comparisons, seed {config.stash[SEED]}")
        for line in account.lines():
            terminalreporter.write_line(line)
