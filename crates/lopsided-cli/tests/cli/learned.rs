use super::{Scratch, largest_difference, npy, text};
use std::fmt::Write as _;

const COMMAND: &str = "--compat learned --kernel rbf --gamma median --rank 2 --center --epochs 8";

/// Rows whose target is their smallest column, which the leading components leave out.
fn hidden(scratch: &Scratch, name: &str, n: usize, m: usize) {
    let value = |i: usize, j: usize| {
        let even = ((i * 7919 + (j + 1) * 104_729 + (i + 3) * (j + 5) * i) % 1009) as f64 / 504.5 - 1.0;
        even * if j == 0 { 0.4 } else { 1.5 }
    };
    let names: Vec<String> = (0..m).map(|j| format!("c{j}")).collect();
    let mut table = names.join(",") + ",target\n";
    for i in 0..n {
        (0..m).for_each(|j| write!(table, "{},", value(i, j)).unwrap());
        writeln!(table, "{:.3}", value(i, 0)).unwrap();
    }
    scratch.write(name, table);
}

#[test]
fn a_learned_matrix_improves_on_its_start_and_places_rows_again() {
    let scratch = Scratch::new();
    hidden(&scratch, "tall.csv", 120, 5);
    hidden(&scratch, "wide.csv", 20, 40);
    for name in ["tall", "wide"] {
        let files = format!("--rows-out {name}.npy --model {name}.model");
        let json = scratch.json(&format!("embed {name}.csv {COMMAND} {files} --quiet"));
        let curve = json["learning"]["curve"].as_array().unwrap();
        assert_eq!((&json["learning"]["loss"], curve[0]["epoch"].as_u64()), (&"squared".into(), Some(0)));
        let best: Vec<f64> = curve.iter().map(|step| step["best"].as_f64().unwrap()).collect();
        assert!(best.len() > 2 && best.windows(2).all(|pair| pair[1] <= pair[0]), "{best:?}");
        scratch.ok(&format!("transform {name}.model --rows {name}.csv --out {name}-again.npy --quiet"));
        let (first, again) =
            (npy(&scratch.path(&format!("{name}.npy"))), npy(&scratch.path(&format!("{name}-again.npy"))));
        assert_eq!(first.0, again.0);
        assert!(largest_difference(&first.1, &again.1) < 1e-6);
    }
    let table = scratch.ok(&format!("embed tall.csv {COMMAND} --quiet"));
    assert!(table.lines().any(|line| line.starts_with("learned") && line.contains("of 8 kept")), "{table}");
}

#[test]
fn what_cannot_be_learned_ends_with_code_2_and_a_reason() {
    let scratch = Scratch::new();
    hidden(&scratch, "t.csv", 60, 5);
    scratch.table("bare.csv", 30, 4);
    for (words, reason) in [
        (format!("embed t.csv {COMMAND} --learning-rate 1e6"), "the learning rate 1000000 is too large"),
        (format!("embed t.csv {COMMAND} --learning-rate -1"), "`learning-rate` is -1 but must be a number above 0"),
        (format!("embed bare.csv --format csv {COMMAND}"), "for rows without a target"),
        ("embed t.csv --compat learned --kernel laplacian".into(), "`kernel` is laplacian"),
        ("embed t.csv --compat pca --epochs 3".into(), "`epochs` is 3 but must be left out without --compat learned"),
        ("bicluster t.csv --compat learned --row-clusters 2".into(), "where there is no target to learn from"),
        ("fit kernel-svd t.csv --compat learned --model m".into(), "only `embed --compat learned` learns one"),
    ] {
        let output = scratch.run(&words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(text(&output.stderr).contains(reason), "{words}\n{}", text(&output.stderr));
        assert!(!text(&output.stdout).contains("NaN"), "{words}");
    }
}

#[test]
fn the_table_compares_learned_with_fixed_matrices() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("sets/values")).unwrap();
    hidden(&scratch, "sets/values/data.csv", 80, 4);
    let command = "reproduce ksvd-3 --data sets --quick --epochs 5 --max-rows 50 --quiet";
    let json = scratch.json(command);
    let set = &json["sets"][0];
    assert_eq!((&set["measure"], &set["rank"], &set["max_rows"]), (&"rmse".into(), &4.into(), &50.into()));
    let methods = set["methods"].as_array().unwrap();
    assert_eq!((methods.len(), &methods[6]["method"]), (11, &"KSVD RBF a3".into()));
    assert!(
        methods.iter().all(|m| m["score"]["mean"].as_f64().is_some_and(|score| score > 0.0) && m["paper"].is_null())
    );
    assert_eq!(set["comparisons"].as_array().unwrap().len(), 3);
    let table = scratch.ok(command);
    assert!(table.starts_with("values: 80 rows, 4 columns, rank 4; learned from 50 rows"), "{table}");
    assert!(table.contains("KSVD SNE a3 against KSVD SNE a1: "), "{table}");
}
