//! Theorems the library relies on, as properties of random inputs, against naive twins.

mod kernels;
mod model;
mod naive;
mod operators;
mod real_data;
mod solvers;
mod tasks;
