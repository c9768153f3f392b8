//! Rows and columns of a matrix brought to the same coordinates, so that a kernel can compare them.
//!
//! A row of an N×M matrix has M coordinates and a column N, so that no kernel can compare them as they are. A
//! [`Compat`] matrix maps one side, or both, to common coordinates; a [`Compatibility`] is the choice of one
//! with its width, and [`Dataset::from_matrix_with`] applies it. The maps stay with the data ([`Maps`]), so
//! that new rows and columns take the same way.
//!
//! | choice | costs | when |
//! | --- | --- | --- |
//! | `pca` | one decomposition of A, or its q leading triplets | by default |
//! | `pinv` | the same | the linear kernel should be A itself; divides by small singular values |
//! | `random` | the norm of A and one product with q columns | A is large |
//! | `gram` | the norm of A, and AᵀA | what `random` estimates; for sparse A out of core |
//! | `learned` | a decomposition an epoch | a target of the rows is known |
//! | `none` | nothing | A is square and its sides have the same coordinates, as in a graph |

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::memory;
use crate::base::random::{self, Purpose};
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::Settings;
use crate::data::dataset::{Dataset, Maps};
use crate::data::samples::{Samples, SamplesRef, Side};
use crate::operator::{self, DenseOperator, Operator, SparseOperator};
use crate::solvers::svd::{self, Svd};
use faer::{Mat, MatRef};

/// Smaller side up to which a decomposition is complete unless a width is given.
const FULL_SIDE: usize = 2000;
/// Entries up to which it is.
const FULL_CELLS: usize = 40_000_000;
/// Smaller side from which squares of singular values pay.
const SQUARED: usize = 200;
/// Their range, relative to the largest, where they are neither zero nor exact enough.
const LOST: (f64, f64) = (1e-13, 1e-9);
/// Principal directions kept for larger matrices.
const TRUNCATED: usize = 300;
/// Of the coordinates of `gram`, which are all.
pub(super) const GRAM_WIDTH: &str = "left out with gram, which keeps all coordinates";
/// Columns of the random matrix.
const RANDOM: usize = 1000;
/// Residual of the truncated decompositions: any basis near the principal one serves, since the maps are exact for it.
const TOLERANCE: f64 = 1e-6;

/// The matrix C that makes rows x (width M) and columns z (width N) of an N×M matrix A = U·S·Vᵀ comparable
/// (\[KSVD\] Remark 2.3, Algorithm 1).
///
/// | choice | M ≥ N | N ≥ M | linear kernel |
/// | --- | --- | --- | --- |
/// | `pinv` (a0) | x̃ = rows of U·Uᵀ, z | x, z̃ = rows of V·Vᵀ | A |
/// | `pca` (a1) | x̃ = rows of U·S·Uᵀ, z | x, z̃ = rows of V·S·Vᵀ | U·S²·Vᵀ |
/// | `random` (a2) | x̃ = A(AᵀΩ)/‖A‖, z̃ = Ωᵀz | x̃ = Ωᵀx, z̃ = Aᵀ(AΩ)/‖A‖ | about A·Aᵀ·A/‖A‖ |
/// | `gram` | x̃ = rows of A·Aᵀ/‖A‖, z | x, z̃ = rows of Aᵀ·A/‖A‖ | A·Aᵀ·A/‖A‖ |
/// | `learned` (a3) | x̃ = x·C, z | x, z̃ = z·C | what predicts a target: [`crate::LearnedCompat`] |
///
/// # Departures
/// The minimiser of a1 in the paper is unique only up to a rotation, C = V·Q. Here Q = Uᵀ, so that x̃ and z have the same
/// coordinates; with Q = I the kernel would compare coordinates of two unrelated bases. The random matrix likewise acts on
/// both sides.
///
/// # Example
/// ```
/// use lopsided::Compat;
///
/// assert_eq!("pca".parse::<Compat>()?, Compat::Pca);
/// assert_eq!(Compat::default().to_string(), "none");
/// assert!("ica".parse::<Compat>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// No change: for a square matrix whose rows and columns have the same coordinates.
    #[default]
    None,
    /// Pseudo-inverse, a0.
    Pinv,
    /// Principal components, a1, aligned.
    Pca,
    /// Random projection, a2.
    Random,
    /// Scalar products with the rows or columns of A: what the random projection estimates.
    Gram,
    /// Learned from a target of the rows, a3; [`crate::LearnedCompat`] does it.
    Learned,
}

words!(Compat, "compatibility": None = "none", Pinv = "pinv", Pca = "pca", Random = "random", Gram = "gram",
    Learned = "learned");

/// A [`Compat`] with its number of coordinates q.
///
/// With a width, `pca` keeps q principal directions: x̃ = A·V_q, z̃ = Aᵀ·U_q = V_q·S_q (`pinv`: the longer side of A
/// likewise, the other one without S_q). Without one, the decomposition is complete up to 2000 rows or columns and 40
/// million entries and keeps 300 directions beyond; `random` takes 1000 columns, or min(N, M) where that is less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compatibility {
    /// Which matrix.
    pub kind: Compat,
    /// Coordinates of the rows and columns as the kernel sees them.
    pub width: Option<usize>,
}

setters!(Compatibility: with_kind(kind: Compat), with_width(width: usize => Some(width)));

impl Compatibility {
    /// The matrix of this kind, with the width chosen by size.
    pub fn new(kind: Compat) -> Self {
        Compatibility { kind, width: None }
    }

    /// The settings that a recipe makes it from.
    pub fn settings(&self) -> Settings {
        Settings::default().with_word("compat", self.kind).with_some("compat-width", self.width)
    }

    /// The maps for the rows and columns of A.
    ///
    /// Complete where no width was given and the matrix is small enough, truncated or random else.
    fn maps<T: Scalar>(&self, a: &Samples<T>, run: &Run) -> Result<Maps<T>> {
        let width = self.check(a)?;
        self.check_memory(a, width)?;
        match (self.kind, width) {
            (Compat::None, _) => Ok(Maps::default()),
            (Compat::Random, width) => random_maps(a, width.unwrap_or(RANDOM), run),
            (Compat::Gram, _) => gram_maps(a, run),
            (kind, Some(width)) => truncated_maps(kind, a, width, run),
            (kind, None) => full_maps(kind, a),
        }
    }

    /// Refuses maps and coordinates of rows and columns that would not fit.
    fn check_memory<T: Scalar>(&self, a: &Samples<T>, width: Option<usize>) -> Result<()> {
        let (n, m) = (a.count(), a.width());
        let width = match self.kind {
            Compat::None => return Ok(()),
            Compat::Random => width.unwrap_or(RANDOM),
            _ => width.unwrap_or(n.min(m)),
        };
        let needed = memory::product(&[2 * T::BYTES, n.saturating_add(m), width]);
        let what = format!("compatibility `{}` with {width} coordinates", self.kind);
        memory::check(&what, needed, "take fewer coordinates (compat-width) or allow more memory")
    }

    /// Refuses what a user can mend; the width to truncate at.
    fn check<T: Scalar>(&self, a: &Samples<T>) -> Result<Option<usize>> {
        let (n, m) = (a.count(), a.width());
        if n == 0 || m == 0 {
            return Err(Error::shape("the matrix", "at least 1 x 1", format!("{n} x {m}")));
        }
        if self.kind == Compat::None {
            let refused = |q| Err(Error::param("compat-width", q, "left out without a compatibility matrix"));
            return self.width.map_or(Ok(None), refused);
        }
        if self.kind == Compat::Learned {
            let allowed = "pinv, pca, random, gram or none here, where there is no target to learn from";
            return Err(Error::param("compat", self.kind, allowed));
        }
        let (side, what) = (n.min(m), "compat-width");
        match (self.kind, self.width) {
            (_, Some(0)) => return Err(Error::param(what, 0, "at least 1")),
            (Compat::Gram, Some(q)) => return Err(Error::param(what, q, GRAM_WIDTH)),
            (Compat::Pca | Compat::Pinv, Some(q)) if q > side => {
                return Err(Error::param(what, q, format!("between 1 and min(n, m) = {side}")));
            }
            _ => a.check_finite("the matrix")?,
        }
        let full = side <= FULL_SIDE && n.saturating_mul(m) <= FULL_CELLS;
        Ok(self.width.or(match self.kind {
            Compat::Random => Some(RANDOM.min(side)),
            Compat::Gram => None,
            _ if full => None,
            _ => Some(TRUNCATED.min(side)),
        }))
    }
}

impl<T: Scalar> Dataset<T> {
    /// The rows of a matrix of any shape against its columns, made comparable by a compatibility matrix.
    ///
    /// The maps stay with the samples, so that new rows and columns take the same way.
    ///
    /// # Errors
    /// [`Error::Shape`] for a matrix without entries, or one that is not square where there is no compatibility;
    /// [`Error::Param`] for a width out of range; [`Error::NotFinite`]; [`Error::Interrupted`].
    ///
    /// # Example
    /// Under `pca` the linear kernel is U·S²·Vᵀ: it keeps the singular vectors of A, and its singular values are
    /// the squares.
    ///
    /// ```
    /// use lopsided::{Compat, Compatibility, Dataset, KernelSvd, Mat, Run, Samples};
    ///
    /// let a = Mat::from_fn(3, 2, |i, j| if i == j { 2.0 - i as f64 } else { 0.0 }); // singular values 2 and 1
    /// let data = Dataset::from_matrix_with(Samples::Dense(a), &Compatibility::new(Compat::Pca), &Run::default())?;
    /// let model = KernelSvd::new("linear").with_rank(2).fit(data, &Run::default())?;
    /// let sigma = model.singular_values();
    /// assert!((sigma[0] - 4.0).abs() < 1e-9 && (sigma[1] - 1.0).abs() < 1e-9);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn from_matrix_with(a: Samples<T>, compatibility: &Compatibility, run: &Run) -> Result<Self> {
        let maps = compatibility.maps(&a, run)?;
        if compatibility.kind == Compat::None {
            return Dataset::from_matrix(a);
        }
        let columns = a.transpose();
        let z = maps.apply(Side::Col, columns.as_ref()).map_or(columns, Samples::Dense);
        let x = maps.apply(Side::Row, a.as_ref()).map_or(a, Samples::Dense);
        Ok(Dataset { maps, ..Dataset::two_sided(x, z) })
    }
}

impl<T: Scalar> Maps<T> {
    /// Raw rows or columns in the common coordinates; `None` where they are already.
    ///
    /// # Panics
    /// If the samples do not have the width of the map.
    ///
    /// # Example
    /// ```
    /// use lopsided::{Maps, Mat, Samples, Side};
    ///
    /// let maps = Maps { rows: Some(Mat::from_fn(2, 1, |_, _| 1.0)), cols: None };
    /// let raw = Samples::Dense(Mat::from_fn(1, 2, |_, j| j as f64 + 1.0)); // the row (1, 2)
    /// assert_eq!(maps.apply(Side::Row, raw.as_ref()).unwrap()[(0, 0)], 3.0);
    /// assert!(maps.apply(Side::Col, raw.as_ref()).is_none());
    /// ```
    pub fn apply(&self, side: Side, samples: SamplesRef<'_, T>) -> Option<Mat<T>> {
        self.side(side).map(|map| times(samples, map.as_ref()))
    }
}

/// samples·h.
fn times<T: Scalar>(samples: SamplesRef<'_, T>, h: MatRef<'_, T>) -> Mat<T> {
    assert_eq!(samples.width(), h.nrows(), "width of the samples and height of the map");
    let mut out = Mat::zeros(samples.count(), h.ncols());
    operator::multiply(samples, h, out.as_mut());
    out
}

/// One map between the coordinates of the two sides: V·S^p·Uᵀ for the rows of a wide A, U·S^p·Vᵀ for the columns of a
/// tall one. It does not depend on the choice of vectors for repeated singular values.
fn full_maps<T: Scalar>(kind: Compat, a: &Samples<T>) -> Result<Maps<T>> {
    if let Some(map) = polar_factor(kind, a) {
        let (rows, cols) = if is_wide(a) { (Some(map), None) } else { (None, Some(map)) };
        return Ok(Maps { rows, cols });
    }
    let dense = match a.as_ref() {
        SamplesRef::Dense(m) => linalg::thin_svd(m),
        SamplesRef::Sparse(_) => linalg::thin_svd(a.clone().into_dense().as_ref()),
    };
    let svd = dense.ok_or_else(|| Error::Singular { what: "the compatibility matrix".into() })?;
    let zero = svd.sigma.first().map_or(0.0, |s| s.as_f64()) * T::eps() * a.count().max(a.width()) as f64;
    let rank = svd.sigma.iter().take_while(|s| s.as_f64() > zero).count();
    let (u, v) = (svd.u.subcols(0, rank), svd.v.subcols(0, rank));
    let inverse = kind == Compat::Pinv;
    let bridge = |from, to: MatRef<'_, T>| linalg::mul(divided(from, &svd.sigma, inverse).as_ref(), to.transpose());
    Ok(if is_wide(a) {
        Maps { rows: Some(bridge(v, u)), cols: None }
    } else {
        Maps { rows: None, cols: Some(bridge(u, v)) }
    })
}

/// U·Vᵀ of a tall A as A·(AᵀA)^(−1/2), V·Uᵀ of a wide one as Aᵀ·(A·Aᵀ)^(−1/2): a fraction of the work of a complete decomposition.
///
/// `None` where squares of singular values lose too many digits, and for small matrices.
fn polar_factor<T: Scalar>(kind: Compat, a: &Samples<T>) -> Option<Mat<T>> {
    if kind != Compat::Pca || T::eps() > 1e-10 || a.count().min(a.width()) < SQUARED {
        return None;
    }
    let tall = if is_wide(a) { a.transpose() } else { a.clone() };
    let squares = times(tall.transpose().as_ref(), tall.clone().into_dense().as_ref());
    let (values, vectors) =
        linalg::eigen(Mat::from_fn(squares.nrows(), squares.ncols(), |i, j| squares[(i, j)].as_f64()).as_ref())?;
    let largest = values.first().copied()?;
    let kept = values.iter().take_while(|v| **v > LOST.1 * largest).count();
    if values[kept..].iter().any(|v| *v > LOST.0 * largest) {
        return None;
    }
    let vectors = Mat::from_fn(vectors.nrows(), kept, |i, j| T::of(vectors[(i, j)]));
    let scaled = Mat::from_fn(vectors.nrows(), kept, |i, j| vectors[(i, j)] / T::of(values[j].sqrt()));
    Some(times(tall.as_ref(), linalg::mul(scaled.as_ref(), vectors.transpose()).as_ref()))
}

/// Both sides in q principal coordinates: V_q for rows and U_q for columns, over S_q on one side for the pseudo-inverse.
fn truncated_maps<T: Scalar>(kind: Compat, a: &Samples<T>, width: usize, run: &Run) -> Result<Maps<T>> {
    let Svd { u, sigma, v, .. } = leading(a, width, TOLERANCE, run)?;
    let (wide, inverse) = (is_wide(a), kind == Compat::Pinv);
    let rows = divided(v.as_ref(), &sigma, inverse && wide);
    let cols = divided(u.as_ref(), &sigma, inverse && !wide);
    Ok(Maps { rows: Some(rows), cols: Some(cols) })
}

/// Ω for the longer samples' counterpart and A·Ω/‖A‖ or Aᵀ·Ω/‖A‖ for the other side.
fn random_maps<T: Scalar>(a: &Samples<T>, width: usize, run: &Run) -> Result<Maps<T>> {
    let norm = norm(a, run)?;
    let mut omega = random::gaussian::<T>(
        a.count().min(a.width()),
        width,
        &mut random::generator(run.seed, Purpose::Compatibility),
    );
    let scale = T::of(1.0 / (width as f64).sqrt());
    omega.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= scale));
    let mut image =
        if is_wide(a) { times(a.transpose().as_ref(), omega.as_ref()) } else { times(a.as_ref(), omega.as_ref()) };
    image.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v /= T::of(norm)));
    let (omega, image) = (Some(omega), Some(image));
    Ok(if is_wide(a) { Maps { rows: image, cols: omega } } else { Maps { rows: omega, cols: image } })
}

/// Aᵀ/‖A‖ for the rows of a wide A, A/‖A‖ for the columns of a tall one.
fn gram_maps<T: Scalar>(a: &Samples<T>, run: &Run) -> Result<Maps<T>> {
    let norm = norm(a, run)?;
    let mut map = if is_wide(a) { a.transpose().into_dense() } else { a.clone().into_dense() };
    map.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v /= T::of(norm)));
    let (rows, cols) = if is_wide(a) { (Some(map), None) } else { (None, Some(map)) };
    Ok(Maps { rows, cols })
}

/// ‖A‖; 1 for a matrix of zeros. It scales one side against the other, so a few digits are enough.
fn norm<T: Scalar>(a: &Samples<T>, run: &Run) -> Result<f64> {
    let norm = leading(a, 1, 1e-4, run)?.sigma.first().map_or(1.0, |s| s.as_f64());
    run.watch.check()?;
    Ok(norm)
}

/// At least as many columns as rows.
fn is_wide<T: Scalar>(a: &Samples<T>) -> bool {
    a.width() >= a.count()
}

/// vectors·S⁻¹, or the vectors themselves.
fn divided<T: Scalar>(vectors: MatRef<'_, T>, sigma: &[T], inverse: bool) -> Mat<T> {
    let factor = |j: usize| if inverse { sigma[j].recip() } else { T::one() };
    Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, j| vectors[(i, j)] * factor(j))
}

/// The leading triplets of A itself.
fn leading<T: Scalar>(a: &Samples<T>, rank: usize, tol: f64, run: &Run) -> Result<Svd<T>> {
    let given: Box<dyn Operator<T> + '_> = match a.as_ref() {
        SamplesRef::Dense(m) => Box::new(DenseOperator::Borrowed(m)),
        SamplesRef::Sparse(s) => Box::new(SparseOperator::new(None, s.to_owned())),
    };
    svd::solver::<T>("auto", &Settings::default().with("tol", tol))?.solve(&*given, rank, run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: Compat, width: Option<usize>) -> String {
        let a = Samples::Dense(Mat::<f64>::from_fn(4, 3, |i, j| (i * 3 + j) as f64));
        Dataset::from_matrix_with(a, &Compatibility { kind, width }, &Run::default()).unwrap_err().to_string()
    }

    #[test]
    fn names_are_read_back() {
        for name in ["none", "pinv", "pca", "random", "learned"] {
            assert_eq!(name.parse::<Compat>().unwrap().to_string(), name);
        }
        assert!("pac".parse::<Compat>().unwrap_err().to_string().contains("did you mean `pca`?"));
    }

    #[test]
    fn widths_out_of_range_are_refused() {
        assert_eq!(message(Compat::Pca, Some(4)), "`compat-width` is 4 but must be between 1 and min(n, m) = 3");
        assert_eq!(message(Compat::Random, Some(0)), "`compat-width` is 0 but must be at least 1");
        assert_eq!(
            message(Compat::Gram, Some(2)),
            "`compat-width` is 2 but must be left out with gram, which keeps all coordinates"
        );
        assert!(message(Compat::None, None).contains("4 x 3"));
    }

    #[test]
    fn a_zero_matrix_has_zero_images() {
        for kind in [Compat::Pinv, Compat::Pca, Compat::Random, Compat::Gram] {
            let a = Samples::Dense(Mat::<f64>::zeros(4, 3));
            let data = Dataset::from_matrix_with(a, &Compatibility::new(kind), &Run::default()).unwrap();
            let Some(Samples::Dense(z)) = data.z else { panic!("{kind}") };
            assert!(z.norm_max() < 1e-300, "{kind}");
        }
    }
}
