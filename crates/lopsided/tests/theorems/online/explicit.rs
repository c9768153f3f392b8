//! The plain matrix algorithms: explicit features, full matrices, a decomposition in every trial.

use faer::Mat;
use lopsided::SamplesRef;
use lopsided::online::{LearnerSpec, Loss, StepSize, Trial};

/// Explicit features of a vector.
pub(super) type Features = fn(&[f64]) -> Vec<f64>;

/// The features themselves.
pub(super) fn plain(x: &[f64]) -> Vec<f64> {
    x.to_vec()
}

/// (⟨x, z⟩ + 1)² as a scalar product.
pub(super) fn squares(x: &[f64]) -> Vec<f64> {
    let root = 2f64.sqrt();
    let mut out = vec![1.0];
    for i in 0..x.len() {
        out.push(root * x[i]);
        out.push(x[i] * x[i]);
        out.extend((0..i).map(|j| root * x[i] * x[j]));
    }
    out
}

/// M of a trial.
fn instance(trial: &Trial, features: (Features, Features), normalize: bool) -> Mat<f64> {
    let (x, z) = (trial.instance.left(), trial.instance.right());
    let share = if normalize { 1.0 / trial.instance.rank() as f64 } else { 1.0 };
    let mut m: Option<Mat<f64>> = None;
    for (a, w) in trial.instance.weights().iter().enumerate() {
        let left = vector(x, a, features.0, normalize);
        let right = vector(z, a, features.1, normalize);
        let term = Mat::from_fn(left.len(), right.len(), |i, j| share * w * left[i] * right[j]);
        m = Some(m.map_or(term.clone(), |m| m + term));
    }
    m.unwrap()
}

/// What bounds ‖M‖: Σ|w|·‖φ(x)‖·‖ψ(z)‖.
fn length(trial: &Trial, features: (Features, Features), normalize: bool) -> f64 {
    let share = if normalize { 1.0 / trial.instance.rank() as f64 } else { 1.0 };
    let norm = |v: Vec<f64>| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let term = |(a, w): (usize, &f64)| {
        let left = norm(vector(trial.instance.left(), a, features.0, normalize));
        share * w.abs() * left * norm(vector(trial.instance.right(), a, features.1, normalize))
    };
    trial.instance.weights().iter().enumerate().map(term).sum()
}

fn vector(samples: SamplesRef<'_, f64>, at: usize, features: Features, normalize: bool) -> Vec<f64> {
    let mut raw = vec![0.0; samples.width()];
    samples.for_each(at, |j, v| raw[j] = v);
    let mut out = features(&raw);
    let size = out.iter().map(|v| v * v).sum::<f64>().sqrt();
    if normalize && size > 0.0 {
        out.iter_mut().for_each(|v| *v /= size);
    }
    out
}

/// Predictions of the plain algorithm.
pub(super) fn predictions(spec: &LearnerSpec, trials: &[Trial], features: (Features, Features)) -> Vec<f64> {
    let mut state: Option<Mat<f64>> = None;
    let mut out = Vec::new();
    // What automatic steps depend on: the largest ‖M‖², the largest label and the sum of the squared gradients.
    let (mut size, mut label, mut energy) = (0f64, 0f64, 0f64);
    for (t, trial) in (1u32..).zip(trials) {
        let m = instance(trial, features, spec.normalize);
        let s = state.get_or_insert_with(|| Mat::zeros(m.nrows(), m.ncols()));
        let prediction = dot(&parameter(spec, s), &m);
        out.push(prediction);
        let length = if spec.name == "gd-symmetric" { m.norm_l2() } else { length(trial, features, spec.normalize) };
        size = size.max(length * length);
        label = label.max(if spec.loss == Loss::Gain { 1.0 } else { trial.label.abs() });
        energy += (spec.loss.slope(prediction, trial.label) * length).powi(2);
        let step = match spec.step {
            StepSize::Fixed(size) => size,
            StepSize::Decreasing(size) => size / f64::from(t).sqrt(),
            StepSize::Auto if !spec.name.starts_with("gd-") => 1.0 / f64::from(t).sqrt(),
            StepSize::Auto => match spec.loss {
                Loss::Squared => 0.5 / size,
                Loss::Logistic => 4.0 / size,
                // A slope of 0 moves nothing.
                _ if energy == 0.0 => 0.0,
                _ => label / (size * energy).sqrt(),
            },
            StepSize::Tuned(_) => panic!("twins take given steps"),
        };
        let slope = match spec.name.as_str() {
            "p-norm" if prediction * trial.label <= 0.0 => -trial.label / step,
            "p-norm" => 0.0,
            _ => spec.loss.slope(prediction, trial.label),
        };
        let moved = &*s - faer::Scale(step * slope) * &m;
        *s = projected(spec, &moved);
    }
    out
}

fn dot(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| (i, j))).map(|(i, j)| a[(i, j)] * b[(i, j)]).sum()
}

/// W as a function of what is summed up.
fn parameter(spec: &LearnerSpec, state: &Mat<f64>) -> Mat<f64> {
    let k = spec.params.get("components").unwrap_or(1.0);
    match spec.name.as_str() {
        "meg" | "online-kpca" | "eg-plus" => {
            let in_span = spec.params.get("dimension").is_none();
            assert!(!in_span || spec.loss == Loss::Gain, "zero eigenvalues mean the outside only for gains");
            by_eigenvalues(state, |h| {
                let most = h.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let raw: Vec<f64> =
                    h.iter().map(|v| if in_span && v.abs() < 1e-9 { 0.0 } else { (v - most).exp() }).collect();
                capped(&raw, k).iter().map(|w| k * w).collect()
            })
        }
        "p-norm" => {
            let p = spec.params.get("power").unwrap_or(4.0);
            by_singular_values(state, |s| {
                let norm = s.iter().map(|v| v.powf(p)).sum::<f64>().powf(1.0 / p);
                s.iter().map(|v| if norm > 0.0 { v.powf(p - 1.0) / norm.powf(p - 2.0) } else { 0.0 }).collect()
            })
        }
        _ => state.clone(),
    }
}

/// Weights that add up to 1 and none above 1/k: cap, scale the rest, repeat.
fn capped(raw: &[f64], k: f64) -> Vec<f64> {
    let mut fixed = vec![false; raw.len()];
    loop {
        let count = fixed.iter().filter(|f| **f).count() as f64;
        let rest: f64 = raw.iter().zip(&fixed).filter(|(_, f)| !**f).map(|(v, _)| v).sum();
        let scale = if rest > 0.0 { (1.0 - count / k) / rest } else { 0.0 };
        let weights: Vec<f64> = raw.iter().zip(&fixed).map(|(v, f)| if *f { 1.0 / k } else { v * scale }).collect();
        let Some(over) = weights.iter().position(|w| *w > (1.0 + 1e-12) / k) else { return weights };
        let most = (0..raw.len()).filter(|i| !fixed[*i]).max_by(|a, b| raw[*a].total_cmp(&raw[*b])).unwrap_or(over);
        fixed[most] = true;
    }
}

fn projected(spec: &LearnerSpec, w: &Mat<f64>) -> Mat<f64> {
    let free = spec.step == StepSize::Auto && spec.loss != Loss::Gain;
    let radius = spec.params.get("radius").unwrap_or(if free { f64::INFINITY } else { 1.0 });
    match spec.name.as_str() {
        "gd-trace" => by_singular_values(w, |s| thresholded(s, radius)),
        "gd-spectral" => by_singular_values(w, |s| s.iter().map(|v| v.min(radius)).collect()),
        "gd-frobenius" => faer::Scale((radius / w.norm_l2().max(1e-300)).min(1.0)) * w,
        "gd-symmetric" => by_eigenvalues(w, |v| thresholded(&v.iter().map(|v| v.max(0.0)).collect::<Vec<_>>(), radius)),
        _ => w.clone(),
    }
}

/// (σ − τ)₊ with τ by bisection.
fn thresholded(values: &[f64], total: f64) -> Vec<f64> {
    let cut = |tau: f64| values.iter().map(|v| (v - tau).max(0.0)).collect::<Vec<f64>>();
    if values.iter().sum::<f64>() <= total {
        return values.to_vec();
    }
    let (mut low, mut high) = (0.0, values.iter().copied().fold(0.0, f64::max));
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if cut(middle).iter().sum::<f64>() > total { low = middle } else { high = middle }
    }
    cut(high)
}

fn by_singular_values(w: &Mat<f64>, f: impl Fn(&[f64]) -> Vec<f64>) -> Mat<f64> {
    let svd = w.thin_svd().unwrap();
    let values: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    rebuilt(svd.U().to_owned(), &f(&values), svd.V().to_owned())
}

fn by_eigenvalues(w: &Mat<f64>, f: impl Fn(&[f64]) -> Vec<f64>) -> Mat<f64> {
    let eigen = w.self_adjoint_eigen(faer::Side::Lower).unwrap();
    let values: Vec<f64> = eigen.S().column_vector().iter().copied().collect();
    rebuilt(eigen.U().to_owned(), &f(&values), eigen.U().to_owned())
}

fn rebuilt(u: Mat<f64>, values: &[f64], v: Mat<f64>) -> Mat<f64> {
    Mat::from_fn(u.nrows(), values.len(), |i, j| u[(i, j)] * values[j]) * v.transpose()
}
