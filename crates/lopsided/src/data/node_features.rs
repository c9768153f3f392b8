//! Features of nodes beside their links: one sample of both.
//!
//! A node with the link row p and the features f becomes x = [√(1−w)·p/‖p‖, √w·f/‖f‖], on both sides: x_i has the row and z_j the
//! column of the graph's matrix. So the scalar product of two nodes is the weighted sum of those of their links and of their
//! features, and their squared distance the weighted sum of both squared distances: the linear kernel of the samples is the
//! *sum* of both kernels, the RBF kernel their *product*. w = 0 is links alone, w = 1 features alone.
//!
//! Features of which at most half are 0 are measurements of different units, and are brought to mean 0 and deviation 1 over the nodes of the
//! graph; others are counts or words, and stay as they are, and sparse.

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::dataset::{Dataset, unit_rows};
use crate::data::graph::GraphFrame;
use crate::data::samples::{Csr, Samples, SamplesRef};
use std::collections::HashMap;

/// The share of features beside links unless something is known about it.
pub const USUAL_WEIGHT: f64 = 0.5;

/// Features by node: row i belongs to the node `ids[i]`.
#[derive(Clone, Debug)]
pub struct NodeFeatures<T> {
    /// Names of nodes.
    pub ids: Vec<String>,
    /// A row for each.
    pub samples: Samples<T>,
}

/// The features that a model's samples have beside links.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FeatureBlock {
    /// Number of features.
    pub width: usize,
    /// w, the share of features in the square of a sample's length.
    pub weight: f64,
    /// What is taken off each feature; empty for features that stay as they are.
    pub offset: Vec<f64>,
    /// What each is then multiplied with.
    pub factor: Vec<f64>,
}

impl<T: Scalar> NodeFeatures<T> {
    /// Features of these nodes.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is a name for each row, [`Error::Param`] for a node that has two rows,
    /// [`Error::NotFinite`] for a value that is not finite.
    pub fn new(ids: Vec<String>, samples: Samples<T>) -> Result<Self> {
        if ids.len() != samples.count() {
            return Err(Error::shape("the number of rows of features", ids.len(), samples.count()));
        }
        samples.check_finite("features")?;
        let features = NodeFeatures { ids, samples };
        let places = features.places();
        match features.ids.iter().enumerate().find(|(i, id)| places[id.as_str()] != *i) {
            Some((_, id)) => Err(Error::param("features", format!("given twice for the node `{id}`"), "given once")),
            None => Ok(features),
        }
    }

    /// Where the rows of nodes are.
    fn places(&self) -> HashMap<&str, usize> {
        self.ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect()
    }

    /// The rows of these nodes.
    fn rows_of(&self, ids: &[String]) -> Result<Samples<T>> {
        let places = self.places();
        let missing: Vec<&String> = ids.iter().filter(|id| !places.contains_key(id.as_str())).collect();
        if let Some(first) = missing.first() {
            let value = format!("missing for {} of {} nodes, `{first}` the first", missing.len(), ids.len());
            return Err(Error::param("features", value, "given for every node"));
        }
        Ok(self.samples.as_ref().select(&ids.iter().map(|id| places[id.as_str()]).collect::<Vec<_>>()))
    }
}

impl FeatureBlock {
    /// Whether what a file says of it makes sense.
    pub(crate) fn is_consistent(&self) -> bool {
        let scales = [&self.offset, &self.factor];
        check(self.weight).is_ok()
            && (scales.iter().all(|s| s.is_empty()) || scales.iter().all(|s| s.len() == self.width))
    }

    /// The block of these features of all nodes.
    fn of<T: Scalar>(features: SamplesRef<'_, T>, weight: f64) -> Result<Self> {
        check(weight)?;
        let (n, width) = (features.count(), features.width());
        let mut present = 0;
        let (mut sums, mut squares) = (vec![0.0; width], vec![0.0; width]);
        for i in 0..n {
            features.for_each(i, |j, v| {
                let v = v.as_f64();
                present += usize::from(v != 0.0);
                sums[j] += v;
            });
        }
        if 2 * present < n * width {
            return Ok(FeatureBlock { width, weight, offset: Vec::new(), factor: Vec::new() });
        }
        let offset: Vec<f64> = sums.iter().map(|sum| sum / n as f64).collect();
        let dense = features.to_dense();
        for (j, column) in dense.col_iter().enumerate() {
            squares[j] = column.iter().map(|v| (v.as_f64() - offset[j]).powi(2)).sum::<f64>() / n as f64;
        }
        // What rounding leaves of a constant feature is no deviation.
        let varies = |j: usize| squares[j].sqrt() > 16.0 * f64::EPSILON * offset[j].abs();
        let factor = (0..width).map(|j| if varies(j) { squares[j].sqrt().recip() } else { 0.0 }).collect();
        Ok(FeatureBlock { width, weight, offset, factor })
    }

    /// Features as they stand in samples, but for their weight: scaled, of unit length, sparse.
    fn prepared<T: Scalar>(&self, features: SamplesRef<'_, T>) -> Result<Csr<T>> {
        if features.width() != self.width {
            return Err(Error::shape("the number of features", self.width, features.width()));
        }
        let mut out = Csr::empty(self.width);
        for i in 0..features.count() {
            let mut row: Vec<(u32, T)> = Vec::new();
            if self.offset.is_empty() {
                features.for_each(i, |j, v| row.push((j as u32, v)));
            } else {
                let mut whole = vec![0.0; self.width];
                features.for_each(i, |j, v| whole[j] = v.as_f64());
                let scaled = |(j, v): (usize, f64)| (j as u32, T::of((v - self.offset[j]) * self.factor[j]));
                row.extend(whole.into_iter().enumerate().map(scaled));
            }
            row.retain(|(_, v)| *v != T::zero());
            out.push_row(row);
        }
        match unit_rows(Samples::Sparse(out)) {
            Samples::Sparse(out) => Ok(out),
            dense => Err(Error::shape("features", "sparse", format!("{} dense rows", dense.count()))),
        }
    }
}

/// Refuses a share that is none.
pub(crate) fn check(weight: f64) -> Result<()> {
    if (0.0..=1.0).contains(&weight) {
        return Ok(());
    }
    Err(Error::param("feature-weight", weight, "auto or a number from 0 to 1"))
}

impl<T: Scalar> Dataset<T> {
    /// The nodes of a graph with features beside their links, which have the share `weight` in every scalar product.
    ///
    /// The linear kernel then is (1 − w)·(links) + w·(features), and the RBF kernel the product of one of each.
    ///
    /// ```
    /// use lopsided::data::node_features::NodeFeatures;
    /// use lopsided::{Dataset, Graph, GraphRule, Samples};
    ///
    /// let ids = ["a", "b"].map(String::from).to_vec();
    /// let graph = Graph::new(ids.clone(), &[(0, 1, 1.0)])?;
    /// let words = Samples::Dense(faer::mat![[0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]);
    /// let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default())?;
    /// let both = data.with_features(&NodeFeatures::new(ids, words)?, 0.5)?;
    /// assert_eq!((both.x.count(), both.x.width()), (2, 5));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Param`] for samples that are no nodes, for nodes without features (their number and the first of them) and
    /// for a weight outside [0, 1].
    pub fn with_features(self, features: &NodeFeatures<T>, weight: f64) -> Result<Self> {
        let Some(mut frame) = self.frame.filter(|frame| frame.features.is_none()) else {
            return Err(Error::param("features", "given", "left out unless the samples are nodes of a graph"));
        };
        let own = features.rows_of(&frame.ids)?;
        let block = FeatureBlock::of(own.as_ref(), weight)?;
        let prepared = block.prepared(own.as_ref())?;
        let z = self.z.as_ref().unwrap_or(&self.x);
        let with = |side: &Samples<T>| beside(&unit_rows(side.clone()), &prepared, weight);
        let (x, z) = (with(&self.x), with(z));
        frame.rule.unit = true;
        frame.features = Some(block);
        Ok(Dataset { x, z: Some(z), frame: Some(frame), ..self })
    }

    /// The same samples with another share of the features.
    ///
    /// # Errors
    /// [`Error::Param`] for a weight outside [0, 1], for samples without features, and for those that have lost their links or their
    /// features by a weight of 1 or 0.
    pub fn with_feature_weight(&self, weight: f64) -> Result<Self> {
        check(weight)?;
        let mut out = self.clone();
        let block = out.frame.as_mut().and_then(|frame| frame.features.as_mut());
        let Some(block) = block else {
            return Err(Error::param("feature-weight", weight, "left out for samples without features beside links"));
        };
        if block.weight == weight {
            return Ok(out);
        }
        let links = ((1.0 - weight) / (1.0 - block.weight)).sqrt();
        let features = (weight / block.weight).sqrt();
        if !(links.is_finite() && features.is_finite()) {
            return Err(Error::param("feature-weight", weight, format!("{} as before", block.weight)));
        }
        let start = (self.x.width() - block.width) as u32;
        block.weight = weight;
        let factors = [T::of(links), T::of(features)];
        out.x = weighted(&self.x, start, factors);
        out.z = self.z.as_ref().map(|z| weighted(z, start, factors));
        Ok(out)
    }
}

impl GraphFrame {
    /// New samples of one side with the features of their nodes: those of `features`, else those that the samples `known` of the
    /// model have.
    ///
    /// Without `known` a node that the model knows may lack them: of such a node only the name counts.
    ///
    /// # Errors
    /// [`Error::Param`] for nodes whose features are missing, and for features where the model has none.
    pub fn with_features<T: Scalar>(
        &self,
        ids: &[String],
        links: Csr<T>,
        known: Option<&Samples<T>>,
        features: Option<&NodeFeatures<T>>,
    ) -> Result<Csr<T>> {
        let Some(block) = &self.features else {
            return match features {
                None => Ok(links),
                Some(_) => Err(Error::param("features", "given", "left out: the model has learned from links alone")),
            };
        };
        let given = features.map(|f| block.prepared(f.samples.as_ref())).transpose()?;
        let places = features.map(NodeFeatures::places).unwrap_or_default();
        let own: HashMap<&str, usize> = self.ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let (n, root) = (self.link_width() as u32, T::of(block.weight.sqrt()));
        let link_root = T::of((1.0 - block.weight).sqrt());
        let mut out = Csr::empty(self.link_width() + block.width);
        let mut missing = Vec::new();
        for (i, id) in ids.iter().enumerate() {
            let (cols, values) = links.row(i);
            let mut row: Vec<(u32, T)> = cols.iter().zip(values).map(|(&j, &v)| (j, v * link_root)).collect();
            match (places.get(id.as_str()).zip(given.as_ref()), own.get(id.as_str()), known) {
                (Some((&at, given)), _, _) => {
                    let (cols, values) = given.row(at);
                    row.extend(cols.iter().zip(values).map(|(&j, &v)| (n + j, v * root)));
                }
                (None, Some(&at), Some(known)) => known.as_ref().for_each(at, |j, v| {
                    if j as u32 >= n {
                        row.push((j as u32, v));
                    }
                }),
                (None, Some(_), None) => {}
                (None, None, _) => missing.push(id),
            }
            row.retain(|(_, v)| *v != T::zero());
            out.push_row(row);
        }
        match missing.first() {
            None => Ok(out),
            Some(first) => {
                let value = format!("missing for {} of {} nodes, `{first}` the first", missing.len(), ids.len());
                Err(Error::param("features", value, "given for every node that the model does not know"))
            }
        }
    }
}

/// Both kinds of coordinates side by side, with their weights.
fn beside<T: Scalar>(links: &Samples<T>, features: &Csr<T>, weight: f64) -> Samples<T> {
    let (links, width) = (links.as_ref(), links.width());
    let mut out = Csr::empty(width + features.ncols());
    for i in 0..features.nrows() {
        let mut row = Vec::new();
        links.for_each(i, |j, v| row.push((j as u32, v)));
        let (cols, values) = features.row(i);
        row.extend(cols.iter().zip(values).map(|(&j, &v)| (width as u32 + j, v)));
        out.push_row(row);
    }
    weighted(&Samples::Sparse(out), width as u32, [T::of((1.0 - weight).sqrt()), T::of(weight.sqrt())])
}

/// Coordinates before and from `start` on times a factor each; what becomes 0 is not stored.
fn weighted<T: Scalar>(samples: &Samples<T>, start: u32, factors: [T; 2]) -> Samples<T> {
    let samples = samples.as_ref();
    let mut out = Csr::empty(samples.width());
    for i in 0..samples.count() {
        let mut row = Vec::new();
        samples.for_each(i, |j, v| row.push((j as u32, v * factors[usize::from(j as u32 >= start)])));
        row.retain(|(_, v)| *v != T::zero());
        out.push_row(row);
    }
    Samples::Sparse(out)
}
