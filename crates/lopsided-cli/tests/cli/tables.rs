use super::bad_input::refused;
use super::reproduce::write_graph;
use super::{Scratch, text};
use serde_json::Value;
use std::fmt::Write as _;

const SOLVERS: [&str; 8] = [
    "lanczos",
    "randomized, more passes",
    "randomized, more vectors",
    "symmetric Nyström",
    "asymmetric Nyström",
    "asymmetric Nyström, polished",
    "lanczos, G stored",
    "randomized, G stored, more vectors",
];

/// A graph, and a matrix of 90 rows in three classes, each with terms of its own.
fn data() -> Scratch {
    let scratch = Scratch::new();
    write_graph(&scratch.path("sets/friends"), 150);
    std::fs::create_dir_all(scratch.path("sets/papers")).unwrap();
    let (mut entries, mut count) = (String::new(), 0);
    for i in 0..90 {
        for j in (0..30).filter(|j| j % 3 == i % 3 || (i * 7 + j * 11) % 13 == 0) {
            writeln!(entries, "{} {} {}", i + 1, j + 1, 1 + (i * j) % 4).unwrap();
            count += 1;
        }
    }
    let header = "%%MatrixMarket matrix coordinate real general";
    scratch.write("sets/papers/features.mtx", format!("{header}\n90 30 {count}\n{entries}"));
    let labels: Vec<String> = (0..90).map(|i| format!("{i},c{}", i % 3)).collect();
    scratch.write("sets/papers/labels.csv", format!("node,label\n{}\n", labels.join("\n")));
    scratch
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().into()).collect()
}

#[test]
fn biclustering_finds_the_classes_of_any_matrix() {
    let scratch = data();
    let json = scratch.json("reproduce ksvd-2 --data sets --trials 3 --rank 4");
    assert_eq!((&json["table"], names(&json["sets"], "name")), (&"ksvd-2".into(), vec!["papers".into()]));
    let set = &json["sets"][0];
    assert_eq!((&set["rows"], &set["columns"], &set["classes"]), (&90.into(), &30.into(), &3.into()));
    assert_eq!((&set["col_clusters"], &set["seeds"]), (&3.into(), &3.into()));
    assert_eq!(names(&set["methods"], "method"), ["SVD", "KPCA", "KSVD RBF", "KSVD SNE"]);
    for line in set["methods"].as_array().unwrap() {
        assert!(line["plain"]["nmi"]["mean"].as_f64().unwrap() > 0.99, "{line}");
        assert!(line["plain"]["ari"]["mean"].as_f64().unwrap() > 0.99, "{line}");
        assert!(line["plain"]["coherence"]["mean"].as_f64().unwrap() > 0.5, "{line}");
        assert!(line["paper"].is_null());
    }
    let table = scratch.ok("reproduce ksvd-2 --data sets --only papers --quick --col-clusters 2 --quiet");
    for word in ["NMI", "ARI", "coherence", "[KSVD]", "3 row clusters, 2 column clusters", "± over 2 seeds"] {
        assert!(table.contains(word), "{word}\n{table}");
    }
}

#[test]
fn solvers_are_timed_to_every_accuracy() {
    let scratch = data();
    let json = scratch.json("reproduce ksvd-6 --data sets --gamma-factors 2 --trials 2 --limit 5");
    let race = &json["sets"][0]["races"][0];
    assert_eq!((&race["gamma_factor"], &race["goals"][1]["eta"]), (&2.0.into(), &0.01.into()));
    assert_eq!(names(&race["courses"], "method"), SOLVERS);
    for course in race["courses"].as_array().unwrap() {
        for (at, eta) in [0.1, 0.01].into_iter().enumerate().filter(|(at, _)| !course["reached"][*at].is_null()) {
            let reached = &course["reached"][at];
            assert!(reached["accuracy"]["eta"].as_f64().unwrap() <= eta, "{course}");
            assert!(reached["seconds_with_failures"].as_f64() >= reached["seconds"].as_f64(), "{course}");
        }
    }
    assert!(!race["courses"][0]["reached"][1].is_null(), "lanczos reaches any accuracy: {race}");
    let seconds = |method: &Value| method["reached"][1]["seconds"].as_f64().unwrap_or(f64::INFINITY);
    let first = race["courses"].as_array().unwrap().iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b))).unwrap();
    assert_eq!(race["goals"][1]["fastest"], first["method"]);
    assert_eq!(scratch.files(), ["sets"]);
}

#[test]
fn figures_are_written_where_they_are_asked_for() {
    let scratch = data();
    let table = scratch.ok(
        "reproduce ksvd-4 --data sets --only friends --rank 5 --gamma-factors 4 --quick --limit 2 --quiet --out plots",
    );
    for word in ["to eta <= 0.1", "seconds", "failures", "speed-up", "residual", "fastest: ", "[KSVD] s", "caution: "] {
        assert!(table.contains(word), "{word}\n{table}");
    }
    for (file, start) in [
        ("attempts.csv", "gamma_factor,method,setting"),
        ("figure-4.csv", "gamma_factor,method,setting,landmarks"),
        ("figure-4.svg", "<svg xmlns="),
        ("figure-5.csv", "method,landmarks,micro_f1"),
        ("figure-5.svg", "<svg xmlns="),
    ] {
        let contents = text(&scratch.bytes(&format!("plots/friends-{file}")));
        assert!(contents.starts_with(start), "{file}\n{contents}");
        assert!(contents.lines().count() > 2 && !contents.contains("NaN"), "{file}\n{contents}");
    }
    let scores = text(&scratch.bytes("plots/friends-figure-5.csv"));
    assert!(scores.lines().any(|line| line.starts_with("KPCA,exact,")), "{scores}");
}

#[test]
fn a_folder_of_the_wrong_kind_is_refused_with_a_sentence() {
    let scratch = data();
    for (words, sentence) in [
        ("ksvd-2 --only friends", "for ksvd-2 a folder with a folder per set, each with features.mtx and labels.csv"),
        ("ksvd-4 --only papers", "for ksvd-4 a folder with a folder per set, each with edges.csv and labels.csv"),
        ("ksvd-6 --only papers", "no set of the right kind"),
        ("ksvd-6 --eta 0", "`eta` is 0 but must be a number above 0"),
        ("ksvd-6 --limit 0", "`limit` is 0 but must be a number above 0"),
        ("ksvd-2 --out plots", "only ksvd-1, ksvd-4, ksvd-6, nkm-1 and ksvd-7 --generate write files"),
    ] {
        refused(&scratch, &format!("reproduce {words} --data sets"), &[sentence]);
    }
    // Why a set is left out is said before the error, which is that no set remains.
    let talk = text(&scratch.run("reproduce ksvd-2 --col-clusters 31 --data sets").stderr);
    assert!(talk.contains("between 1 and the number of columns, 30"), "{talk}");
    assert_eq!(scratch.files(), ["sets"]);
}
