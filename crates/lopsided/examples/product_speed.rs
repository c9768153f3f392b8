//! Times G·V for another program that times its own: one product, and one number of seconds, for every line that comes in.
//!
//! ```text
//! cargo run --release --example product_speed -- rbf 0.1 x.npy z.npy v.npy out.npy
//! ```
//!
//! G is evaluated in every product. `-` in place of z.npy stands for Z = X. The product itself goes to out.npy once.

use lopsided::data::io::{self, Input, ReadOptions};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{KernelMatrix, OperatorChoice};
use lopsided::{Error, Mat, Result, Samples};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, gamma, x, z, v, out] = arguments.as_slice() else {
        return Err(Error::param("arguments", arguments.join(" "), "KERNEL GAMMA X Z|- V OUT"));
    };
    let gamma: f64 = gamma.parse().map_err(|_| Error::param("gamma", gamma, "a number"))?;
    let kernel = KernelSpec::new(kernel).with("gamma", gamma).build::<f64>()?;
    let (x, v) = (read(x)?, read(v)?.into_dense());
    let other = if z == "-" { None } else { Some(read(z)?) };
    let z = other.as_ref().unwrap_or(&x);
    let matrix = KernelMatrix { choice: OperatorChoice::Tiles, ..KernelMatrix::new(&*kernel, x.as_ref(), z.as_ref()) };
    let built = matrix.build()?;
    let mut product = Mat::zeros(x.count(), v.ncols());
    built.operator.apply(v.as_ref(), product.as_mut())?;
    let ids: Vec<String> = (0..x.count()).map(|i| i.to_string()).collect();
    io::write_matrix(Path::new(out), &ids, product.as_ref())?;
    let fail = |e| Error::io("standard output", e);
    for _ in std::io::stdin().lines() {
        let start = Instant::now();
        built.operator.apply(v.as_ref(), product.as_mut())?;
        writeln!(std::io::stdout(), "{}", start.elapsed().as_secs_f64()).map_err(fail)?;
    }
    Ok(())
}

fn read(path: &str) -> Result<Samples<f64>> {
    match io::read(Path::new(path), &ReadOptions::default())? {
        Input::Table(table) => Ok(table.samples),
        Input::Graph(..) => Err(Error::param("file", path, "an array")),
    }
}
