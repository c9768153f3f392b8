//! Estimators: parameters with `fit`, which gives a model with `predict`.

pub mod linear;
