//! Decompositions that converged and say nothing.

use crate::base::scalar::Scalar;
use crate::solvers::svd::Svd;
use faer::MatRef;

/// Components from which on equal singular values, and samples from which on equal rows, are no accident.
const COMPONENTS: usize = 4;
const SAMPLES: usize = 20;
/// Spread of singular values, relative to the largest of them, that is none.
const EQUAL: f64 = 1e-3;
/// Share of the rows that is nearly all of them, and how near to each other they are, relative to the largest entry.
const NEARLY_ALL: f64 = 0.95;
const ONE_POINT: f64 = 1e-6;

/// What a user should know of features that tell samples hardly apart.
pub(super) fn remarks<T: Scalar>(svd: &Svd<T>) -> Vec<String> {
    let sigma: Vec<f64> = svd.sigma.iter().map(|s| s.as_f64()).collect();
    let last = sigma.len();
    let flat = last >= COMPONENTS && sigma[1] > 0.0 && sigma[1] - sigma[last - 1] <= EQUAL * sigma[1];
    let equal = flat.then(|| {
        format!(
            "singular values 2 to {last} are nearly equal ({:.3e} to {:.3e}): the kernel sees hardly more than which samples are \
             the same; a wider one, such as --gamma-factor 3, may help",
            sigma[1],
            sigma[last - 1]
        )
    });
    let crowded = |(side, vectors): (&str, MatRef<'_, T>)| {
        let (count, n) = (at_one_point(vectors), vectors.nrows());
        (n >= SAMPLES && count as f64 >= NEARLY_ALL * n as f64)
            .then(|| format!("{count} of {n} {side} have the same features: the kernel does not tell them apart"))
    };
    let sides = [("rows", svd.u.as_ref()), ("columns", svd.v.as_ref())];
    equal.into_iter().chain(sides.into_iter().filter_map(crowded)).collect()
}

/// Rows that are where the middle of every component is.
fn at_one_point<T: Scalar>(vectors: MatRef<'_, T>) -> usize {
    let largest = vectors.norm_max().as_f64();
    let middle = |column: faer::ColRef<'_, T>| {
        let mut values: Vec<f64> = column.iter().map(|v| v.as_f64()).collect();
        let at = values.len() / 2;
        *values.select_nth_unstable_by(at, f64::total_cmp).1
    };
    if vectors.nrows() == 0 {
        return 0;
    }
    let point: Vec<f64> = vectors.col_iter().map(middle).collect();
    let near =
        |row: faer::RowRef<'_, T>| row.iter().zip(&point).all(|(v, p)| (v.as_f64() - p).abs() <= ONE_POINT * largest);
    vectors.row_iter().filter(|row| near(*row)).count()
}

#[cfg(test)]
mod tests {
    use crate::base::Run;
    use crate::data::dataset::Dataset;
    use crate::data::samples::Samples;
    use crate::data::synth;
    use crate::estimators::KernelSvd;
    use crate::kernel::Gamma;
    use faer::Mat;

    fn notes(x: Mat<f64>, gamma: f64) -> Vec<String> {
        let svd = KernelSvd::new("rbf").with_gamma(Gamma::Value(gamma)).with_rank(5);
        svd.fit(Dataset::new(Samples::Dense(x)), &Run::default()).unwrap().report().notes.clone()
    }

    #[test]
    fn features_that_say_nothing_are_recognised() {
        let x = synth::gaussian::<f64>(60, 3, 1);
        let has = |notes: &[String], word: &str| notes.iter().any(|note| note.contains(word));
        let good = notes(x.clone(), 0.3);
        assert!(!has(&good, "nearly equal") && !has(&good, "same features"), "{good:?}");
        // So narrow that no sample sees another one.
        let narrow = notes(x.clone(), 1e6);
        assert!(has(&narrow, "singular values 2 to 5 are nearly equal"), "{narrow:?}");
        // All but two samples are copies.
        let copies = notes(Mat::from_fn(60, 3, |i, j| if i < 2 { x[(i, j)] } else { 1.0 }), 0.3);
        assert!(has(&copies, "58 of 60 rows have the same features"), "{copies:?}");
    }
}
