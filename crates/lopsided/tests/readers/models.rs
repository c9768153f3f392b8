//! Models of every estimator and learner, changed in their bytes, their metadata and their arrays: what is read is used, and
//! neither panics.

use super::{many, mutate, seed};
use lopsided::base::settings::Settings;
use lopsided::data::archive::Archive;
use lopsided::data::synth;
use lopsided::estimators::{Fitted, catalogue};
use lopsided::online::{Instance, LearnerSpec, StepSize, learners};
use lopsided::{Dataset, Graph, GraphRule, Mat, Run, Samples, Side, Target};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn table() -> Dataset<f64> {
    let x = synth::gaussian::<f64>(24, 3, 5);
    let codes = (0..24).map(|i| Some(u32::from(x[(i, 0)] + x[(i, 1)] > 0.0))).collect();
    let y = Target::Classes { names: vec!["no".into(), "yes".into()], codes };
    Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) }
}

fn nodes() -> Dataset<f64> {
    let links: Vec<(u32, u32, f64)> = (0..90).map(|k| (k % 30, (k * 7 + k / 30 * 3) % 30, 1.0)).collect();
    let graph = Graph::new((0..30).map(|i| format!("n{i}")).collect(), &links).unwrap();
    let codes = (0..30).map(|i| Some(i % 2)).collect();
    let y = Target::Classes { names: vec!["no".into(), "yes".into()], codes };
    Dataset { y: Some(y), ..Dataset::from_graph(&graph, &GraphRule::default()).unwrap() }
}

/// A model of every estimator that takes these data, as its file, with the data that it is asked about.
fn models() -> Vec<(String, Vec<u8>, Dataset<f64>)> {
    let mut out = Vec::new();
    for member in catalogue::<f64>() {
        for (kind, data) in [("table", table()), ("nodes", nodes())] {
            for given in [Settings::default(), Settings::default().with("rank", 3).with("kernel", "rbf")] {
                let fitted = member.build(given, &data).and_then(|learner| learner.fit(data.clone(), &Run::default()));
                // Not everything learns from everything.
                let Ok(bytes) = fitted.and_then(|model| model.archive().to_bytes()) else { continue };
                out.push((format!("{} of {kind}", member.name), bytes, data.clone()));
            }
        }
    }
    out
}

/// A checkpoint of every online learner.
fn states() -> Vec<(String, Vec<u8>)> {
    let state = |name: &'static str| {
        let spec = LearnerSpec::new(name).with_step(StepSize::Fixed(0.1));
        let mut learner = spec.build().or_else(|_| spec.with("features", 3).build()).ok()?;
        for t in 0..9 {
            let x = [f64::from(t % 3) / 3.0, f64::from(t % 2) / 2.0, 0.25];
            let instances = [Instance::pair(&x, &[x[1], x[2]]), Instance::symmetric(&x)];
            instances.iter().find_map(|instance| learner.update(instance, f64::from(t % 2)).ok());
        }
        Some((name.to_string(), learner.checkpoint().to_bytes().ok()?))
    };
    learners().iter().filter_map(|entry| state(entry.name)).collect()
}

/// Loads a file and uses whatever it holds.
fn used(bytes: &[u8], data: &Dataset<f64>) {
    let Ok(archive) = Archive::from_bytes(bytes, "model") else { return };
    let run = Run::default();
    if let Ok(mut learner) = LearnerSpec::restore(&archive) {
        let x = [0.5, 0.25, 1.0];
        for instance in [Instance::pair(&x, &x[1..]), Instance::symmetric(&x)] {
            let _ = learner.update(&instance, 1.0);
        }
    }
    let Ok(model) = Fitted::<f64>::from_archive(&archive) else { return };
    let _ = model.archive().to_bytes();
    let _ = model.onnx();
    for side in [Side::Row, Side::Col] {
        let _ = model.transform(side, data.x.as_ref(), &run);
        let _ = model.transform(side, Samples::Dense(Mat::from_fn(2, 3, |_, _| 0.5)).as_ref(), &run);
    }
    if let Ok(predictor) = model.predictor() {
        if let Ok(decision) = predictor.decision(data, &run) {
            let _ = predictor.answer().words(decision.as_ref());
        }
        let _ = predictor.probabilities(data, &run);
    }
}

/// Header, metadata and arrays of a file.
fn split(bytes: &[u8]) -> (Value, Value, Vec<u8>) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let meta = serde_json::from_str(header["__metadata__"]["lopsided"].as_str().unwrap()).unwrap();
    (header, meta, bytes[8 + length..].to_vec())
}

fn joined(mut header: Value, meta: &Value, arrays: &[u8]) -> Vec<u8> {
    header["__metadata__"]["lopsided"] = meta.to_string().into();
    let text = header.to_string();
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), arrays].concat()
}

/// Places of all leaves, and of what holds them.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_string());
    match value {
        Value::Object(map) => map.iter().for_each(|(name, inner)| {
            places(inner, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), out);
        }),
        Value::Array(list) => {
            list.iter().take(3).enumerate().for_each(|(k, inner)| places(inner, &format!("{at}/{k}"), out));
        }
        _ => {}
    }
}

fn wrong() -> Vec<Value> {
    let numbers = [0.0, -1.0, 1.0, 2.0, 7.0, 1e9, 1e15, 1e300, -1e300, 1e-320];
    let whole = [u64::MAX, 1 << 63, 1 << 32, 1 << 31];
    let others = [
        json!(null),
        json!(true),
        json!(""),
        json!("nan"),
        json!([]),
        json!({}),
        json!([1, 2]),
        json!("x".repeat(300)),
    ];
    numbers.map(Value::from).into_iter().chain(whole.map(Value::from)).chain(others).collect()
}

/// One change of the metadata, the sizes of arrays or their numbers.
fn changed(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let (mut header, mut meta, mut arrays) = split(bytes);
    let wrong = wrong();
    let any = |rng: &mut ChaCha8Rng| wrong[rng.random_range(0..wrong.len())].clone();
    match rng.random_range(0..5) {
        0..=2 => {
            let mut all = Vec::new();
            places(&meta, "", &mut all);
            let place = &all[rng.random_range(1..all.len().max(2)).min(all.len() - 1)];
            if let Some(leaf) = meta.pointer_mut(place) {
                *leaf = any(rng);
            }
        }
        3 => {
            let mut all = Vec::new();
            places(&header, "", &mut all);
            let place = &all[rng.random_range(0..all.len())];
            if !place.starts_with("/__metadata__") && !place.is_empty() {
                *header.pointer_mut(place).unwrap() = any(rng);
            }
        }
        _ if !arrays.is_empty() => {
            for _ in 0..rng.random_range(1..5) {
                let at = rng.random_range(0..arrays.len()) / 8 * 8;
                let number = [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0, -1.0, f64::from_bits(rng.random())];
                let word = number[rng.random_range(0..number.len())].to_le_bytes();
                arrays.iter_mut().skip(at).zip(word).for_each(|(byte, new)| *byte = new);
            }
        }
        _ => {}
    }
    joined(header, &meta, &arrays)
}

#[test]
fn changed_models_neither_panic_nor_exhaust_memory() {
    let (models, states) = (models(), states());
    assert!(models.len() > 20 && states.len() > 5, "{} models, {} states", models.len(), states.len());
    let states = states.into_iter().map(|(name, bytes)| (name, bytes, table()));
    let all: Vec<_> = models.into_iter().chain(states).collect();
    lopsided::base::memory::allow(256 << 20);
    let mut rng = ChaCha8Rng::seed_from_u64(seed(3));
    for round in 0..many(400) {
        let (name, bytes, data) = &all[round % all.len()];
        let damaged = if round % 4 == 0 { mutate(bytes, &mut rng) } else { changed(bytes, &mut rng) };
        let outcome = catch_unwind(AssertUnwindSafe(|| used(&damaged, data)));
        if outcome.is_err() {
            let kept = std::env::temp_dir().join(format!("lopsided-trust-{round}.model"));
            std::fs::write(&kept, damaged).unwrap();
            panic!("the model of {name} panics: {}", kept.display());
        }
    }
    lopsided::base::memory::allow(0);
}
