use super::bad_input::refused;
use super::fit::{graph, number, right_on_training_nodes, tables};

#[test]
fn kernels_of_graphs_are_learned_saved_and_predicted() {
    let scratch = graph();
    let labels = "--labels g/labels.csv";
    for (estimator, kernel) in [
        ("ask-ls", "katz --beta 0.7"),
        ("ls-svm", "ppr --alpha 0.6 --symmetrize rows"),
        ("svm", "shortest-path --decay 0.5 --symmetrize rows"),
        ("svm", "katz --symmetrize columns"),
        ("kernel-svd", "shortest-path --rank 10"),
        ("kernel-svd", "ppr --rank 10 --precision f32"),
    ] {
        let options = format!("{labels} --train-ids train.txt --kernel {kernel} --model m");
        let fit = scratch.json(&format!("fit {estimator} g/edges.csv {options}"));
        assert_eq!(number(&fit, "train_score"), right_on_training_nodes(&scratch), "{estimator} {kernel}");
        // Three classes of equal size, told apart by the direction of the links, which the others see less of.
        let test = scratch.json(&format!("predict m g/edges.csv --ids test.txt {labels}"));
        assert_eq!(test["scored"], 30);
        assert!(estimator != "ask-ls" || number(&test, "micro_f1") > 0.45, "{estimator} {kernel}: {test}");
        scratch.write("new.csv", "source,target\nvisitor,3\n4,visitor\n");
        scratch.write("ids.txt", "visitor\n");
        refused(&scratch, "predict m new.csv --ids ids.txt", &["`kernel` is", "not fitted with"]);
    }
    let embedded = scratch.json("embed g/edges.csv --kernel katz --rank 4");
    assert_eq!((&embedded["kernel"], &embedded["operator"]), (&"katz".into(), &"sparse".into()));
    let listed = scratch.ok("list kernels");
    assert!(["katz", "ppr", "shortest-path"].iter().all(|name| listed.contains(name)), "{listed}");
}

#[test]
fn katz_takes_the_links_as_they_are_unless_told_otherwise() {
    let scratch = graph();
    let first = |options: &str| {
        let json = scratch.json(&format!("embed g/edges.csv --kernel katz --rank 2 {options}"));
        json["singular_values"][0].as_f64().unwrap()
    };
    let plain = first("");
    assert_eq!(plain, first("--normalize none --no-self-loops"));
    assert!((plain - first("--normalize row --self-loops")).abs() > 1e-6);
}

#[test]
fn a_graph_without_cycles_says_what_beta_is() {
    let scratch = super::Scratch::new();
    scratch.write("chain.csv", "source,target\na,b\nb,c\nc,d\na,d\n");
    for beta in ["0.5", "2"] {
        let json = scratch.json(&format!("embed chain.csv --kernel katz --beta {beta} --rank 2"));
        let note = json["notes"].to_string();
        assert!(note.contains("no cycle") && note.contains(&format!("beta = {beta}")), "{json}");
    }
    scratch.write("ring.csv", "source,target\na,b\nb,c\nc,a\n");
    // (A/2)/(1 − A/2) of a ring: normal, so that σ₁ is the largest value at the roots of unity, 1.
    let ring = scratch.json("embed ring.csv --kernel katz --beta 0.5 --rank 2");
    assert!((ring["singular_values"][0].as_f64().unwrap() - 1.0).abs() < 1e-12, "{ring}");
    assert!(!ring["notes"].to_string().contains("cycle"), "{ring}");
}

#[test]
fn kernels_of_graphs_refuse_tables_and_wrong_parameters() {
    let scratch = tables();
    for command in ["fit ask-ls named.csv --target kind --model m", "embed bare.csv --target none"] {
        refused(&scratch, &format!("{command} --kernel katz"), &["`kernel` is katz", "nodes of a graph"]);
    }
    let scratch = graph();
    for (options, words) in [
        ("katz --beta 1", &["`beta` is 1", "below 1"][..]),
        ("ppr --alpha 0", &["`alpha` is 0", "above 0"]),
        ("ppr --normalize none", &["`alpha` is 0.85", "spectral radius"]),
        ("shortest-path --decay -1", &["`decay` is -1"]),
        ("ppr --beta 0.5", &["`beta` is 0.5", "no beta"]),
    ] {
        refused(&scratch, &format!("embed g/edges.csv --kernel {options} --rank 2"), words);
    }
}
