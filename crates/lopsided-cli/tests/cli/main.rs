//! The command line through its binary.

mod ask_ls;
mod bad_input;
mod bicluster;
mod compare;
mod devices;
#[cfg(unix)]
mod documents;
mod embed;
mod export;
mod fit;
mod graph_kernels;
mod help;
mod interrupt;
mod kl;
mod landmarks;
mod learned;
mod links;
mod machines;
mod node_features;
mod online;
mod other_commands;
mod real_data;
mod recipe;
mod report;
mod reproduce;
mod resume;
mod shards;
mod stream;
mod svm;
mod tables;
mod trust;
mod words;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own, where commands run.
struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        Scratch { dir: tempfile::tempdir().unwrap() }
    }

    /// A folder with these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Scratch::new();
        files.iter().for_each(|(name, contents)| _ = scratch.write(name, contents));
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// Runs the binary with words separated by spaces.
    fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lopsided"));
        command.args(words.split_whitespace()).current_dir(self.dir.path());
        command
    }

    /// Stdout of a run that must succeed.
    fn ok(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words}\n{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Stdout of a run that ends, whether it reaches its tolerance or not: landmarks alone need not.
    fn rough(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words}\n{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The JSON object of a run that must succeed.
    fn json(&self, words: &str) -> serde_json::Value {
        let out = self.ok(&format!("{words} --json"));
        assert_eq!(out.lines().count(), 1, "{out}");
        serde_json::from_str(&out).unwrap()
    }

    /// An array of NumPy's, of eight-byte floats.
    fn array(&self, name: &str, shape: &str, values: impl Iterator<Item = f64>) -> PathBuf {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        let data: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        self.write(name, [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), &data].concat())
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Names of all files, sorted.
    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<_> = names.map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A graph of 60 named nodes, one of them without links.
    fn graph(&self) -> PathBuf {
        let mut edges = String::from("source,target\n");
        for i in 0..59 {
            for step in [1, 7, 3 * i + 2] {
                let _ = writeln!(edges, "n{i},n{}", (i + step) % 59);
            }
        }
        self.write("edges.csv", edges + "alone\n")
    }

    /// A table of `n` rows and `d` columns without header.
    fn table(&self, name: &str, n: usize, d: usize) -> PathBuf {
        let value =
            |i: usize, j: usize| ((i * 7919 + j * 104_729 + (i + 3) * (j + 5) * i) % 1009) as f64 / 300.0 + 0.125;
        let row = |i| (0..d).map(|j| value(i, j).to_string()).collect::<Vec<_>>().join(",");
        self.write(name, (0..n).map(row).collect::<Vec<_>>().join("\n") + "\n")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Numbers of a .npy file of eight-byte floats, with its shape.
fn npy(path: &Path) -> (String, Vec<f64>) {
    let bytes = std::fs::read(path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = text(&bytes[10..start]);
    let shape = header.split("'shape': ").nth(1).unwrap().split(')').next().unwrap().to_string() + ")";
    (shape, bytes[start..].as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
