//! Tables as people have them: words, gaps, dates, headers in any order, several targets.

use super::{Scratch, text};
use std::fmt::Write as _;

const CITIES: [&str; 4] = ["Oslo", "\"Aalborg, \"\"N\"\"\"", "Ærø", "New York"];

/// Sales of shops: a size, a city that tells most of the class, a flag and a code, without gaps.
fn row(i: usize) -> [String; 5] {
    let city = CITIES[(i * 5 + i / 7) % 4].to_string();
    let class = if (i * 5 + i / 7) % 4 < 2 { "\"yes, \"\"of course\"\"\"" } else { "no" };
    [(i * 37 % 101).to_string(), city, i.is_multiple_of(3).to_string(), format!("{:03}", i % 5), class.into()]
}

const HEADER: [&str; 5] = ["size", "city", "open", "code", "buys"];

/// The rows with their columns in an order.
fn shops(rows: std::ops::Range<usize>, order: &[usize]) -> String {
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let header = line(order.iter().map(|&j| HEADER[j].to_string()).collect());
    rows.fold(header, |mut out, i| {
        let cells = row(i);
        let _ = write!(out, "{}", line(order.iter().map(|&j| cells[j].clone()).collect()));
        out
    })
}

/// Stderr of a run that must be refused as wrong input.
fn refused(scratch: &Scratch, words: &str) -> String {
    let output = scratch.run(words);
    assert_eq!(output.status.code(), Some(2), "{words}\n{}", text(&output.stderr));
    text(&output.stderr)
}

#[test]
fn words_are_learned_saved_and_found_by_name() {
    let scratch = Scratch::new();
    scratch.write("train.csv", shops(0..80, &[0, 1, 2, 3, 4]));
    scratch.write("new.csv", shops(80..110, &[0, 1, 2, 3, 4]));
    scratch.write("turned.csv", shops(80..110, &[4, 3, 1, 2, 0]));
    for estimator in ["svm", "krr", "kernel-svd", "ask-ls"] {
        let fit = format!("fit {estimator} train.csv --categories code --model m.model --penalty 10");
        let fitted = scratch.json(&fit);
        assert_eq!(fitted["classes"].as_array().unwrap().len(), 2, "{fitted}");
        let told = scratch.json("predict m.model new.csv");
        assert!(told["accuracy"].as_f64().unwrap() > 0.8, "{estimator}: {told}");
        let turned = scratch.json("predict m.model turned.csv");
        assert_eq!((&told["predictions"], &told["accuracy"]), (&turned["predictions"], &turned["accuracy"]));
        let csv = scratch.ok("predict m.model new.csv --quiet");
        assert!(csv.contains("\"yes, \"\"of course\"\"\""), "{csv}");
        let inspected = scratch.json("inspect m.model");
        let columns = if estimator == "kernel-svd" { &inspected["head"]["columns"] } else { &inspected["columns"] };
        assert_eq!(columns[1]["words"], serde_json::json!(["Aalborg, \"N\"", "New York", "Oslo", "Ærø"]));
        assert_eq!((&columns[2]["kind"], &columns[3]["kind"]), (&"number".into(), &"words".into()));
    }
    assert!(scratch.ok("inspect m.model").contains("city: Aalborg, \"N\", New York, Oslo, Ærø"));
    scratch.write("less.csv", shops(80..110, &[0, 2, 3, 4]));
    assert!(refused(&scratch, "predict m.model less.csv").contains("there is no column `city`"));
    scratch.write("odd.csv", "size,city,open,code,when\n1,Rome,true,000,2024-05-01\n2,Rome,false,001,2024-05-02\n");
    let output = scratch.run("predict m.model odd.csv");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("column `city`: 2 rows have words that the model does not know"), "{said}");
    assert!(said.contains("`Rome` 2") && said.contains("columns that the model does not use: `when`"), "{said}");
    scratch.write("text.csv", "size,city,open,code\nlarge,Oslo,true,000\nsmall,Oslo,true,000\n");
    let said = refused(&scratch, "predict m.model text.csv");
    assert!(said.contains("column `size` holds text where numbers were learned, `large` in row 0"), "{said}");
}

#[test]
fn gaps_are_refused_by_name_and_number_or_filled() {
    let scratch = Scratch::new();
    let mut table = shops(0..60, &[0, 1, 2, 3, 4]);
    table = table.replacen("\n37,", "\n,", 1).replacen("\n74,", "\nNA,", 1).replacen(",Ærø,", ",?,", 1);
    scratch.write("gaps.csv", &table);
    let said = refused(&scratch, "fit svm gaps.csv --model m.model");
    assert!(said.contains("gaps.csv: 3 values are missing: 2 in column `size`, 1 in column `city`"), "{said}");
    assert!(said.contains("--impute"), "{said}");
    for impute in ["mean", "median", "most-frequent"] {
        let json =
            scratch.json(&format!("fit svm gaps.csv --impute {impute} --cv 3 --grid penalty=1,10 --model m.model"));
        assert_eq!(json["params"]["impute"], impute, "{json}");
        assert!(scratch.json("predict m.model gaps.csv")["n"] == 60);
    }
    let recipe = scratch.ok("inspect m.model --recipe");
    assert!(recipe.contains("\"impute\": \"most-frequent\"") && recipe.contains("\"scale\": \"standard\""), "{recipe}");
    scratch.write("r.json", &recipe);
    let again = scratch.json("fit svm gaps.csv --recipe r.json --model again.model");
    assert_eq!((&again["params"]["impute"], &again["params"]["scale"]), (&"most-frequent".into(), &"standard".into()));
    scratch.write("whole.csv", shops(0..60, &[0, 1, 2, 3, 4]));
    scratch.ok("fit svm whole.csv --model whole.model");
    let said = refused(&scratch, "predict whole.model gaps.csv");
    assert!(said.contains("the new rows: 3 values are missing") && said.contains("fitted without --impute"), "{said}");
    assert!(
        refused(&scratch, "fit svm whole.csv --impute often --model x.model").contains("known: none, mean, median")
    );
}

#[test]
fn hostile_tables_get_a_sentence() {
    let scratch = Scratch::new();
    let numbers = |i: usize| format!("{i},{}", i % 7);
    let table = |name: &str, header: &str, cell: &dyn Fn(usize) -> String| {
        let row = |i| format!("{},{},{}\n", numbers(i), cell(i), ["a", "b"][i % 2]);
        let rows = (0..40).map(row).collect::<Vec<_>>().concat();
        scratch.write(name, format!("{header}\n{rows}"));
    };
    table("dates.csv", "a,b,when,y", &|i| format!("2024-05-{:02}", 1 + i % 28));
    let said = refused(&scratch, "fit svm dates.csv --model m.model");
    assert!(said.contains("dates.csv:2: column `when` holds dates or times, such as `2024-05-01`"), "{said}");
    scratch.ok("fit svm dates.csv --drop when --model m.model");
    scratch.ok("predict m.model dates.csv");
    table("typo.csv", "a,b,c,y", &|i| if i == 30 { "12,5".replace(',', "_") } else { i.to_string() });
    let said = refused(&scratch, "fit svm typo.csv --model m.model");
    assert!(said.contains("typo.csv:32: column `c`: `12_5` is not a number, as 39 of its 40 values are"), "{said}");
    scratch.ok("fit svm typo.csv --categories c --model m.model");
    let said = refused(&scratch, "fit svm typo.csv --categories c,d --model m.model");
    assert!(said.contains("no column `d`"), "{said}");
    table("empty.csv", "a,b,c,y", &|_| String::new());
    assert!(refused(&scratch, "fit svm empty.csv --model m.model").contains("40 in column `c`"));
    let output = scratch.run("fit svm empty.csv --impute mean --model m.model");
    assert!(text(&output.stderr).contains("columns without any value are left out: `c`"));
    table("ids.csv", "a,b,c,y", &|i| format!("person {i}"));
    let output = scratch.run("fit svm ids.csv --model m.model");
    let said = text(&output.stderr);
    assert!(said.contains("column `c` has another word in every row, as ids have"), "{said}");
    assert!(said.contains("column `a` counts the rows"), "{said}");
    table("same.csv", "x,x,x,y", &|_| "one".into());
    let output = scratch.run("fit svm same.csv --model m.model");
    let said = text(&output.stderr);
    assert!(said.contains("3 columns are called `x`; the second is taken as `x.2`"), "{said}");
    assert!(said.contains("never change tell nothing: `x.3`"), "{said}");
    scratch.ok("predict m.model same.csv");
    assert!(refused(&scratch, "fit krr dates.csv --stream --model m.model").contains("without --stream"));
    assert!(refused(&scratch, "embed ids.csv --cols ids.csv --target y").contains("column `c` holds text"));
    assert!(refused(&scratch, "bicluster ids.csv --target y --row-clusters 2").contains("is of numbers"));
}

#[test]
fn a_hundred_thousand_words_stay_sparse() {
    let scratch = Scratch::new();
    let rows: String = (0..100_000).fold(String::from("n,word,y\n"), |mut out, i| {
        // Every word but those of ten rows stands alone.
        let _ = writeln!(out, "{},w{},{}", i % 13, if i < 10 { 0 } else { i }, i % 2);
        out
    });
    scratch.write("wide.csv", rows);
    let json = scratch.json("fit krr wide.csv --target y --kernel linear --penalty 1 --landmarks 20 --model m.model");
    let said = json["warnings"].to_string();
    assert!(said.contains("99991 different words in 100000 rows"), "{said}");
    assert!(json["peak_bytes"].as_u64().is_none_or(|peak| peak < 2_000_000_000), "{json}");
}

#[test]
fn several_targets_are_predicted_in_columns() {
    let scratch = Scratch::new();
    let rows: String = (0..60).fold(String::from("a,b,\"c, d\",e\n"), |mut out, i| {
        let a = f64::from(i) / 10.0;
        let _ = writeln!(out, "{a},{},{},{}", i % 4, a.sin(), 2.0 * a);
        out
    });
    scratch.write("t.csv", &rows);
    let fitted: serde_json::Value = {
        let mut command = scratch.command("fit krr t.csv --model m.model --json --target");
        let output = command.arg("\"c, d\",e").output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_str(&text(&output.stdout)).unwrap()
    };
    assert_eq!(fitted["targets"], serde_json::json!(["c, d", "e"]));
    let csv = scratch.ok("predict m.model t.csv --quiet");
    assert!(csv.starts_with("id,\"prediction_c, d\",prediction_e\n0,"), "{csv}");
    let json = scratch.json("predict m.model t.csv");
    let each: Vec<f64> = json["targets"].as_array().unwrap().iter().map(|t| t["rmse"].as_f64().unwrap()).collect();
    assert!((json["rmse"].as_f64().unwrap() - f64::midpoint(each[0], each[1])).abs() < 1e-12, "{json}");
    assert_eq!(json["predictions"][0].as_array().unwrap().len(), 3);
    assert!(each.iter().all(|error| *error < 0.1), "{json}");
    let said = refused(&scratch, "fit svm t.csv --target a,b --model x.model");
    assert!(said.contains("`target` is a,b but must be one column: only `krr` learns several"), "{said}");
}

#[test]
fn targets_come_from_files_of_every_kind() {
    let scratch = Scratch::new();
    let data: String = (0..40).fold(String::from("a,b,c\n"), |mut out, i| {
        let _ = writeln!(out, "{},{},{}", i % 7, i * 3 % 11, i % 2);
        out
    });
    scratch.write("x.csv", data);
    let names = ["light blue", "größer, \"x\""];
    let csv = |header: &str| {
        (0..40).fold(header.to_string(), |out, i| out + "\"" + &names[i % 2].replace('"', "\"\"") + "\"\n")
    };
    scratch.write("y.csv", csv("color\n"));
    scratch.write("plain.csv", csv(""));
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    let header = "{'descr': '<U12', 'fortran_order': False, 'shape': (40,), }\n";
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    for i in 0..40 {
        let mut letters: Vec<u32> = names[i % 2].chars().map(u32::from).collect();
        letters.resize(12, 0);
        npy.extend(letters.iter().flat_map(|letter| letter.to_le_bytes()));
    }
    scratch.write("y.npy", npy);
    for option in ["--labels y.csv", "--target y.csv", "--labels plain.csv", "--labels y.npy", "--target y.npy"] {
        let json = scratch.json(&format!("fit svm x.csv {option} --model m.model"));
        assert_eq!(json["classes"], serde_json::json!(names), "{option}: {json}");
        assert_eq!(json["n_train"], 40);
        assert!(scratch.json("predict m.model x.csv --labels y.npy")["accuracy"].as_f64().unwrap() > 0.95);
    }
    scratch.write("short.csv", "color\nred\nblue\n");
    assert!(refused(&scratch, "fit svm x.csv --target short.csv --model m.model").contains("3 labels for 40 samples"));
}

#[test]
fn rows_with_words_are_embedded_and_placed() {
    let scratch = Scratch::new();
    scratch.write("train.csv", shops(0..50, &[0, 1, 2, 3, 4]));
    scratch.write("turned.csv", shops(0..50, &[2, 1, 0, 3]));
    for (fit, name) in [
        ("fit kpca train.csv --rank 2 --scale standard", "kpca.model"),
        ("fit features train.csv --landmarks 10", "features.model"),
        ("embed train.csv --compat pca --kernel rbf --gamma median --rank 2", "embed.model"),
        ("fit kernel-svd train.csv --rank 2 --penalty 1", "svd.model"),
    ] {
        scratch.rough(&format!("{fit} --model {name}"));
        scratch.ok(&format!("transform {name} --rows train.csv --out a.npy"));
        scratch.ok(&format!("transform {name} --rows turned.csv --out b.npy"));
        assert_eq!(scratch.bytes("a.npy"), scratch.bytes("b.npy"), "{fit}");
        assert!(scratch.ok(&format!("inspect {name}")).contains("Oslo"), "{fit}");
    }
}
