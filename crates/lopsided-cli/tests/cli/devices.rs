//! `--device` and `lopsided devices`, where there is no card and where there is one.

use super::{Scratch, text};

fn has_cards(scratch: &Scratch) -> bool {
    !scratch.json("devices")["cards"].as_array().unwrap().is_empty()
}

#[test]
fn devices_name_the_processor_and_say_why_there_is_no_card() {
    let scratch = Scratch::new();
    let told = scratch.json("devices --threads 2");
    assert_eq!(told["threads"], 2, "{told}");
    let listed = scratch.ok("devices --threads 2");
    assert!(listed.starts_with("cpu   the processor, 2 threads") || has_cards(&scratch), "{listed}");
    if !has_cards(&scratch) {
        let why = told["why"].as_str().unwrap();
        assert!(why.starts_with("the device cuda cannot be used: ") && listed.contains(why), "{told}");
    }
}

#[test]
fn a_card_that_is_not_there_is_one_sentence_before_anything_is_read() {
    let scratch = Scratch::new();
    for device in ["cuda:77", if has_cards(&scratch) { "cuda:99" } else { "cuda" }] {
        let output = scratch.run(&format!("embed nowhere.csv --kernel rbf --device {device}"));
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with("error: the device cuda") && told.lines().count() <= 3, "{told}");
        assert!(output.stdout.is_empty() && scratch.files().is_empty());
    }
}

#[test]
fn words_that_are_no_device_are_refused() {
    let scratch = Scratch::new();
    for word in ["gpu", "cuda:", "cuda:x", "cuda:-1", "CPU"] {
        let output = scratch.run(&format!("embed x.csv --device {word}"));
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("auto, cpu, cuda, or cuda:K with the number of a card"), "{told}");
    }
}

#[test]
fn small_problems_stay_on_the_processor_bit_for_bit() {
    let scratch = Scratch::new();
    scratch.table("x.csv", 60, 3);
    scratch.table("z.csv", 50, 3);
    let embed = |device: &str| {
        scratch.json(&format!("embed x.csv --cols z.csv --target none --kernel rbf --rank 3 --rows-out r.npy {device}"))
    };
    let plain = (embed("")["singular_values"].clone(), scratch.bytes("r.npy"));
    for device in ["--device auto", "--device cpu"] {
        let told = embed(device);
        assert_eq!((told["singular_values"].clone(), scratch.bytes("r.npy")), plain);
        assert_eq!(told["device"], "cpu", "{told}");
        assert!(!told["why"]["device"].as_str().unwrap().is_empty(), "{told}");
    }
}

#[test]
fn plans_say_where_products_are_computed() {
    let scratch = Scratch::new();
    scratch.table("x.csv", 60, 3);
    scratch.table("z.csv", 50, 3);
    let plan = scratch.json("embed x.csv --cols z.csv --target none --kernel rbf --rank 3 --dry-run");
    assert_eq!((&plan["device"], &plan["why"]["device"]), (&"cpu".into(), &"a card would hardly be quicker".into()));
    let plan = scratch.json("embed x.csv --cols z.csv --target none --kernel laplacian --rank 3 --dry-run");
    assert_eq!(plan["why"]["device"], "cards are for the kernels rbf, sne, t and poly");
}

#[test]
fn fast_is_single_precision_on_the_processor() {
    let scratch = Scratch::new();
    scratch.table("x.csv", 60, 3);
    scratch.table("z.csv", 50, 3);
    let embed = |precision: &str| {
        let words = format!(
            "embed x.csv --cols z.csv --target none --kernel rbf --rank 3 --rows-out r.npy --device cpu --precision {precision}"
        );
        (scratch.json(&words)["precision"].clone(), scratch.bytes("r.npy"))
    };
    assert_eq!(embed("fast"), embed("f32"));
}
