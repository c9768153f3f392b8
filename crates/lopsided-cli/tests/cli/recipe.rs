//! Recipes: the settings of a model as a file, and back.

use super::Scratch;
use super::bad_input::refused;

/// Rows of two classes that differ in their first column.
fn table() -> String {
    let row = |i: usize| format!("{},{},{}\n", (i % 2) as f64 + 0.1 * (i % 7) as f64, (i * 5 % 11) as f64, i % 2);
    "a,b,kind\n".to_string() + &(0..40).map(row).collect::<String>()
}

#[test]
fn a_recipe_makes_the_same_model_again_and_options_win_over_it() {
    let scratch = Scratch::new();
    scratch.write("t.csv", table());
    for fit in [
        "svm t.csv --kernel rbf --gamma-factor 2 --penalty 3 --multi-class ovo",
        "ask-ls t.csv --kernel sne --gamma 0.5 --penalty 0.7 --merge average",
        "kernel-svd t.csv --kernel rbf --rank 2 --scaling sqrt",
        "krr t.csv --approach gsa --landmarks 9 --penalty 4",
        "kpca t.csv --rank 2 --gamma 0.3",
    ] {
        scratch.ok(&format!("fit {fit} --model one.model"));
        let recipe = scratch.ok("inspect one.model --recipe");
        scratch.write("r.json", &recipe);
        let estimator = fit.split(' ').next().unwrap();
        scratch.ok(&format!("fit {estimator} t.csv --recipe r.json --model two.model"));
        let again = scratch.ok("inspect two.model --recipe");
        assert_eq!(again, recipe, "{fit}");
    }
    scratch.ok("fit svm t.csv --kernel rbf --penalty 3 --model one.model");
    let recipe = scratch.ok("inspect one.model --recipe");
    scratch.write("r.json", &recipe);
    scratch.ok("fit svm t.csv --recipe r.json --penalty 5 --model two.model");
    assert!(scratch.ok("inspect two.model --recipe").contains("\"penalty\": 5.0"));
}

#[test]
fn unknown_and_ill_typed_settings_of_a_recipe_are_refused_by_name() {
    let scratch = Scratch::new();
    scratch.write("t.csv", table());
    for (recipe, words) in [
        ("{\"penalti\": 1}", ["no setting `penalti`", "did you mean `penalty`?"]),
        ("{\"penalty\": \"much\"}", ["`penalty` is much", "a number above 0"]),
        ("[1]", ["r.json", "is no recipe"]),
    ] {
        scratch.write("r.json", recipe);
        refused(&scratch, "fit svm t.csv --recipe r.json --model m", &words);
    }
}
