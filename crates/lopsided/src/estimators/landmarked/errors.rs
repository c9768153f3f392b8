//! How far approximate machines and kernel matrices are from the exact ones.

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::base::settings::Settings;
use crate::operator::Operator;
use crate::operator::delegated;
use crate::solvers::svd;
use faer::{Mat, MatMut, MatRef};

/// Up to this many samples the Frobenius norm is exact.
const EXACT: usize = 4096;
/// Random vectors beyond.
const PROBES: usize = 64;
/// Rows handled as one piece.
const TILE: usize = 256;

/// How far a machine with landmarks is from the exact one.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MachineErrors {
    /// Of the solutions, one number for each class, pair of classes or component; none where the exact machine is out of reach.
    pub solution: Option<SolutionErrors>,
    /// Of the kernel matrix.
    pub gram: GramErrors,
}

/// ‖K − K̃‖ with K̃ = F·Fᵀ; the difference is positive semidefinite and never formed.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GramErrors {
    /// Largest eigenvalue, by Lanczos on products with the difference.
    pub spectral: f64,
    /// Sum of the eigenvalues, Σ K_ii − ‖F‖²_F: exact for any number of samples (\[NKM\] Eq. (8)).
    pub trace: f64,
    /// Root of the sum of squares: exact up to 4096 samples, else from 64 random products, E‖(K − K̃)ω‖².
    pub frobenius: f64,
    /// Such an estimate's interval of 95 % confidence.
    pub frobenius_interval: Option<(f64, f64)>,
    /// ‖K‖₂, which the others may be compared with.
    pub kernel_spectral: f64,
}

/// Distances of approximate solutions from the exact one, f* = Φ(X)·α̃, one for each target.
///
/// With K = I, the feature e₁, α̃ = (1, 1) and α̂ = (1, 0), what the feature does not see is missing from both:
///
/// ```
/// use lopsided::Mat;
/// use lopsided::estimators::SolutionErrors;
///
/// let column = |a: f64, b: f64| Mat::from_fn(2, 1, |i, _| if i == 0 { a } else { b });
/// let k = Mat::<f64>::identity(2, 2);
/// let found = SolutionErrors::of(&k, column(1.0, 0.0).as_ref(), &column(1.0, 1.0), &column(1.0, 0.0));
/// assert!((found.lla[0] - 1.0).abs() < 1e-12 && (found.gsa[0] - 1.0).abs() < 1e-12);
/// assert!((found.exact_norm[0] - 2.0_f64.sqrt()).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SolutionErrors {
    /// ‖f_LLA − f*‖, Eq. (15); that of NCR with the standard basis.
    pub lla: Vec<f64>,
    /// ‖f_GSA − f*‖, Eq. (19).
    pub gsa: Vec<f64>,
    /// The bound of Eq. (16) on the first; none unless asked for.
    pub bound: Vec<f64>,
    /// ‖f*‖.
    pub exact_norm: Vec<f64>,
}

impl MachineErrors {
    /// What was compared; the kernel matrix alone where the exact machine takes too much memory.
    pub(in crate::estimators) fn or_gram(
        compared: Result<(SolutionErrors, GramErrors)>,
        gram: impl FnOnce() -> Result<GramErrors>,
    ) -> Result<Self> {
        match compared {
            Ok((solution, gram)) => Ok(MachineErrors { solution: Some(solution), gram }),
            Err(Error::Memory { .. }) => Ok(MachineErrors { solution: None, gram: gram()? }),
            Err(error) => Err(error),
        }
    }
}

impl GramErrors {
    /// The errors of the features F, one row for each sample of K.
    ///
    /// # Errors
    /// Those of products with K; [`crate::Error::Interrupted`].
    pub fn of(k: &dyn Operator<f64>, f: MatRef<'_, f64>, run: &Run) -> Result<Self> {
        assert_eq!((k.nrows(), k.ncols()), (f.nrows(), f.nrows()), "a row of features for each sample");
        let difference = Difference { k, f };
        let (frobenius, frobenius_interval) =
            if f.nrows() <= EXACT { (difference.frobenius()?, None) } else { difference.estimated_frobenius(run)? };
        let trace = difference.trace()?;
        // What is lost in the rounding of K is no error.
        let noise = f64::EPSILON * f.nrows() as f64 * diagonal(k)?.iter().sum::<f64>();
        let spectral = if frobenius <= noise { frobenius } else { largest_value(&difference, run)? };
        Ok(GramErrors { spectral, trace, frobenius, frobenius_interval, kernel_spectral: largest_value(k, run)? })
    }
}

impl SolutionErrors {
    /// From K, F, the exact coefficients α̃ and those of Eq. (20), α̂, a column for each target.
    ///
    /// Eq. (15) is evaluated as in its proof, ‖Fᵀ(α̂ − α̃)‖² + α̃ᵀ(K − K̃)α̃, which does not subtract large numbers.
    pub fn of(k: &Mat<f64>, f: MatRef<'_, f64>, exact: &Mat<f64>, found: &Mat<f64>) -> Self {
        let gap = found - exact;
        let (k_exact, k_gap) = (linalg::mul(k.as_ref(), exact.as_ref()), linalg::mul(k.as_ref(), gap.as_ref()));
        let (f_exact, f_gap) = (linalg::transpose_mul(f, exact.as_ref()), linalg::transpose_mul(f, gap.as_ref()));
        let columns = 0..exact.ncols();
        let dot = |a: &Mat<f64>, b: &Mat<f64>, c: usize| a.col(c).transpose() * b.col(c);
        let square = |c: usize| dot(exact, &k_exact, c);
        let unexplained = |c: usize| (square(c) - f_exact.col(c).squared_norm_l2()).max(0.0);
        let lla = |c: usize| (f_gap.col(c).squared_norm_l2() + unexplained(c)).sqrt();
        SolutionErrors {
            lla: columns.clone().map(lla).collect(),
            gsa: columns.clone().map(|c| dot(&gap, &k_gap, c).max(0.0).sqrt()).collect(),
            bound: Vec::new(),
            exact_norm: columns.map(|c| square(c).max(0.0).sqrt()).collect(),
        }
    }

    /// The same with the bound ‖K − K̃‖₂^½·‖α̃‖ + ‖K‖₂^½·‖α̂ − α̃‖.
    pub fn bounded(mut self, exact: &Mat<f64>, found: &Mat<f64>, gram: &GramErrors) -> Self {
        let bound = |c: usize| {
            let gap = (found.col(c) - exact.col(c)).norm_l2();
            gram.spectral.sqrt() * exact.col(c).norm_l2() + gram.kernel_spectral.sqrt() * gap
        };
        self.bound = (0..exact.ncols()).map(bound).collect();
        self
    }
}

/// K − F·Fᵀ.
struct Difference<'a> {
    k: &'a dyn Operator<f64>,
    f: MatRef<'a, f64>,
}

impl Difference<'_> {
    fn trace(&self) -> Result<f64> {
        let squares: f64 = self.f.col_iter().map(|col| col.squared_norm_l2()).sum();
        Ok((diagonal(self.k)?.iter().sum::<f64>() - squares).max(0.0))
    }

    fn frobenius(&self) -> Result<f64> {
        let all: Vec<usize> = (0..self.nrows()).collect();
        let mut sum = 0.0;
        for rows in all.chunks(TILE) {
            let mut tile = Mat::zeros(rows.len(), all.len());
            self.block(rows, &all, tile.as_mut())?;
            sum += tile.squared_norm_l2();
        }
        Ok(sum.sqrt())
    }

    /// The root of the mean of ‖(K − K̃)ω‖² over Gaussian ω, and its interval of two standard errors.
    fn estimated_frobenius(&self, run: &Run) -> Result<(f64, Option<(f64, f64)>)> {
        let probes =
            random::gaussian::<f64>(self.nrows(), PROBES, &mut random::generator(run.seed, Purpose::GramProbes));
        let mut image = Mat::zeros(self.nrows(), PROBES);
        self.apply(probes.as_ref(), image.as_mut())?;
        let squares: Vec<f64> = image.col_iter().map(|col| col.squared_norm_l2()).collect();
        let count = PROBES as f64;
        let mean = squares.iter().sum::<f64>() / count;
        let variance = squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let half = 1.96 * (variance / count).sqrt();
        Ok((mean.sqrt(), Some(((mean - half).max(0.0).sqrt(), (mean + half).sqrt()))))
    }
}

impl Operator<f64> for Difference<'_> {
    delegated!(k: size);

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
        self.k.block(rows, cols, out.as_mut())?;
        let picked = |which: &[usize]| Mat::from_fn(which.len(), self.f.ncols(), |i, j| self.f[(which[i], j)]);
        linalg::add_mul(out, picked(rows).as_ref(), picked(cols).transpose(), -1.0);
        Ok(())
    }

    fn apply(&self, v: MatRef<'_, f64>, mut out: MatMut<'_, f64>) -> Result<()> {
        self.k.apply(v, out.as_mut())?;
        linalg::add_mul(out, self.f, linalg::transpose_mul(self.f, v).as_ref(), -1.0);
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        self.apply(u, out)
    }
}

fn largest_value(k: &dyn Operator<f64>, run: &Run) -> Result<f64> {
    let run = Run { watch: run.watch.silent(), ..run.clone() };
    let solver = svd::solver::<f64>("lanczos", &Settings::default().with("tol", 1e-9))?;
    Ok(solver.solve(k, 1, &run)?.sigma.first().copied().unwrap_or(0.0))
}

fn diagonal(k: &dyn Operator<f64>) -> Result<Vec<f64>> {
    let all: Vec<usize> = (0..k.nrows()).collect();
    let parts = all.chunks(32).map(|here| {
        let mut block = Mat::zeros(here.len(), here.len());
        k.block(here, here, block.as_mut())?;
        Ok((0..here.len()).map(|i| block[(i, i)]).collect::<Vec<_>>())
    });
    Ok(parts.collect::<Result<Vec<_>>>()?.concat())
}
