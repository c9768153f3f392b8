"""Pictures of fitted estimators, in the way of scikit-learn's displays; matplotlib must be installed."""
from __future__ import annotations

from ._displays import RegretDisplay, SpectrumDisplay
from ._displays_two_sided import BiclusterDisplay, EmbeddingDisplay

__all__ = ["BiclusterDisplay", "EmbeddingDisplay", "RegretDisplay", "SpectrumDisplay"]
