//! Theorems the library relies on, as properties of random inputs, against naive twins.

#![expect(clippy::print_stderr, reason = "tests say when they are skipped")]

mod ask_ls;
mod compat;
mod coupled;
mod defaults;
mod directions;
mod folds;
mod graph_kernels;
mod kernel_machines;
mod kernels;
mod kl;
mod landmark_machines;
mod linear_machines;
mod model;
mod naive;
mod node_features;
mod nu_svm;
mod nystrom;
mod nystrom_machine;
mod online;
mod open;
mod operators;
mod predictor;
mod preparation;
mod prepared;
mod real_data;
mod solvers;
mod svm;
mod symmetric;
mod tasks;
mod weighted;
