//! Which way the rooms of the library point: the table in CONTRIBUTING.md, and every path in the sources,
//! through the root's exports and through `super::` too.
#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Rooms from the bottom to the top; a room uses itself and those before it.
const ROOMS: [&str; 12] = [
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
    "pages",
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

/// What `lib.rs` exports at the root, by name, with the room it comes from.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for statement in lib.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let room = statement.split("::").next().unwrap_or_default();
        let names = statement.rsplit("::").next().unwrap_or_default();
        for name in names.split([',', '{', '}']).map(str::trim).filter(|name| !name.is_empty()) {
            let name = name.rsplit(" as ").next().unwrap_or(name);
            out.insert(name.to_string(), room.to_string());
        }
    }
    out
}

/// The modules that a file is inside of: `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn modules(inside: &Path) -> Vec<String> {
    let mut names: Vec<String> = inside.with_extension("").iter().map(|n| n.to_string_lossy().into_owned()).collect();
    names.pop_if(|last| last == "mod" || last == "lib");
    names
}

/// First names of the paths from the root of the crate in a file's code, its tests and its documentation aside: after
/// `crate::`, and after as many `super::` as lead there.
fn from_the_root(text: &str, depth: usize) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = lines.join("\n");
    let climbed = "super::".repeat(depth);
    let above = code.split(&climbed).skip(1).filter(|_| depth > 0);
    let mut out = BTreeSet::new();
    for rest in code.split("crate::").skip(1).chain(above) {
        let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let first = |rest: &str| rest.trim_start().chars().take_while(|c| named(*c)).collect::<String>();
        match rest.strip_prefix('{').and_then(|rest| rest.split('}').next()) {
            Some(several) => out.extend(several.split(',').map(first)),
            None => {
                out.insert(first(rest));
            }
        }
    }
    out.retain(|name| !name.is_empty() && name != "super");
    out
}

/// The path in a file that leads to a room above its own, if there is one.
fn upwards(inside: &Path, text: &str, exports: &BTreeMap<String, String>) -> Option<String> {
    let level = |name: &str| ROOMS.iter().position(|room| *room == name);
    let modules = modules(inside);
    let own = level(modules.first()?)?;
    // What is not a room and not exported has come from another crate under its own name.
    let room_of = |name: &String| level(name).or_else(|| level(exports.get(name)?));
    from_the_root(text, modules.len()).into_iter().find(|name| room_of(name).is_some_and(|room| room > own))
}

#[test]
fn no_room_uses_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exports = exports(&std::fs::read_to_string(root.join("lib.rs")).unwrap());
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap();
        let found = upwards(inside, &std::fs::read_to_string(&path).unwrap(), &exports);
        assert_eq!(found, None, "{} uses a room that stands above it", inside.display());
    }
}

#[test]
fn a_path_upwards_is_seen_whichever_way_it_is_written() {
    let exports =
        exports("pub use base::error::{Error, Result};\npub use estimators::{\n    A as Bicluster, KernelSvd,\n};");
    let found = |file: &str, text: &str| upwards(Path::new(file), text, &exports);
    let seen = |name: &str| Some(name.to_string());
    for text in ["use crate::solvers::svd;", "let a = crate::KernelSvd::new();", "use crate::{Error, Bicluster};"] {
        assert!(found("kernel/rbf.rs", text).is_some(), "{text}");
    }
    assert_eq!(found("kernel/mod.rs", "use super::solvers::svd;"), seen("solvers"));
    assert_eq!(found("kernel/rbf.rs", "use super::super::operator::Operator;"), seen("operator"));
    assert_eq!(found("metrics.rs", "use super::KernelSvd;"), seen("KernelSvd"));
    for text in ["use crate::Error;", "use super::solvers::svd;", "use crate::base::Run;", "// crate::online", "x"] {
        assert_eq!(found("kernel/rbf.rs", text), None, "{text}");
    }
    assert_eq!(found("kernel/rbf.rs", "#[cfg(test)]\nmod tests { use crate::KernelSvd; }"), None);
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
