"""Where products are computed: the words, what they refuse, and that small problems stay on the processor."""
import numpy as np
import pytest

from lopsided import KernelPCA, KernelSVD

X = np.random.default_rng(0).standard_normal((60, 3))


@pytest.mark.parametrize("estimator", [KernelSVD, KernelPCA])
def test_small_problems_stay_on_the_processor_bit_for_bit(estimator):
    fitted = [estimator(3, kernel="rbf", gamma=0.2, device=device).fit_transform(X) for device in (None, "auto", "cpu")]
    assert all(np.array_equal(fitted[0], other) for other in fitted[1:])


def test_a_device_that_is_not_there_is_one_sentence():
    with pytest.raises(ValueError, match="the device cuda:99 cannot be used|the device cuda cannot be used"):
        KernelSVD(3, kernel="rbf", device="cuda:99").fit(X)
    with pytest.raises(ValueError, match="auto, cpu, cuda, or cuda:K"):
        KernelSVD(3, kernel="rbf", device="gpu").fit(X)


def test_precision_is_a_word():
    assert KernelSVD(3, kernel="rbf", precision="f32").fit(X).row_vectors_.dtype == np.float32
    assert KernelSVD(3, kernel="rbf", precision="fast").fit(X).row_vectors_.dtype == np.float32
    assert KernelSVD(3, kernel="rbf", precision="f64").fit(X.astype(np.float32)).row_vectors_.dtype == np.float64
    with pytest.raises(ValueError, match="must be 'f64', 'f32' or 'fast'"):
        KernelSVD(3, kernel="rbf", precision="half").fit(X)


def test_plans_say_where():
    plan = KernelSVD(3, kernel="rbf", device="cpu").plan(X)
    assert plan["device"] == "cpu" and plan["why"]["device"] == "asked for"
