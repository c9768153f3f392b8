use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose, normal};
use faer::Mat;

/// A stream of projections onto subspaces near a fixed one, for online principal component analysis.
///
/// Each is given by `rank` orthonormal rows: those of a fixed random basis, moved by `noise` times random directions of length
/// 1. Without noise all are the same; with much of it every direction is as good as any other.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::data::synth::NoisyProjections;
///
/// let stream = NoisyProjections { trials: 3, dimension: 5, rank: 2, noise: 0.1, seed: 1 }.generate()?;
/// assert_eq!((stream.len(), stream[0].shape()), (3, (2, 5)));
/// let gram = &stream[2] * stream[2].transpose();
/// assert!((gram - Mat::<f64>::identity(2, 2)).norm_max() < 1e-12); // orthonormal rows
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyProjections {
    /// Number of projections.
    pub trials: usize,
    /// Number of coordinates, at least `rank`.
    pub dimension: usize,
    /// Dimension of each subspace, at least 1.
    pub rank: usize,
    /// Length of what is added to each basis vector, at least 0.
    pub noise: f64,
    /// Seed.
    pub seed: u64,
}

impl NoisyProjections {
    /// The projections, each by orthonormal rows.
    ///
    /// # Errors
    /// [`Error::Param`] for a parameter outside its range.
    pub fn generate(&self) -> Result<Vec<Mat<f64>>> {
        if self.rank == 0 || self.rank > self.dimension {
            return Err(Error::param("rank", self.rank, format!("between 1 and the dimension {}", self.dimension)));
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return Err(Error::param("noise", self.noise, "a number of at least 0"));
        }
        let mut rng = random::generator(self.seed, Purpose::Projections);
        let basis = orthonormal(&random::gaussian(self.dimension, self.rank, &mut rng));
        let mut projections = Vec::with_capacity(self.trials);
        for _ in 0..self.trials {
            let mut moved = basis.clone();
            for column in moved.col_iter_mut() {
                let random: Vec<f64> = (0..self.dimension).map(|_| normal(&mut rng)).collect();
                let length = random.iter().map(|v| v * v).sum::<f64>().sqrt();
                column.iter_mut().zip(&random).for_each(|(c, r)| *c += self.noise * r / length);
            }
            projections.push(orthonormal(&moved).transpose().to_owned());
        }
        Ok(projections)
    }
}

/// Orthonormal columns with the same span.
fn orthonormal(columns: &Mat<f64>) -> Mat<f64> {
    columns.qr().compute_thin_Q()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_orthonormal_and_nearer_with_less_noise() {
        let recipe = NoisyProjections { trials: 20, dimension: 12, rank: 3, noise: 0.3, seed: 1 };
        let all = recipe.generate().unwrap();
        let gram = &all[4] * all[4].transpose();
        assert!((gram - Mat::<f64>::identity(3, 3)).norm_max() < 1e-12);
        let alike = |all: &[Mat<f64>]| (&all[0] * all[1].transpose()).norm_l2();
        let noisy = NoisyProjections { noise: 5.0, ..recipe.clone() }.generate().unwrap();
        assert!(alike(&all) > alike(&noisy));
        assert!(NoisyProjections { rank: 13, ..recipe }.generate().is_err());
    }
}
