//! The extension module is built with the tests, so that `make test` needs no other build for the Python package.

#[test]
fn the_extension_module_lies_beside_the_program() {
    let test = std::env::current_exe().expect("a test has a path");
    let name = format!("{}_core{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let folders: Vec<_> = test.ancestors().skip(1).take(2).collect();
    assert!(folders.iter().any(|folder| folder.join(&name).exists()), "{name} is in none of {folders:?}");
}
