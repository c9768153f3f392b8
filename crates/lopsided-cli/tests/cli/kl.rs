use super::bad_input::refused;
use super::{Scratch, text};
use std::fmt::Write as _;

/// Histograms of two classes that lean to different ends, as a table with a class.
fn histograms(first: &str) -> Scratch {
    let scratch = Scratch::new();
    let mut table = format!("a,b,c,d,kind\n{first}");
    for i in 0..40 {
        let (high, low) = (20 + i % 7, i % 3);
        let (end, kind) = if i % 2 == 0 { ([high, 5, low, low], "left") } else { ([low, low, 5, high], "right") };
        let _ = writeln!(table, "{},{},{},{},{kind}", end[0], end[1], end[2], end[3]);
    }
    scratch.write("h.csv", table);
    scratch
}

#[test]
fn histograms_are_learned_from_and_predicted() {
    let scratch = histograms("");
    let json = scratch.json("fit ask-ls h.csv --target kind --kernel kl --gamma 0.5 --epsilon 1e-3 --model m");
    assert_eq!((&json["params"]["kernel"], &json["params"]["gamma"]), (&"kl".into(), &0.5.into()), "{json}");
    assert!((json["params"]["epsilon"].as_f64().unwrap() - 1e-3).abs() < 1e-15, "{json}");
    // How many were counted does not matter.
    scratch.write("new.csv", "a,b,c,d\n300,70,0,0\n0,1,1,4\n");
    scratch.ok("predict m new.csv --out p.csv");
    assert_eq!(text(&scratch.bytes("p.csv")), "id,prediction\n0,left\n1,right\n");
    let tuned = scratch.json("fit ls-svm h.csv --target kind --kernel kl --cv 3 --grid gamma=0.1,1 --model n");
    assert_eq!(tuned["cv"]["points"].as_array().unwrap().len(), 2, "{tuned}");
}

#[test]
fn what_is_no_histogram_is_refused() {
    let scratch = histograms("1,-2,0,0,left\n");
    let fit = "fit ask-ls h.csv --target kind --model m --kernel";
    refused(&scratch, &format!("{fit} kl"), &["`samples` is -2 but must be histograms for the kernel `kl`"]);
    refused(&scratch, &format!("{fit} kl --gamma median"), &["a number for the kernel `kl`"]);
    refused(&scratch, &format!("{fit} rbf --epsilon 1"), &["has no epsilon"]);
    refused(&histograms("0,0,0,0,left\n"), &format!("{fit} kl"), &["`samples` is 0 in all bins"]);
}

#[test]
fn images_are_made_and_classified_the_same_by_any_number_of_threads() {
    let scratch = Scratch::new();
    let command = "reproduce askls-1 --quick --trials 1 --quiet";
    let without_times = |threads: usize| {
        let mut json = scratch.json(&format!("{command} --threads {threads}"));
        let mut set = json["sets"][0].take();
        set["seconds"] = 0.into();
        set["methods"].as_array_mut().unwrap().iter_mut().for_each(|m| m["seconds"] = 0.into());
        set
    };
    let set = without_times(1);
    assert_eq!(set, without_times(3));
    assert_eq!((&set["samples"], &set["train"]), (&100.into(), &90.into()));
    let methods = set["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 3);
    // Chance is 0.1.
    assert!(methods.iter().all(|m| m["micro_f1"]["mean"].as_f64().unwrap() >= 0.3), "{set}");
    assert!(set["standard_error"].as_f64().unwrap() < 0.2 * set["divergence"].as_f64().unwrap());
}
