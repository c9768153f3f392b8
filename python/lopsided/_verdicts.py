"""What is said of predictions that tell nothing: the same sentences as those of `lopsided predict`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._exceptions import warn

#: Fewer predictions than this may be alike by accident.
MANY = 20


def warn_of_one_class(predicted: np.ndarray, classes: np.ndarray) -> None:
    """Says that all predictions are the same class of several."""
    if len(predicted) >= MANY and len(classes) > 1 and (predicted == predicted[0]).all():
        warn(f"all {len(predicted)} predictions are `{predicted[0]}`: the model tells these samples not apart")


def warn_of_wrong_order(positive: np.ndarray, scores: np.ndarray) -> None:
    """Says that the scores of two classes are below chance."""
    if len(positive) < MANY or positive.all() or not positive.any():
        return
    area = auroc(positive, scores)
    if area < 0.5:
        warn(f"AUROC {area:.3f} is below chance: the scores put the classes in the wrong order")


def warn_of_mean(y: Any, explained: float) -> None:
    """Says that the mean of the values would predict them better."""
    if len(y) >= MANY and explained < 0:
        warn(f"R² is {explained:.2f}: the mean of the values alone predicts them better")


def auroc(positive: np.ndarray, scores: np.ndarray) -> float:
    """The share of pairs of both classes that are in the right order; equal scores count half."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    own = int(positive.sum())
    return float((ranks[positive].sum() - own * (own + 1) / 2) / (own * (len(positive) - own)))
