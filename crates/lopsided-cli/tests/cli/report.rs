//! Pages of commands, `--report`: what is in them, and what never gets into them. What a browser makes of them is seen by
//! `make pages`.

use super::{Scratch, text};

const HOSTILE: &str = "</script><script>alert(1)</script>";

/// A graph of two groups around a circle with a node of a hostile name.
fn graph(scratch: &Scratch) {
    let name = |i: usize| if i == 3 { HOSTILE.to_string() } else { format!("n{i}") };
    let links = (0..40).flat_map(|i| [1, 3, 5, 9].map(|step| (i, (i + step) % 40)));
    let edges: Vec<String> = links.map(|(i, j)| format!("\"{}\",\"{}\"", name(i), name(j))).collect();
    scratch.write("e.csv", format!("source,target\n{}\n", edges.join("\n")));
    let labels: Vec<String> = (0..40).map(|i| format!("\"{}\",{}", name(i), ["<b>", "blue"][i % 2])).collect();
    scratch.write("l.csv", format!("node,label\n{}\n", labels.join("\n")));
}

fn table(scratch: &Scratch) {
    let row = |i: usize| {
        let x = |k: usize| ((i * 7 + k * 13) % 17) as f64 / 4.0 + if k == i % 2 { 3.0 } else { 0.0 };
        format!("{},{},{},{}\n", x(0), x(1), x(2), ["no", "yes"][i % 2])
    };
    scratch.write("t.csv", format!("a,b,c,class\n{}", (0..60).map(row).collect::<String>()));
}

/// The page that a command has written; it is whole, and its script is the only one that runs.
fn page(scratch: &Scratch, command: &str) -> String {
    scratch.rough(&format!("{command} --report page.html"));
    let html = text(&scratch.bytes("page.html"));
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert_eq!(html.matches("<script>").count(), 1, "{command}");
    assert!(html.contains(&format!("lopsided {}", command.split(' ').next().unwrap())), "{command}");
    html
}

#[test]
fn every_command_that_computes_has_a_page() {
    let scratch = Scratch::new();
    graph(&scratch);
    table(&scratch);
    let trials: Vec<String> = (0..30).map(|t| format!("{},{},{}", t % 3, t % 5, f64::from(t % 7) / 7.0)).collect();
    scratch.write("s.csv", format!("x1,y1,label\n{}\n", trials.join("\n")));
    for (command, words) in [
        ("embed e.csv --labels l.csv --rank 4", &["Singular values of G", "class=\"map\"", "The plain components"][..]),
        ("bicluster t.csv --target class --row-clusters 2 --kernel rbf", &["The matrix", "The kernel matrix G"]),
        ("fit ask-ls t.csv --target class --model ask.model", &["Who is taken for whom", "the border 1/σ₁"]),
        ("fit kernel-svd e.csv --labels l.csv --rank 4 --cv 2 --grid penalty=1,10 --model g.model", &["All settings"]),
        ("fit svm t.csv --target class --kernel rbf --probability --model p.model", &["How far probabilities"]),
        ("fit kpca t.csv --target class --rank 2 --model c.model", &["Variance of each component"]),
        ("predict p.model t.csv", &["Each class", "right of those predicted"]),
        ("links e.csv --trials 2 --rank 4", &["Precision and recall", "U UᵀAV Vᵀ"]),
        ("online gd-trace s.csv --radius 2 --horizon 30", &["Regret and its bound", "After so many trials"]),
        ("reproduce ksvd-7 --generate 200,100,6 --quick --rank 5 --landmarks 30", &["As it was printed"]),
    ] {
        let html = page(&scratch, command);
        words.iter().for_each(|word| assert!(html.contains(word), "{command}: {word}"));
    }
}

#[test]
fn names_of_users_are_text_in_a_page() {
    let scratch = Scratch::new();
    graph(&scratch);
    let html = page(&scratch, "embed e.csv --labels l.csv --rank 3");
    assert!(!html.contains("alert(1)<") && !html.contains("<b>"));
    assert!(html.contains(r"\u003c/script\u003e\u003cscript\u003ealert(1)") && html.contains("&lt;b&gt;"));
}

#[test]
fn names_of_files_are_text_in_a_page() {
    let scratch = Scratch::new();
    graph(&scratch);
    std::fs::rename(scratch.path("e.csv"), scratch.path("<b>&.csv")).unwrap();
    let html = page(&scratch, "embed <b>&.csv --rank 2");
    assert!(
        html.contains("Embedding of &lt;b&gt;&amp;.csv")
            && html.contains("lopsided embed &#39;&lt;b&gt;&amp;.csv&#39;")
    );
    assert!(!html.contains("<b>"));
}

#[test]
fn the_same_job_draws_the_same_page_whatever_the_number_of_threads() {
    let scratch = Scratch::new();
    graph(&scratch);
    let figures = |threads: usize| {
        let html = page(&scratch, &format!("embed e.csv --labels l.csv --rank 4 --threads {threads}"));
        html.split("The job in numbers").next().unwrap().to_string()
    };
    assert_eq!(figures(1), figures(3));
}

#[test]
fn warnings_stand_before_everything_else() {
    let scratch = Scratch::new();
    table(&scratch);
    let html = page(&scratch, "fit ask-ls t.csv --target class --penalty 1000 --model m");
    let (warning, first) =
        (html.find("beyond which the system is indefinite").unwrap(), html.find("<h2>Predictions").unwrap());
    assert!(html.find("Before you read on").unwrap() < warning && warning < first);
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_work() {
    let scratch = Scratch::new();
    table(&scratch);
    for command in ["fit ask-ls t.csv --target class --model m", "bicluster t.csv --row-clusters 2", "reproduce ksvd-3"]
    {
        let met = scratch.run(&format!("{command} --report nowhere/p.html"));
        assert_eq!(met.status.code(), Some(2), "{command}");
        assert!(text(&met.stderr).contains("nowhere/p.html"), "{command}");
    }
    let met = scratch.run("fit ask-ls t.csv --target class --model m --report t.csv");
    assert_eq!(met.status.code(), Some(2));
    assert!(text(&met.stderr).contains("another file than t.csv, which is read"));
}
