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
    let rule = GraphRule { links: Links::In, self_loops: !plain, normalize: !plain };
    Nature { symmetric: false, bandwidth: None, precomputed: false, graph: Some(rule) }
}

impl KernelSpec {
    /// True for kernels of the nodes of a graph.
    pub fn of_graph(&self) -> bool {
        self.nature().graph.is_some()
    }

    /// The error about a kernel of graphs where samples are not nodes of the graph it was made from.
    ///
    /// # Errors
    /// [`Error::Param`] for a kernel of graphs.
    pub fn refuse_graph_kernel(&self, allowed: &str) -> Result<()> {
        if self.of_graph() { Err(Error::param("kernel", &self.name, allowed)) } else { Ok(()) }
    }

    /// How a graph becomes a matrix for this kernel unless the user says otherwise.
    pub fn graph_rule(&self) -> GraphRule {
        self.nature().graph.unwrap_or_default()
    }
}

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
