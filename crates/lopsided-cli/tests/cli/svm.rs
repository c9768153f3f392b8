use super::bad_input::refused;
use super::fit::{graph, number, tables};

#[test]
fn an_svm_learns_a_graph_and_a_table_and_its_file_keeps_the_name() {
    let scratch = graph();
    let command = "fit svm g/edges.csv --labels g/labels.csv --train-ids train.txt --kernel precomputed";
    for symmetrize in ["average", "columns", "rows"] {
        let fit = scratch.json(&format!("{command} --symmetrize {symmetrize} --model m"));
        assert_eq!((&fit["estimator"], &fit["converged"]), (&"svm".into(), &true.into()));
        assert_eq!(fit["params"]["symmetrize"], symmetrize);
        let train = scratch.json("predict m g/edges.csv --ids train.txt --labels g/labels.csv --out p.csv");
        assert_eq!(train["micro_f1"], fit["train_score"]);
        // Three classes of equal size, told apart by the direction of the links alone, which the average forgets.
        let test = scratch.json("predict m g/edges.csv --ids test.txt --labels g/labels.csv");
        assert!(symmetrize == "average" || number(&test, "micro_f1") > 0.45, "{symmetrize}: {test}");
    }
    assert_eq!(scratch.json("inspect m")["estimator"], "svm");
    let scratch = tables();
    let fit = scratch.json("fit svm named.csv --target kind --kernel rbf --cv 3 --grid penalty=0.1,10 --model m");
    assert_eq!(fit["cv"]["points"].as_array().unwrap().len(), 2);
    assert!(number(&fit, "train_score") > 0.95, "{fit}");
    let own = scratch.json("predict m named.csv");
    assert_eq!(own["accuracy"], fit["train_score"]);
}

#[test]
fn what_an_svm_cannot_do_is_refused() {
    let scratch = tables();
    for (options, words) in [
        ("values.csv", &["`labels` is values", "classes"][..]),
        ("named.csv --target kind --penalty 0", &["`penalty` is 0"]),
        ("named.csv --target kind --merge stack", &["no setting `merge`", "symmetrize"]),
        ("named.csv --target kind --symmetrize none", &["no symmetrization `none`", "average"]),
    ] {
        refused(&scratch, &format!("fit svm {options} --kernel rbf --model m"), words);
    }
}
