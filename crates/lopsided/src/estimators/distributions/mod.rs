//! Probability distributions as samples: how far one is from another, and the KL kernel between them.
//!
//! The Kullback–Leibler divergence KL(P‖Q) = ∫ p·ln(p/q) (\[AsKLS\] Eq. (13)) is asymmetric, and so is the kernel
//! exp(−a·KL(P‖Q)) of Eq. (14). It has a closed form for histograms (the kernel [`crate::kernel::Kl`]) and for Gaussians
//! ([`Gaussian::kl`]); for mixtures of Gaussians it is estimated from random points, with its standard error ([`kl_matrix`]).
//! A kernel matrix made of it is learned from by [`crate::solvers::linsys::CoupledSystem`] or the `precomputed` kernel.
//!
//! ```
//! use lopsided::estimators::distributions::{MixtureFit, kl_matrix};
//! use lopsided::data::synth;
//! use lopsided::Run;
//!
//! let run = Run::default();
//! let samples = [synth::gaussian::<f64>(200, 2, 1), synth::gaussian::<f64>(200, 2, 2)];
//! let fitted: lopsided::Result<Vec<_>> =
//!     samples.iter().map(|points| Ok(MixtureFit::new(3).fit(points.as_ref(), &run)?.mixture)).collect();
//! let mixtures = fitted?;
//! let divergences = kl_matrix(&mixtures, &mixtures, 500, &run)?;
//! assert_eq!(divergences.values[(0, 0)], 0.0);
//! assert_eq!(divergences.kernel(0.5)[(1, 1)], 1.0);
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! | samples | their distribution | KL divergence |
//! | --- | --- | --- |
//! | counts, shares | a histogram | closed form, the kernel `kl` |
//! | points with a mean and a covariance | [`Gaussian`] | closed form, O(d³) |
//! | points of any shape | [`DiagonalMixture`], found by [`MixtureFit`] | [`kl_matrix`], random points |
//! | images | the mixture of their [`cosine_blocks`] | [`kl_matrix`] |
//!
//! The last line is the pipeline of \[AsKLS\] §4.1: blocks of an image → 64 cosine coefficients each → a
//! mixture per image → divergences between images → an asymmetric kernel.

mod blocks;
mod divergence;
mod em;
mod gaussian;
mod mixture;

pub use blocks::{BLOCK, cosine_blocks};
pub use divergence::{KlMatrix, kl_matrix};
pub use em::{FittedMixture, MixtureFit};
pub use gaussian::Gaussian;
pub use mixture::DiagonalMixture;
