//! Kernels of the nodes of a graph, which are functions of its whole matrix.
//!
//! They share the list and the settings of all other kernels, but have no values between two samples:
//! [`crate::operator::KernelMatrix`] asks [`Kernel::graph`] and builds an operator from the matrix of the graph.

use super::{Kernel, KernelSpec, Listed, Nature};
use crate::base::error::{Error, Result};
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::Setting;
use crate::data::graph::{GraphRule, Links};
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// A kernel of the nodes of a graph: G is a function of the whole matrix P of the graph, not of two samples.
///
/// Transductive: G holds the nodes of the graph it was made from and says nothing about others.
///
/// | kernel | G | matrix by default | G\[i, j\] is large when |
/// | --- | --- | --- | --- |
/// | `katz` | Σ_{k ≥ 1} (βA)^k | A, the links as they are | many short ways lead from j to i |
/// | `ppr` | (1 − α)·(I − αP)⁻¹ | P = D⁻¹(A + I) | a walk from i over the rows of P often ends at j |
/// | `shortest-path` | exp(−decay·d_ij) | P = D⁻¹(A + I) | few links lie between them; 0 without a way |
///
/// A way of two links, a → b → c, with rows that hold what arrives ([`Links::In`]) and Katz' default of 0.5:
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::KernelMatrix;
/// use lopsided::{Graph, Mat, Samples};
///
/// let graph = Graph::new(["a", "b", "c"].map(String::from).to_vec(), &[(0, 1, 1.0), (1, 2, 1.0)])?;
/// let spec = KernelSpec::new("katz");
/// let (links, _) = graph.matrix::<f64>(&spec.graph_rule())?;
/// let (links, kernel) = (Samples::Sparse(links), spec.build::<f64>()?);
/// let built = KernelMatrix::new(&*kernel, links.as_ref(), links.as_ref()).build()?;
/// let mut g = Mat::<f64>::zeros(3, 3);
/// built.operator.block(&[0, 1, 2], &[0, 1, 2], g.as_mut())?;
/// // One link weighs 0.5, the way from a to c 0.5².
/// assert_eq!(g, faer::mat![[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.25, 0.5, 0.0]]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GraphKernel {
    /// [`crate::operator::Katz`] proximity.
    Katz {
        /// β·ρ(P), between 0 and 1; β itself where ρ(P) = 0.
        beta: f64,
    },
    /// [`crate::operator::PageRank`].
    PageRank {
        /// Probability that the walk goes on.
        alpha: f64,
    },
    /// [`crate::operator::ShortestPaths`].
    ShortestPath {
        /// Loss of similarity with each link.
        decay: f64,
    },
}

impl GraphKernel {
    /// Products with P that one product with G takes; 1 where G is stored.
    ///
    /// A series whose terms shrink by the rate ρ is summed until they vanish in rounding: ln(2⁻⁵²)/ln ρ terms.
    ///
    /// ```
    /// use lopsided::kernel::GraphKernel;
    ///
    /// assert!((GraphKernel::Katz { beta: 0.5 }.terms() - 52.0).abs() < 1e-9);
    /// assert_eq!(GraphKernel::PageRank { alpha: 0.85 }.terms().round(), 222.0);
    /// assert_eq!(GraphKernel::ShortestPath { decay: 1.0 }.terms(), 1.0);
    /// ```
    pub fn terms(&self) -> f64 {
        match *self {
            // Only a graph without cycles has a rate of 1 or more, and then few terms.
            GraphKernel::Katz { beta: rate } if rate >= 1.0 => 1.0,
            GraphKernel::Katz { beta: rate } | GraphKernel::PageRank { alpha: rate } => f64::EPSILON.ln() / rate.ln(),
            GraphKernel::ShortestPath { .. } => 1.0,
        }
    }
}

impl<T: Scalar> Kernel<T> for GraphKernel {
    fn block(&self, _: SamplesRef<'_, T>, _: SamplesRef<'_, T>, _: MatMut<'_, T>) -> Result<()> {
        Err(Error::param("kernel", "one of a graph's nodes", "a function of two samples to be evaluated on samples"))
    }

    fn is_precomputed(&self) -> bool {
        true
    }

    fn graph(&self) -> Option<GraphKernel> {
        Some(*self)
    }
}

/// A kernel of nodes; `plain` takes the links as they are, without loops and without dividing rows by their sums.
const fn nature(plain: bool) -> Nature {
    let rule = GraphRule { links: Links::In, self_loops: !plain, normalize: !plain, unit: false, walk: 1 };
    Nature { graph: Some(rule), ..Nature::PLAIN }
}

impl KernelSpec {
    /// True for kernels of the nodes of a graph: `katz`, `ppr` and `shortest-path`.
    pub fn of_graph(&self) -> bool {
        self.nature().graph.is_some()
    }

    /// The error about a kernel of graphs where samples are not nodes of the graph it was made from; `allowed` says
    /// what would do instead.
    ///
    /// ```
    /// use lopsided::kernel::KernelSpec;
    ///
    /// assert!(KernelSpec::new("rbf").refuse_graph_kernel("a kernel of samples").is_ok());
    /// let refused = KernelSpec::new("ppr").refuse_graph_kernel("a kernel of samples").unwrap_err();
    /// assert_eq!(refused.to_string(), "`kernel` is ppr but must be a kernel of samples");
    /// ```
    ///
    /// # Errors
    /// [`Error::Param`] for a kernel of graphs.
    pub fn refuse_graph_kernel(&self, allowed: &str) -> Result<()> {
        if self.of_graph() { Err(Error::param("kernel", &self.name, allowed)) } else { Ok(()) }
    }

    /// How a graph becomes a matrix for this kernel unless the user says otherwise: A for `katz`, P = D⁻¹(A + I) for
    /// all others.
    ///
    /// ```
    /// use lopsided::GraphRule;
    /// use lopsided::kernel::KernelSpec;
    ///
    /// let katz = KernelSpec::new("katz").graph_rule();
    /// assert!(!katz.self_loops && !katz.normalize);
    /// assert_eq!(KernelSpec::new("sne").graph_rule(), GraphRule::default());
    /// ```
    pub fn graph_rule(&self) -> GraphRule {
        self.nature().graph.unwrap_or_default()
    }
}

/// The three kernels with their settings, in the order of every listing.
pub(super) fn entries<T: Scalar>() -> [Listed<T>; 3] {
    // Katz proximity counts ways, so it takes the links as they are.
    [
        (
            Entry {
                name: "katz",
                about: "G = Σ_k≥1 (βA)^k of a graph's matrix A, by default its links; --beta is β·(spectral radius of A), 0.5; β itself without cycles",
                settings: const {
                    &[Setting::new(
                        "beta",
                        "weight of each further link of a way, relative to the largest possible, 1 / spectral radius; the weight itself for a graph without cycles",
                        "a number above 0, below 1 for a graph with cycles",
                        "0.5",
                    )]
                },
                build: |params| Ok(Box::new(GraphKernel::Katz { beta: params.positive("beta", Some(0.5))? })),
            },
            nature(true),
        ),
        (
            Entry {
                name: "ppr",
                about: "G = (1 - alpha) (I - alpha P)⁻¹ of a graph's matrix P: personalised PageRank; alpha 0.85",
                settings: const {
                    &[Setting::new("alpha", "probability that the walk goes on", "above 0 and below 1", "0.85")]
                },
                build: |params| Ok(Box::new(GraphKernel::PageRank { alpha: params.share("alpha", 0.85)? })),
            },
            nature(false),
        ),
        (
            Entry {
                name: "shortest-path",
                about: "G[i, j] = exp(-decay d) for d links on the shortest way between nodes of a graph, 0 without; decay 1",
                settings: const {
                    &[Setting::new("decay", "loss with each link, exp(-decay·links)", "a number above 0", "1")]
                },
                build: |params| Ok(Box::new(GraphKernel::ShortestPath { decay: params.positive("decay", Some(1.0))? })),
            },
            nature(false),
        ),
    ]
}
