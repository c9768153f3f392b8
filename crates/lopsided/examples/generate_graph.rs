//! Writes an edge list of a random graph with a heavy-tailed, capped in-degree, or one with a few enormous hubs.
//!
//! ```text
//! cargo run --release --example generate_graph -- 1000000 5000000 1000 graph.csv
//! cargo run --release --example generate_graph -- 1000000 5000000 hubs=3 hubs.csv
//! ```

use lopsided::base::file;
use lopsided::data::synth;
use lopsided::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [nodes, links, shape, path] = arguments.as_slice() else {
        return Err(Error::param("arguments", arguments.join(" "), "NODES LINKS MAX_IN_DEGREE|hubs=N FILE"));
    };
    let number = |name, text: &str| text.parse().map_err(|_| Error::param(name, text, "a whole number"));
    let (nodes, links) = (number("nodes", nodes)?, number("links", links)?);
    let graph = match shape.strip_prefix("hubs=") {
        Some(hubs) => synth::hub_graph(nodes, links, number("hubs", hubs)?, 1)?,
        None => synth::random_graph(nodes, links, number("max in-degree", shape)?, 1)?,
    };
    file::write_atomically(Path::new(path), |out| {
        let fail = |e| Error::io(path, e);
        writeln!(out, "source,target").map_err(fail)?;
        for source in 0..graph.nodes() {
            for target in graph.adjacency().as_ref().row(source).0 {
                writeln!(out, "{source},{target}").map_err(fail)?;
            }
        }
        Ok(())
    })
}
