//! Many scores in two numbers.

/// Mean and standard deviation of a sample.
///
/// ```
/// use lopsided::evaluation::Spread;
///
/// let found = Spread::of([1.0, 3.0]);
/// assert_eq!(found.mean, 2.0);
/// assert!((found.deviation - 2.0_f64.sqrt()).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spread {
    /// Mean; NaN without values.
    pub mean: f64,
    /// Standard deviation with n − 1; 0 for one value.
    pub deviation: f64,
}

impl Spread {
    /// Of these values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let deviation = if values.len() < 2 { 0.0 } else { (squares / (values.len() - 1) as f64).sqrt() };
        Spread { mean, deviation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_no_spread() {
        assert!(Spread::of([3.0]).deviation.abs() < 1e-15);
    }
}
