use super::Scratch;

/// The folder with the real data sets, if there is one.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(super) fn data() -> Option<String> {
    let folder = std::env::var("LOPSIDED_DATA").ok().filter(|folder| !folder.is_empty());
    if folder.is_none() {
        println!("skipped: LOPSIDED_DATA is not set");
    }
    folder
}

#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn cora_has_the_known_singular_values() {
    let Some(data) = data() else { return };
    let json = Scratch::new().json(&format!("embed {data}/cora/edges.csv --kernel precomputed --rank 3"));
    for (at, expected) in [1.462_287_56, 1.425_679_50, 1.404_638_18].into_iter().enumerate() {
        let value = json["singular_values"][at].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-7, "{at}: {value}");
    }
}

#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn pubmed_is_embedded_in_little_memory() {
    let Some(data) = data() else { return };
    let json = Scratch::new().json(&format!(
        "embed {data}/pubmed/edges.csv.gz --kernel sne --gamma ksvd --gamma-factor 0.5 --rank 20 --tol 1e-6 --links in"
    ));
    assert_eq!(json["converged"], true);
    assert!(json["residual"].as_f64().unwrap() <= 1e-6, "{json}");
    assert_eq!(json["operator"], "sparse");
    assert!(json["peak_bytes"].as_f64().unwrap() < 250e6, "{}", json["peak_bytes"]);
}
