"""Learning with asymmetric kernels: two-sided embeddings of directed graphs, matrices and sample sets."""
from __future__ import annotations

from ._ask_ls import AsKLSClassifier, AsKLSRegressor, LSSVMClassifier
from ._bicluster import KernelBiclustering
from ._checkpoint import checkpoint
from ._compare import Comparison, compare
from ._core import VERSION as __version__
from ._core import registry as _registry
from ._graph import GraphEmbedding
from ._graphs import DirectedGraph
from ._kernel_svd import KernelSVD
from ._kernel_svd_machines import KernelSVDClassifier, KernelSVDRegressor
from ._links import LinkPredictor, hold_out_links
from ._matrix import KernelMatrix
from ._nystrom import KernelRidge, NystromRidge
from ._nystrom_classes import NystromLogistic, NystromSVC
from ._nystrom_features import KernelPCA, NystromFeatures, NystromPCA
from ._online import OnlinePairRegressor
from ._online_pca import OnlineKernelPCA

__all__ = [
    "AsKLSClassifier",
    "AsKLSRegressor",
    "Comparison",
    "DirectedGraph",
    "GraphEmbedding",
    "KernelBiclustering",
    "KernelMatrix",
    "KernelPCA",
    "KernelRidge",
    "KernelSVD",
    "KernelSVDClassifier",
    "KernelSVDRegressor",
    "LSSVMClassifier",
    "LinkPredictor",
    "NystromFeatures",
    "NystromLogistic",
    "NystromPCA",
    "NystromRidge",
    "NystromSVC",
    "OnlineKernelPCA",
    "OnlinePairRegressor",
    "__version__",
    "checkpoint",
    "compare",
    "hold_out_links",
    "kernels",
    "learners",
    "samplers",
    "solvers",
]


def kernels() -> dict[str, str]:
    """Kernels by name, each with its formula."""
    return {name: about for name, about, _ in _registry("kernels")}


def solvers() -> dict[str, str]:
    """SVD solvers by name, each with its method."""
    return {name: about for name, about, _ in _registry("solvers")}


def samplers() -> dict[str, str]:
    """Samplers of landmarks by name, each with its method."""
    return {name: about for name, about, _ in _registry("samplers")}


def learners() -> dict[str, str]:
    """Online learners by name, each with its update."""
    return {name: about for name, about, _ in _registry("learners")}
