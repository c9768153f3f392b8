"""Singular triplets: the decomposition, and what a claim of convergence means."""
import numpy as np


def svd(g, rank=None):
    """U, σ, V with the entry of largest magnitude of each column of U positive."""
    u, s, vt = np.linalg.svd(g, full_matrices=False)
    rank = len(s) if rank is None else rank
    u, s, v = u[:, :rank], s[:rank], vt[:rank].T
    flips = np.sign(u[np.abs(u).argmax(axis=0), np.arange(rank)])
    return u * flips, s, v * flips


def residuals(g, u, s, v):
    """max(‖Gv − σu‖, ‖Gᵀu − σv‖) of every triplet, not divided by anything."""
    rows = np.linalg.norm(g @ v - u * s, axis=0)
    cols = np.linalg.norm(g.T @ u - v * s, axis=0)
    return np.maximum(rows, cols)


def not_orthonormal(u):
    return np.abs(u.T @ u - np.eye(u.shape[1])).max() if u.shape[1] else 0.0


def largest_sine(a, b):
    """Sine of the largest angle between the spans of two matrices with orthonormal columns."""
    return np.linalg.norm(b - a @ (a.T @ b), 2)


def subspaces(s, all_values, least_gap):
    """Ends k of leading parts whose gap σ_k − σ_{k+1} is at least that share of σ_k."""
    following = np.append(all_values, 0.0)
    return [k for k in range(1, len(s) + 1) if all_values[k - 1] - following[k] >= least_gap * all_values[k - 1]]
