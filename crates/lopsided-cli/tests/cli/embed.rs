use super::{Scratch, largest_difference, npy};

#[test]
fn a_graph_is_embedded_saved_and_placed_again() {
    for kernel in ["sne", "rbf --center", "t", "precomputed", "linear --scaling sqrt"] {
        let scratch = Scratch::new();
        scratch.graph();
        scratch.ok(&format!(
            "embed edges.csv --kernel {kernel} --rank 5 --rows-out r.npy --cols-out c.npy --model g.model --quiet"
        ));
        scratch.ok("transform g.model --rows edges.csv --cols edges.csv --out t.npy");
        for (trained, placed) in [("r.npy", "t.rows.npy"), ("c.npy", "t.cols.npy")] {
            let (shape, values) = npy(&scratch.path(trained));
            assert_eq!(shape, "(60, 5)");
            assert!(largest_difference(&values, &npy(&scratch.path(placed)).1) < 1e-8, "{kernel} {placed}");
        }
    }
}

#[test]
fn ids_are_written_back() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.ok("embed edges.csv --rank 2 --rows-out r.csv --cols-out c.parquet --quiet");
    let csv = String::from_utf8(scratch.bytes("r.csv")).unwrap();
    assert!(csv.starts_with("id,c0,c1\nn0,"), "{csv}");
    assert_eq!(csv.lines().last().unwrap().split(',').next(), Some("alone"));
    assert!(scratch.bytes("c.parquet").starts_with(b"PAR1"));
}

#[test]
fn bytes_do_not_depend_on_threads_or_runs() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.table("x.csv", 700, 4);
    for input in ["edges.csv", "x.csv --cols x.csv --target none --format csv --kernel rbf --operator tiles"] {
        let run = |threads: u32, name: &str| {
            scratch
                .ok(&format!("embed {input} --rank 6 --threads {threads} --rows-out {name}.npy --model {name}.model"));
            (scratch.bytes(&format!("{name}.npy")), npy(&scratch.path(&format!("{name}.npy"))).0)
        };
        let first = run(1, "a");
        assert_eq!(first, run(1, "b"), "{input}");
        assert_eq!(first, run(2, "c"), "{input}");
        assert_eq!(first, run(4, "d"), "{input}");
    }
}

#[test]
fn json_has_the_promised_fields() {
    let scratch = Scratch::new();
    scratch.graph();
    let json = scratch.json("embed edges.csv --kernel sne --gamma ksvd --gamma-factor 0.5 --rank 4");
    assert_eq!((&json["n"], &json["m"], &json["rank"]), (&60.into(), &60.into(), &4.into()));
    assert_eq!(json["kernel"], "sne");
    assert_eq!(json["singular_values"].as_array().unwrap().len(), 4);
    assert_eq!((&json["converged"], &json["error_estimate"]), (&true.into(), &serde_json::Value::Null));
    for number in ["gamma", "residual", "operator_products", "kernel_evaluations", "seconds", "peak_bytes"] {
        assert!(json[number].is_number(), "{number}: {json}");
    }
    for text in ["operator", "solver", "scaling", "precision"] {
        assert!(json[text].is_string(), "{text}: {json}");
    }
    assert!(json["why"].is_object() && json["notes"].is_array());
    assert_eq!(scratch.json("embed edges.csv --kernel linear --rank 2")["gamma"], serde_json::Value::Null);
}

#[test]
fn a_dry_run_plans_and_writes_nothing() {
    let scratch = Scratch::new();
    scratch.graph();
    let json = scratch.json("embed edges.csv --rank 4 --dry-run --rows-out r.npy --model m");
    assert_eq!(json["dry_run"], true);
    for field in ["n", "m", "rank", "bytes", "seconds"] {
        assert!(json[field].is_number(), "{field}: {json}");
    }
    assert!(json["operator"].is_string() && json["solver"].is_string());
    assert!(scratch.ok("embed edges.csv --dry-run").contains("memory"));
    assert_eq!(scratch.files(), ["edges.csv"]);
}

#[test]
fn missing_accuracy_is_exit_code_one_with_a_result() {
    let scratch = Scratch::new();
    scratch.table("x.csv", 600, 6);
    let words = "embed x.csv --cols x.csv --target none --kernel laplacian --gamma 5 --rank 40 \
                 --solver randomized --tol 1e-14 --rows-out r.npy --json";
    let output = scratch.run(words);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["converged"], false, "{json}");
    assert_eq!(output.status.code(), Some(1));
    assert!(scratch.path("r.npy").is_file());
}

#[test]
fn the_default_rank_fits_small_data() {
    let scratch = Scratch::new();
    scratch.table("x.csv", 5, 5);
    assert_eq!(scratch.json("embed x.csv --target none --kernel rbf")["rank"], 5);
    scratch.table("wide.csv", 3, 9);
    assert_eq!(scratch.json("embed wide.csv --target none --kernel precomputed")["operator"], "precomputed");
}

#[test]
fn a_list_names_nodes_without_links() {
    let labels = "node,label\na,red\nd,blue\n";
    let links = "source,target\na,b\nb,c\nc,a\n";
    let scratch = Scratch::with(&[("e.csv", links), ("labels.csv", labels), ("nodes.txt", "e\nd\n")]);
    let json = scratch.json("embed e.csv --labels labels.csv --nodes nodes.txt --rank 2 --report page.html");
    assert_eq!(json["n"], 5);
    let page = String::from_utf8(scratch.bytes("page.html")).unwrap();
    for words in ["blue", "without label", "Singular values of G", "<svg"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_capped_graph_says_what_it_left_out() {
    let scratch = Scratch::new();
    scratch.graph();
    let output = scratch.run("embed edges.csv --max-degree 2 --rank 3");
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && talk.contains("links were left out"), "{talk}");
    assert!(scratch.run("embed edges.csv --max-degree 2 --rank 3 --quiet").stderr.is_empty());
}

#[test]
fn models_keep_their_precision() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.ok("embed edges.csv --precision f32 --rank 3 --model m --rows-out r.npy");
    assert_eq!(scratch.json("inspect m")["precision"], "f32");
    assert_eq!(scratch.json("transform m --rows edges.csv --out t.npy")["precision"], "f32");
    assert!(String::from_utf8_lossy(&scratch.bytes("t.npy")).contains("<f4"));
}

#[test]
fn nystrom_estimates_its_error_and_keeps_its_bytes() {
    let scratch = Scratch::new();
    scratch.table("x.csv", 600, 6);
    let input = "embed x.csv --cols x.csv --target none --kernel rbf --gamma 0.01 --rank 4 --solver nystrom";
    let json = scratch.json(&format!("{input} --tol 1e-4"));
    assert_eq!((&json["solver"], &json["converged"]), (&"nystrom".into(), &true.into()), "{json}");
    assert!(json["error_estimate"].as_f64().unwrap() < 1.0 && json["landmarks"][0].as_u64().unwrap() >= 64, "{json}");
    assert!(scratch.ok(&format!("{input} --tol 1e-4")).contains("landmarks"));
    for options in
        ["--tol 0.5 --rows-sample 50 --sampler norms", "--tol 0.5 --rows-sample 40 --cols-sample 60 --no-polish"]
    {
        let run = |threads: u32, name: &str| {
            scratch.rough(&format!("{input} {options} --threads {threads} --rows-out {name}.npy --model {name}.model"));
            scratch.bytes(&format!("{name}.npy"))
        };
        assert_eq!(run(1, "a"), run(2, "b"), "{options}");
        assert_eq!(run(1, "a"), run(4, "b"), "{options}");
        scratch.ok("transform a.model --rows x.csv --target none --out t.npy");
        let (own, placed) = (npy(&scratch.path("a.npy")).1, npy(&scratch.path("t.npy")).1);
        if options.contains("no-polish") {
            assert!(largest_difference(&own, &placed) < 1e-9);
        }
    }
    let baseline = scratch.run(&format!("{input} --solver symmetric-nystrom --json").replace("--solver nystrom ", ""));
    let json: serde_json::Value = serde_json::from_slice(&baseline.stdout).unwrap();
    assert!(json["error_estimate"].is_number(), "{json}");
}

#[test]
fn the_library_writes_the_same_bytes() {
    use lopsided::data::io;
    use lopsided::{Dataset, GraphRule, KernelSvd, Run};
    let scratch = Scratch::new();
    let path = scratch.graph();
    scratch.ok("embed edges.csv --kernel sne --gamma ksvd --normalize row --rank 5 --model program --quiet");
    let io::Input::Graph(graph, _) = io::read::<f64>(&path, &io::ReadOptions::default()).unwrap() else { panic!() };
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    let svd = KernelSvd::new("sne").with_gamma("ksvd".parse().unwrap()).with_rank(5);
    svd.fit(data, &Run::default()).unwrap().save(&scratch.path("library")).unwrap();
    assert_eq!(scratch.bytes("program"), scratch.bytes("library"));
}
