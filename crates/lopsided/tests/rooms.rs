//! Which way the rooms of the library point: the table in CONTRIBUTING.md, and every `crate::` path in the sources.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Rooms from the bottom to the top; a room uses itself and those before it.
const ROOMS: [&str; 11] = [
    "base",
    "data",
    "metrics",
    "report",
    "kernel",
    "products",
    "operator",
    "solvers",
    "estimators",
    "online",
    "evaluation",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_name().is_some_and(|n| n != "tests.rs") {
            out.push(path);
        }
    }
    out
}

/// Rooms that the code of a file names, its tests and its documentation aside.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = lines.flat_map(|line| line.split("crate::").skip(1));
    let first = |rest: &str| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    paths.map(first).filter(|name| !name.is_empty()).collect()
}

#[test]
fn no_room_uses_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let level = |name: &str| ROOMS.iter().position(|room| *room == name);
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap();
        let Some(own) = inside.iter().next().and_then(|room| level(&room.to_string_lossy())) else { continue };
        for other in named(&std::fs::read_to_string(&path).unwrap()) {
            let known = level(&other).unwrap_or_else(|| panic!("{}: `{other}` is no room", inside.display()));
            assert!(known <= own, "{} uses {other}, which stands above it", inside.display());
        }
    }
}

#[test]
fn the_table_of_contributing_names_every_room_in_order() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md")).unwrap();
    let places: Vec<usize> =
        ROOMS.iter().map(|room| text.find(&format!("| `{room}`")).unwrap_or_else(|| panic!("{room}"))).collect();
    assert!(places.is_sorted(), "the rooms are not in order");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir());
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(ROOMS.contains(&name.as_str()), "{name} has no place in the table");
    }
}
