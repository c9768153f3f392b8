//! Sets of matrices that are given by their singular values or eigenvalues, and projections onto them.
//!
//! All of them depend on a matrix through its spectrum alone. That is what makes the learners kernelisable (\[KMU\]
//! Section 4), and what turns the projection of a matrix into the projection of a short list of numbers.

/// A rotationally invariant set of matrices; projecting a matrix projects its spectrum.
///
/// ```
/// use lopsided::online::Ball;
///
/// let mut trace = [3.0, 1.0, 0.5];
/// Ball::Trace(2.0).project(&mut trace);
/// assert_eq!(trace, [2.0, 0.0, 0.0]); // soft threshold at 1
/// let mut spectral = [3.0, 1.0, 0.5];
/// Ball::Spectral(2.0).project(&mut spectral);
/// assert_eq!(spectral, [2.0, 1.0, 0.5]); // clipped
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ball {
    /// Σσ_i ≤ B.
    Trace(f64),
    /// σ_1 ≤ B.
    Spectral(f64),
    /// Σσ_i² ≤ B².
    Frobenius(f64),
    /// Symmetric, no eigenvalue below 0, Σλ_i ≤ B.
    Positive(f64),
    /// Symmetric, eigenvalues between 0 and B/k, Σλ_i = B, given as (B, k): scaled density matrices, capped for k > 1.
    Capped(f64, usize),
}

impl Ball {
    /// Its B.
    pub fn radius(self) -> f64 {
        match self {
            Ball::Trace(b) | Ball::Spectral(b) | Ball::Frobenius(b) | Ball::Positive(b) | Ball::Capped(b, _) => b,
        }
    }

    /// The largest Frobenius norm of a member of rank `rank` or less.
    pub fn largest_frobenius(self, rank: usize) -> f64 {
        match self {
            Ball::Spectral(b) => b * (rank as f64).sqrt(),
            Ball::Capped(b, k) => b / (k as f64).sqrt(),
            other => other.radius(),
        }
    }

    /// Replaces a spectrum by the nearest one in the set. \[KMU\] Section 4: clipping for the spectral norm, a soft
    /// threshold for the trace norm.
    pub fn project(self, spectrum: &mut [f64]) {
        match self {
            Ball::Trace(b) => soft_threshold(spectrum, b),
            Ball::Spectral(b) => spectrum.iter_mut().for_each(|v| *v = v.clamp(-b, b)),
            Ball::Frobenius(b) => {
                let norm = spectrum.iter().map(|v| v * v).sum::<f64>().sqrt();
                if norm > b {
                    spectrum.iter_mut().for_each(|v| *v *= b / norm);
                }
            }
            Ball::Positive(b) => {
                spectrum.iter_mut().for_each(|v| *v = v.max(0.0));
                soft_threshold(spectrum, b);
            }
            Ball::Capped(b, k) => capped_simplex(spectrum, b, b / k as f64),
        }
    }

    /// The least value of ⟨G, W⟩ over the set, for G with this spectrum: what bounds how far a solution is from the best.
    ///
    /// The minimum is reached by a matrix with the singular vectors of G: B times the first pair for the trace norm, B
    /// on all of them for the spectral norm, −B·G/‖G‖_F for the Frobenius norm, B/k on the k lowest eigenvectors for
    /// capped density matrices.
    ///
    /// ```
    /// use lopsided::online::Ball;
    ///
    /// assert_eq!(Ball::Trace(2.0).least_product(&[3.0, 1.0]), -6.0);
    /// assert_eq!(Ball::Spectral(2.0).least_product(&[3.0, 1.0]), -8.0);
    /// assert_eq!(Ball::Capped(1.0, 1).least_product(&[3.0, -1.0]), -1.0);
    /// ```
    pub fn least_product(self, spectrum: &[f64]) -> f64 {
        let size = |v: &f64| v.abs();
        match self {
            Ball::Trace(b) => -b * spectrum.iter().map(size).fold(0.0, f64::max),
            Ball::Spectral(b) => -b * spectrum.iter().map(size).sum::<f64>(),
            Ball::Frobenius(b) => -b * spectrum.iter().map(|v| v * v).sum::<f64>().sqrt(),
            Ball::Positive(b) => b * spectrum.iter().copied().fold(0.0, f64::min),
            Ball::Capped(b, k) => {
                let mut ascending = spectrum.to_vec();
                ascending.sort_by(f64::total_cmp);
                b / k as f64 * ascending.iter().take(k).sum::<f64>()
            }
        }
    }
}

/// σ ↦ sign(σ)·(|σ| − τ)₊ with the least τ ≥ 0 for which the sum of sizes is at most `total`.
///
/// With the sizes descending, τ_k = (σ_1 + … + σ_k − B)/k; the largest k for which τ_k < σ_k gives τ.
fn soft_threshold(spectrum: &mut [f64], total: f64) {
    let mut sizes: Vec<f64> = spectrum.iter().map(|v| v.abs()).collect();
    if sizes.iter().sum::<f64>() <= total {
        return;
    }
    sizes.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut tau) = (0.0, 0.0);
    for (count, size) in (1u32..).zip(&sizes) {
        sum += size;
        let candidate = (sum - total) / f64::from(count);
        if candidate >= *size {
            break;
        }
        tau = candidate;
    }
    spectrum.iter_mut().for_each(|v| *v = v.signum() * (v.abs() - tau).max(0.0));
}

/// The nearest point with values between 0 and `cap` that add up to `total`, or to as much as the caps allow.
fn capped_simplex(spectrum: &mut [f64], total: f64, cap: f64) {
    if spectrum.len() as f64 * cap <= total {
        spectrum.fill(cap);
        return;
    }
    let sum = |shift: f64| spectrum.iter().map(|v| (v - shift).clamp(0.0, cap)).sum::<f64>();
    let least = spectrum.iter().copied().fold(f64::INFINITY, f64::min) - cap;
    let most = spectrum.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) = (least, most);
    // Bisection to the last bit: the sum falls with the shift.
    while low < f64::midpoint(low, high) && f64::midpoint(low, high) < high {
        let middle = f64::midpoint(low, high);
        if sum(middle) > total { low = middle } else { high = middle }
    }
    spectrum.iter_mut().for_each(|v| *v = (*v - high).clamp(0.0, cap));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projected(ball: Ball, values: &[f64]) -> Vec<f64> {
        let mut out = values.to_vec();
        ball.project(&mut out);
        out
    }

    #[test]
    fn projections_are_the_ones_of_the_paper() {
        assert_eq!(projected(Ball::Spectral(2.0), &[3.0, 1.0]), [2.0, 1.0]);
        assert_eq!(projected(Ball::Trace(2.0), &[3.0, 2.0, 0.1]), [1.5, 0.5, 0.0]);
        assert_eq!(projected(Ball::Trace(9.0), &[3.0, -2.0]), [3.0, -2.0]);
        assert_eq!(projected(Ball::Frobenius(2.5), &[3.0, 4.0]), [1.5, 2.0]);
        assert_eq!(projected(Ball::Positive(1.0), &[0.7, -3.0, 0.1]), [0.7, 0.0, 0.1]);
        let capped = projected(Ball::Capped(1.0, 2), &[9.0, 0.3, 0.1]);
        assert!((capped[0] - 0.5).abs() < 1e-12 && (capped[1] - 0.35).abs() < 1e-12, "{capped:?}");
    }

    #[test]
    fn no_member_is_nearer_or_has_a_smaller_product() {
        let values = [1.4, -0.9, 0.3, 2.2];
        for ball in
            [Ball::Trace(1.5), Ball::Spectral(0.8), Ball::Frobenius(1.2), Ball::Positive(1.0), Ball::Capped(1.0, 2)]
        {
            let nearest = projected(ball, &values);
            let distance = |w: &[f64]| w.iter().zip(&values).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            for k in 0..400 {
                let raw: Vec<f64> = (0..4).map(|i| (f64::from(k * 7 + i * 13) * 0.37).sin() * 3.0).collect();
                let member = projected(ball, &raw);
                assert!(distance(&member) >= distance(&nearest) - 1e-12, "{ball:?}");
                let product: f64 = member.iter().zip(&values).map(|(a, b)| a * b).sum();
                assert!(product >= ball.least_product(&values) - 1e-12, "{ball:?}");
            }
        }
    }
}
