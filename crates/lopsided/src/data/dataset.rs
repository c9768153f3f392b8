//! Samples of both sides with their names and labels.
//!
//! [`Dataset`] is what every estimator fits; [`Target`] is what it predicts. There are four ways to make one:
//! [`Dataset::new`] for a table, [`Dataset::two_sided`] for two sample sets of equal width, [`Dataset::from_matrix`]
//! for the rows of a square matrix against its columns, and [`Dataset::from_graph`] for the nodes of a graph.
//! [`Dataset::from_matrix_with`] makes one of a matrix that is not square, by a [`crate::Compatibility`].

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::columns::{Cells, Column, table_of};
use crate::data::graph::{Graph, GraphFrame, GraphRule};
use crate::data::samples::{Samples, Side, is_everything};
use faer::Mat;

/// What is to be predicted, one value per row sample.
///
/// Samples without a known target take part in embeddings and are left out of learning.
///
/// ```
/// use lopsided::Target;
///
/// let names = ["no", "yes"].map(String::from).to_vec();
/// let target = Target::Classes { names, codes: vec![Some(1), None, Some(0)] };
/// assert_eq!(target.known(), [0, 2]);
/// assert_eq!(target.rows(&[2, 0]).known(), [0, 1]);
/// assert_eq!(target.clone().without(|row| row == 0).known(), [2]);
/// assert_eq!(target.numbers(), None); // `no` is no number
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Class of each row as a position in `names`; `None` where unknown.
    Classes {
        /// Class names in order of first appearance, or numeric order for whole numbers.
        names: Vec<String>,
        /// One entry per row.
        codes: Vec<Option<u32>>,
    },
    /// Real values; NaN where unknown.
    Values(Vec<f64>),
    /// Several real values; a row of which one is unknown is unknown.
    Several {
        /// What the values are called.
        names: Vec<String>,
        /// A row for each sample, a column for each name; NaN where unknown.
        values: Mat<f64>,
    },
}

/// So many different whole numbers are values, not classes.
const MANY: usize = 20;

impl Target {
    /// The target as values where its classes are numbers with fractions, or whole numbers of which there are many.
    ///
    /// Readers take whole numbers for classes; more than 20 of them are measurements.
    ///
    /// ```
    /// use lopsided::Target;
    ///
    /// let names = ["1", "2.5"].map(String::from).to_vec();
    /// let target = Target::Classes { names, codes: vec![Some(1), Some(0), Some(1)] };
    /// assert_eq!(target.measured(), Target::Values(vec![2.5, 1.0, 2.5]));
    /// ```
    pub fn measured(self) -> Self {
        let Target::Classes { names, .. } = &self else { return self };
        let fraction = |name: &String| name.parse::<f64>().is_ok_and(|number| number.fract() != 0.0);
        match self.numbers() {
            Some(numbers) if names.len() > MANY || names.iter().any(fraction) => Target::Values(numbers),
            _ => self,
        }
    }

    /// One number per row, NaN where it is not known; `None` if a class has a name that is no number, or there are several.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Target::Several { .. } => None,
            Target::Values(values) => Some(values.clone()),
            Target::Classes { names, codes } => {
                let numbers: Vec<f64> = names.iter().map(|name| name.parse().ok()).collect::<Option<_>>()?;
                Some(codes.iter().map(|code| code.map_or(f64::NAN, |c| numbers[c as usize])).collect())
            }
        }
    }

    /// Targets of the listed rows.
    ///
    /// # Panics
    /// If a position is not below the number of rows.
    pub fn rows(&self, rows: &[usize]) -> Self {
        match self {
            Target::Classes { names, codes } => {
                Target::Classes { names: names.clone(), codes: rows.iter().map(|&i| codes[i]).collect() }
            }
            Target::Values(values) => Target::Values(rows.iter().map(|&i| values[i]).collect()),
            Target::Several { names, values } => {
                let picked = Mat::from_fn(rows.len(), values.ncols(), |i, j| values[(rows[i], j)]);
                Target::Several { names: names.clone(), values: picked }
            }
        }
    }

    /// The same targets, unknown in the rows for which `hide` is true.
    pub fn without(mut self, hide: impl Fn(usize) -> bool) -> Self {
        match &mut self {
            Target::Classes { codes, .. } => {
                codes.iter_mut().enumerate().filter(|c| hide(c.0)).for_each(|c| *c.1 = None);
            }
            Target::Values(values) => {
                values.iter_mut().enumerate().filter(|v| hide(v.0)).for_each(|v| *v.1 = f64::NAN);
            }
            Target::Several { values, .. } => {
                (0..values.nrows()).filter(|&i| hide(i)).for_each(|i| values.row_mut(i).fill(f64::NAN));
            }
        }
        self
    }

    /// Rows whose target is known, ascending.
    pub fn known(&self) -> Vec<usize> {
        match self {
            Target::Classes { codes, .. } => (0..codes.len()).filter(|&i| codes[i].is_some()).collect(),
            Target::Values(values) => (0..values.len()).filter(|&i| values[i].is_finite()).collect(),
            Target::Several { values, .. } => {
                (0..values.nrows()).filter(|&i| values.row(i).iter().all(|v| v.is_finite())).collect()
            }
        }
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        match self {
            Target::Classes { codes, .. } => codes.len(),
            Target::Values(values) => values.len(),
            Target::Several { values, .. } => values.nrows(),
        }
    }

    /// Whether it is of classes; else it is of values.
    pub fn is_classes(&self) -> bool {
        matches!(self, Target::Classes { .. })
    }

    /// [`Error::Param`] for several values, for whoever learns one.
    pub fn refuse_several(&self) -> Result<()> {
        let Target::Several { names, .. } = self else { return Ok(()) };
        Err(Error::param("target", names.join(","), "one column: only `krr` learns several"))
    }
}

/// Linear maps from the raw rows and columns of a matrix to coordinates that both sides share; `None`: as they are.
///
/// A raw row x of width M becomes x·`rows`, a raw column z of width N becomes z·`cols` (see [`crate::Compat`]).
///
/// A kernel compares samples of equal width, and the rows and columns of an N×M matrix have different ones; \[KSVD\]
/// Remark 2.3 calls what joins them a compatibility matrix. The maps are kept so that new rows and columns can follow.
#[derive(Clone, Debug, Default)]
pub struct Maps<T> {
    /// M×q.
    pub rows: Option<Mat<T>>,
    /// N×q.
    pub cols: Option<Mat<T>>,
}

impl<T: Scalar> Maps<T> {
    /// The map of one side.
    pub fn side(&self, side: Side) -> Option<&Mat<T>> {
        match side {
            Side::Row => self.rows.as_ref(),
            Side::Col => self.cols.as_ref(),
        }
    }
}

/// Row samples X, column samples Z and what is known about them.
///
/// `z = None` means that the kernel runs over X twice, or that X itself is G for the precomputed kernel.
///
/// ```
/// use lopsided::{Dataset, Mat, Samples};
///
/// let square = Samples::Dense(Mat::from_fn(4, 4, |i, j| (i * j) as f64));
/// assert_eq!(Dataset::from_matrix(square)?.cols().count(), 4);
/// let wide = Samples::Dense(Mat::<f64>::zeros(2, 3));
/// assert!(Dataset::from_matrix(wide).is_err()); // rows and columns of different widths
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset<T> {
    /// Row samples.
    pub x: Samples<T>,
    /// Column samples.
    pub z: Option<Samples<T>>,
    /// Labels of the row samples.
    pub y: Option<Target>,
    /// What each row sample counts in learning; `None`: all the same.
    pub weights: Option<Vec<f64>>,
    /// Names of the row samples; `None`: 0, 1, 2, …
    pub row_ids: Option<Vec<String>>,
    /// Names of the column samples; `None`: 0, 1, 2, …
    pub col_ids: Option<Vec<String>>,
    /// The graph the samples come from.
    pub frame: Option<GraphFrame>,
    /// How raw rows and columns became the samples.
    pub maps: Maps<T>,
    /// What the coordinates of the row samples are called, and the words of columns of text, which are NaN in `x`.
    pub columns: Option<Vec<Column>>,
}

impl<T: Scalar> Dataset<T> {
    /// Row samples alone: the kernel compares them with each other, G\[i, j\] = k(x_i, x_j).
    pub fn new(x: Samples<T>) -> Self {
        let (row_ids, col_ids, frame, maps) = (None, None, None, Maps::default());
        Dataset { x, z: None, y: None, weights: None, row_ids, col_ids, frame, maps, columns: None }
    }

    /// Row samples from named columns of numbers and of text.
    ///
    /// Text is NaN in `x`; [`crate::estimators::Preparation`] makes numbers of it, and the estimators of
    /// [`crate::estimators::recipe::estimator`] do that themselves.
    ///
    /// ```
    /// use lopsided::Dataset;
    /// use lopsided::data::columns::Cells;
    ///
    /// let color = ["red", "blue", "red"].map(|word| Some(word.to_string())).to_vec();
    /// let columns = vec![("size".to_string(), Cells::Numbers(vec![1.0, 2.0, 5.0])), ("color".to_string(), Cells::Texts(color))];
    /// let data: Dataset<f64> = Dataset::from_columns(columns)?;
    /// assert_eq!((data.x.count(), data.x.width()), (3, 2));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for columns of different lengths, [`Error::Param`] for two of one name.
    pub fn from_columns(columns: Vec<(String, Cells)>) -> Result<Self> {
        let (x, columns) = table_of(columns)?;
        Ok(Dataset { columns: Some(columns), ..Dataset::new(x) })
    }

    /// Whether a column holds text.
    pub fn has_words(&self) -> bool {
        self.columns.iter().flatten().any(|column| column.words.is_some())
    }

    /// Two sample sets: G\[i, j\] = k(x_i, z_j). For a kernel of samples both have the same width, which is checked
    /// when G is built.
    pub fn two_sided(x: Samples<T>, z: Samples<T>) -> Self {
        Dataset { z: Some(z), ..Dataset::new(x) }
    }

    /// The nodes of a graph: x_i is row i and z_j column j of the graph's matrix.
    ///
    /// So a node is seen twice: as one that links arrive at (its row) and as one that they leave (its column), with
    /// [`crate::Links::In`].
    ///
    /// ```
    /// use lopsided::{Dataset, Graph, GraphRule, Side};
    ///
    /// let graph = Graph::new(["a", "b"].map(String::from).to_vec(), &[(0, 1, 1.0)])?;
    /// let data: Dataset<f64> = Dataset::from_graph(&graph, &GraphRule::default())?;
    /// let (x, z) = (data.x.clone().into_dense(), data.cols().clone().into_dense());
    /// assert_eq!(x, faer::mat![[1.0, 0.0], [0.5, 0.5]]);
    /// assert_eq!(z, x.transpose().to_owned());
    /// assert_eq!(data.id(Side::Col, 1), "b");
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// With several steps of the walk ([`GraphRule::walk`]) both are of (P + P² + … + P^K)/K.
    ///
    /// # Errors
    /// Those of [`Graph::matrix`]; [`Error::Param`] for a walk of no step or more than 16.
    pub fn from_graph(graph: &Graph, rule: &GraphRule) -> Result<Self> {
        let (p, sums, walk) = graph.walked(rule)?;
        let ids = graph.ids().to_vec();
        let columns = if rule.links.one_sided() { p.clone() } else { p.transpose() };
        let sides = (Samples::Sparse(columns), Samples::Sparse(p));
        let (z, x) = if rule.unit { (unit_rows(sides.0), unit_rows(sides.1)) } else { sides };
        Ok(Dataset {
            x,
            z: Some(z),
            y: None,
            weights: None,
            row_ids: Some(ids.clone()),
            col_ids: Some(ids.clone()),
            frame: Some(GraphFrame { rule: *rule, ids, sums, walk, features: None }),
            maps: Maps::default(),
            columns: None,
        })
    }

    /// The rows of a matrix against its columns.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the matrix is square: otherwise rows and columns have different widths.
    pub fn from_matrix(a: Samples<T>) -> Result<Self> {
        let (n, m) = (a.count(), a.width());
        if n != m {
            return Err(Error::shape(
                "the matrix",
                "square, so that its rows can be compared with its columns",
                format!("{n} x {m}"),
            ));
        }
        let z = a.transpose();
        Ok(Dataset::two_sided(a, z))
    }

    /// Column samples: Z, or X where there is no Z.
    pub fn cols(&self) -> &Samples<T> {
        self.z.as_ref().unwrap_or(&self.x)
    }

    /// The listed row samples with their targets and names; for the nodes of a graph the column samples as well.
    ///
    /// The graph's frame is left behind: a part of a graph cannot place new nodes. Names are kept, so that row 5 is
    /// still called 5.
    ///
    /// ```
    /// use lopsided::{Dataset, Mat, Samples, Side};
    ///
    /// let table = Dataset::new(Samples::Dense(Mat::from_fn(4, 2, |i, _| i as f64)));
    /// let part = table.rows(&[3, 1]);
    /// assert_eq!((part.x.count(), part.id(Side::Row, 0)), (2, "3".to_string()));
    /// ```
    ///
    /// # Panics
    /// If a position is not below the number of row samples.
    pub fn rows(&self, rows: &[usize]) -> Self {
        let picked = |ids: &Option<Vec<String>>| -> Option<Vec<String>> {
            ids.as_ref().map(|ids| rows.iter().map(|&i| ids[i].clone()).collect())
        };
        let nodes = self.frame.is_some();
        let select = |z: &Samples<T>| if nodes { z.as_ref().select(rows) } else { z.clone() };
        let all = is_everything(rows, self.x.count());
        Dataset {
            x: if all { self.x.clone() } else { self.x.as_ref().select(rows) },
            z: self.z.as_ref().map(select),
            y: self.y.as_ref().map(|y| y.rows(rows)),
            weights: self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect()),
            row_ids: Some(rows.iter().map(|&i| self.id(Side::Row, i)).collect()),
            col_ids: if nodes { picked(&self.col_ids) } else { self.col_ids.clone() },
            frame: None,
            maps: self.maps.clone(),
            columns: self.columns.as_ref().map(|columns| columns.iter().map(|column| column.rows(rows)).collect()),
        }
    }

    /// The same; where there are as many column samples as rows, x_i and z_i are one sample, and those of the rows are taken.
    pub(crate) fn pairs(&self, rows: &[usize]) -> Self {
        let mut out = self.rows(rows);
        if let Some(z) = self.z.as_ref().filter(|z| z.count() == self.x.count()) {
            out.z = Some(z.as_ref().select(rows));
            out.col_ids = self.col_ids.as_ref().map(|ids| rows.iter().map(|&i| ids[i].clone()).collect());
        }
        out
    }

    /// Refuses weights, for estimators to which all samples count the same.
    pub(crate) fn refuse_weights(&self, estimator: &str) -> Result<()> {
        if self.weights.is_none() {
            return Ok(());
        }
        Err(Error::param(
            "weights",
            "given",
            format!("left out for {estimator}: `ask-ls`, `ls-svm`, `svm`, `nu-svm`, `logistic` and `krr` have them"),
        ))
    }

    /// Refuses weights that are negative, not finite or not one for each row sample.
    pub(crate) fn check_weights(&self) -> Result<()> {
        let Some(weights) = &self.weights else { return Ok(()) };
        if weights.len() != self.x.count() {
            return Err(Error::shape("the number of weights", self.x.count(), weights.len()));
        }
        match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            Some(i) => {
                let value = format!("{} for sample `{}`", weights[i], self.id(Side::Row, i));
                Err(Error::param("weights", value, "finite numbers of at least 0"))
            }
            None => Ok(()),
        }
    }

    /// The weights of some row samples, which must not all be 0.
    pub(crate) fn weights_of(&self, rows: &[usize]) -> Result<Option<Vec<f64>>> {
        self.check_weights()?;
        let own: Option<Vec<f64>> = self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect());
        if own.as_ref().is_some_and(|own| own.iter().all(|w| *w == 0.0)) {
            return Err(Error::param("weights", "0 for every sample with a target", "above 0 for one at least"));
        }
        Ok(own)
    }

    /// The name of a sample as it is written to files.
    pub fn id(&self, side: Side, index: usize) -> String {
        let ids = match side {
            Side::Row => &self.row_ids,
            Side::Col => &self.col_ids,
        };
        ids.as_ref().map_or_else(|| index.to_string(), |names| names[index].clone())
    }
}

/// Samples scaled to unit length, |x_i| = 1; samples of length zero stay.
///
/// ```
/// use lopsided::Samples;
/// use lopsided::data::dataset::unit_rows;
///
/// let scaled = unit_rows(Samples::Dense(faer::mat![[3.0, 4.0], [0.0, 0.0]])).into_dense();
/// assert!((scaled - faer::mat![[0.6, 0.8], [0.0, 0.0]]).norm_max() < 1e-15);
/// ```
pub fn unit_rows<T: Scalar>(samples: Samples<T>) -> Samples<T> {
    match samples {
        Samples::Sparse(mut s) => {
            for i in 0..s.nrows() {
                let (_, values) = s.row_mut(i);
                let factor = to_unit(faer::ColRef::from_slice(values).norm_l2());
                for v in values {
                    *v *= factor;
                }
            }
            Samples::Sparse(s)
        }
        dense => Samples::Dense(to_unit_rows(dense.into_dense())),
    }
}

/// The matrix with rows of unit length; rows of zeros stay.
pub(crate) fn to_unit_rows<T: Scalar>(mut m: Mat<T>) -> Mat<T> {
    let factors: Vec<T> = m.row_iter().map(|row| to_unit(row.norm_l2())).collect();
    m.col_iter_mut().for_each(|col| col.iter_mut().zip(&factors).for_each(|(v, f)| *v *= *f));
    m
}

/// 1/length, and 1 for length zero, so that samples of zeros are not divided by it.
fn to_unit<T: Scalar>(length: T) -> T {
    if length > T::zero() { length.recip() } else { T::one() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Csr;

    #[test]
    fn rows_get_unit_length_and_zero_rows_stay() {
        let csr = Csr::from_triplets(3, 2, &[(0, 0, 3.0), (0, 1, 4.0), (2, 1, -2.0)]);
        let expected = faer::mat![[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]];
        for samples in [Samples::Dense(csr.to_dense()), Samples::Sparse(csr)] {
            assert!((unit_rows(samples).into_dense() - &expected).norm_max() < 1e-15);
        }
    }

    #[test]
    fn fractions_and_many_whole_numbers_are_values() {
        let classes = |names: &[String]| {
            let codes = (0..names.len()).map(|c| Some(c as u32)).chain([None]).collect();
            Target::Classes { names: names.to_vec(), codes }
        };
        let words = |names: &[&str]| classes(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        let many: Vec<String> = (0..=MANY).map(|i| i.to_string()).collect();
        assert!(matches!(words(&["1", "2.5"]).measured(), Target::Values(_)));
        assert!(matches!(classes(&many).measured(), Target::Values(_)));
        assert_eq!(words(&["1", "2"]).measured(), words(&["1", "2"]));
        assert_eq!(words(&["1.5", "x"]).measured(), words(&["1.5", "x"]));
    }
}
