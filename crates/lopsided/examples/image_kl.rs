//! Classifies images by the KL kernel between mixtures, as \[AsKLS\] §4.1 does: AsK-LS against the LS-SVM of the symmetric kernel.
//!
//! Makes grey images of several textures, cuts them into 8 × 8 blocks, takes their discrete cosine transforms as points, fits a
//! mixture of Gaussians to the points of each image, and learns from the divergences of the mixtures.
//!
//! ```text
//! cargo run --release --example image_kl -- IMAGES_PER_CLASS NOISE
//! ```

use lopsided::data::synth::TexturedImages;
use lopsided::estimators::distributions::{DiagonalMixture, MixtureFit, cosine_blocks, kl_matrix};
use lopsided::estimators::linear::largest_columns;
use lopsided::metrics::{accuracy, split};
use lopsided::operator::DenseOperator;
use lopsided::solvers::linsys::CoupledSystem;
use lopsided::{Error, Mat, Result, Run};

/// Points that estimate a divergence.
const SAMPLES: usize = 200;
const PENALTY: f64 = 10.0;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut recipe = TexturedImages { per_class: 12, ..TexturedImages::default() };
    if let Some(text) = arguments.first() {
        recipe.per_class = text.parse().map_err(|_| Error::param("images per class", text, "a whole number"))?;
    }
    if let Some(text) = arguments.get(1) {
        recipe.noise = text.parse().map_err(|_| Error::param("noise", text, "a number"))?;
    }
    let run = Run::default();
    let (images, classes) = recipe.generate()?;
    let mixtures = images.iter().map(|image| mixture(image, &run)).collect::<Result<Vec<_>>>()?;
    let divergences = kl_matrix(&mixtures, &mixtures, SAMPLES, &run)?;
    let gamma = 1.0 / mean(&divergences.values);
    report(&format!(
        "{} images, mean divergence {:.1}, its standard error {:.1}",
        images.len(),
        1.0 / gamma,
        mean(&divergences.errors)
    ));
    let symmetric = divergences.symmetric_kernel(gamma)?;
    for (name, kernel) in [("AsK-LS, KL kernel", divergences.kernel(gamma)), ("LS-SVM, symmetric KL kernel", symmetric)]
    {
        let share = held_out_accuracy(&kernel, &classes, &run)?;
        report(&format!("{name}: accuracy {share:.3} on held-out images"));
    }
    Ok(())
}

#[allow(clippy::print_stdout)] // it is what the example is for
fn report(line: &str) {
    println!("{line}");
}

/// The distribution of an image's blocks.
fn mixture(image: &Mat<f64>, run: &Run) -> Result<DiagonalMixture> {
    let points = cosine_blocks(image.as_ref(), 4)?;
    Ok(MixtureFit::new(4).with_restarts(1).with_floor(1e-3).fit(points.as_ref(), run)?.mixture)
}

fn mean(m: &Mat<f64>) -> f64 {
    m.sum() / (m.nrows() * m.ncols()) as f64
}

/// Learns from two thirds of the samples, one class against the rest, and predicts the others by the average of both functions.
fn held_out_accuracy(kernel: &Mat<f64>, classes: &[u32], run: &Run) -> Result<f64> {
    let (train, test) = split(classes.len(), 2.0 / 3.0, 1);
    let part = |rows: &[usize], cols: &[usize]| Mat::from_fn(rows.len(), cols.len(), |i, j| kernel[(rows[i], cols[j])]);
    let count = classes.iter().max().map_or(0, |c| *c as usize + 1);
    let targets = Mat::from_fn(train.len(), count, |i, c| if classes[train[i]] as usize == c { 1.0 } else { -1.0 });
    let system = CoupledSystem { penalty: PENALTY, ..CoupledSystem::default() };
    let solved = system.solve(&DenseOperator::Owned(part(&train, &train)), targets.as_ref(), run)?;
    let source = part(&test, &train) * &solved.b;
    let target = part(&train, &test).transpose() * &solved.a;
    let bias = |c: usize| solved.bias_source[c] + solved.bias_target[c];
    let decision = Mat::from_fn(test.len(), count, |i, c| (source[(i, c)] + target[(i, c)] + bias(c)) / 2.0);
    let truth: Vec<u32> = test.iter().map(|&i| classes[i]).collect();
    Ok(accuracy(&truth, &largest_columns(decision.as_ref())))
}
