//! Readers on hostile bytes and, where `LOPSIDED_DATA` names the folder, on real files.
#![allow(missing_docs, clippy::print_stderr)]

#[path = "readers/models.rs"]
mod models;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use lopsided::data::dataset::Target;
use lopsided::data::graph::Graph;
use lopsided::data::io::{Format, Input, ReadOptions, Table, TargetColumn, read, read_ids, read_labels};
use lopsided::data::samples::Samples;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FORMATS: [Format; 8] = [
    Format::Edges,
    Format::Table,
    Format::MatrixMarket,
    Format::Npy,
    Format::Npz,
    Format::SvmLight,
    Format::Parquet,
    Format::Arrow,
];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn batch() -> RecordBatch {
    let a: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(2.0)]));
    let b: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let y: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "x"]));
    RecordBatch::try_from_iter([("a", a), ("b", b), ("y", y)]).unwrap()
}

fn parquet_file() -> Vec<u8> {
    let schema = "message m { optional double a; required int64 b; required binary y (STRING); }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut a = group.next_column().unwrap().unwrap();
    a.typed::<DoubleType>().write_batch(&[0.5, 2.0], Some(&[1, 0, 1]), None).unwrap();
    a.close().unwrap();
    let mut b = group.next_column().unwrap().unwrap();
    b.typed::<Int64Type>().write_batch(&[1, 2, 3], None, None).unwrap();
    b.close().unwrap();
    let mut y = group.next_column().unwrap().unwrap();
    y.typed::<ByteArrayType>().write_batch(&["x", "y", "x"].map(ByteArray::from), None, None).unwrap();
    y.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

fn arrow_file(stream: bool) -> Vec<u8> {
    let schema = batch().schema();
    if stream {
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
        writer.write(&batch()).unwrap();
        return writer.into_inner().unwrap();
    }
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&batch()).unwrap();
    writer.into_inner().unwrap()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), data].concat()
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A well-formed file of each kind.
fn samples() -> Vec<(Format, Vec<u8>)> {
    let scipy = npz(&[
        ("indptr", npy("|u1", "(3,)", &[0, 2, 3])),
        ("indices", npy("|u1", "(3,)", &[0, 2, 1])),
        ("data", npy("|u1", "(3,)", &[7, 8, 9])),
        ("shape", npy("|u1", "(2,)", &[2, 3])),
        ("format", npy("|S3", "()", b"csr")),
    ]);
    let coordinate = "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n1 1 0.5\n3 2 -1e3\n";
    vec![
        (Format::Edges, b"source,target,weight\n0,1,0.5\n1,\"2\",3\n# c\n7\n2,0,1e3\n".to_vec()),
        (Format::Edges, "ann\tbob\nbob\tcid\nd\u{e9}j\u{e0}\tann\n".as_bytes().to_vec()),
        (Format::Table, b"a,b,kind\n1,2.5,x\n\"3\",NA,y\n-1e-3,4,x\n".to_vec()),
        (Format::MatrixMarket, coordinate.as_bytes().to_vec()),
        (Format::MatrixMarket, b"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n".to_vec()),
        (Format::Npy, npy("<f8", "(2, 2)", &[7; 32])),
        (Format::Npz, npz(&[("X", npy(">i2", "(2, 3)", &[1; 12]))])),
        (Format::Npz, scipy),
        (Format::SvmLight, b"+1 qid:1 1:0.5 7:2 # c\n-1 2:1e3\n".to_vec()),
        (Format::Parquet, parquet_file()),
        (Format::Arrow, arrow_file(false)),
        (Format::Arrow, arrow_file(true)),
    ]
}

/// Rounds of an attack: so many, or as `LOPSIDED_ROUNDS` says.
fn many(usual: usize) -> usize {
    std::env::var("LOPSIDED_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

/// The seed of an attack: this one, or that of `LOPSIDED_SEED`.
fn seed(usual: u64) -> u64 {
    std::env::var("LOPSIDED_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(usual)
}

/// Truncates, flips, repeats and overwrites, also by lengths as files have them.
fn mutate(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..=out.len());
        match rng.random_range(0..7) {
            0 => out.truncate(at),
            1 => out.insert(at, rng.random()),
            2 => out.insert(at, b"0123456789,;\t\n-.\"e:%"[rng.random_range(0..20)]),
            3 if at < out.len() => out[at] ^= 1 << rng.random_range(0..8),
            4 if at < out.len() => out[at] = [0, 0xff, 0x7f, b'9'][rng.random_range(0..4)],
            5 => {
                let length =
                    [0, 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 63, u64::MAX][rng.random_range(0..7)].to_le_bytes();
                let width = [4, 8][rng.random_range(0..2)];
                out.iter_mut().skip(at).zip(&length[..width]).for_each(|(byte, new)| *byte = *new);
            }
            6 => {
                let piece: &[u8] =
                    [&b"nan"[..], b"inf", b"1e309", b"18446744073709551615", b"\xff\xfe"][rng.random_range(0..5)];
                out.splice(at..at, piece.iter().copied());
            }
            _ => out.extend_from_within(at..),
        }
        if out.len() > 1 << 14 {
            out.truncate(1 << 14);
        }
    }
    out
}

/// Reads bytes as a format, from a plain file, and as labels and ids; the outcome does not matter.
fn survive(path: &Path, format: Format, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let outcome = std::panic::catch_unwind(|| {
        let _ = read::<f64>(path, &options);
        if matches!(format, Format::Edges | Format::Table) {
            let _ = read_labels(path);
            let _ = read_ids(path);
        }
    });
    assert!(outcome.is_ok(), "{format} panics on {bytes:?}");
}

/// The most memory this process has ever used, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

#[test]
fn well_formed_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    for (format, bytes) in samples() {
        for bytes in [bytes.clone(), gzip(&bytes)] {
            let path = dir.path().join("file");
            std::fs::write(&path, bytes).unwrap();
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            read::<f32>(&path, &options).unwrap();
        }
    }
}

#[test]
fn damaged_files_neither_panic_nor_exhaust_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut rng = ChaCha8Rng::seed_from_u64(seed(1));
    for round in 0..many(600 * samples().len()) / samples().len() {
        for (format, bytes) in samples() {
            let damaged = mutate(&bytes, &mut rng);
            survive(&path, format, &damaged);
            match round % 4 {
                0 => survive(&path, format, &gzip(&damaged)),
                1 => survive(&path, format, &mutate(&gzip(&bytes), &mut rng)),
                _ => {}
            }
        }
    }
    if let Some(peak) = peak_bytes() {
        assert!(peak < 1 << 30, "peak memory is {peak} bytes");
    }
}

#[test]
fn random_bytes_neither_panic_nor_exhaust_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut rng = ChaCha8Rng::seed_from_u64(seed(2));
    for round in 0..many(200 * FORMATS.len()) / FORMATS.len() {
        let length = rng.random_range(0..300);
        let noise: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        let text: Vec<u8> = (0..length).map(|_| b"0123456789,;\t\n -.\"#a:%"[rng.random_range(0..22)]).collect();
        for format in FORMATS {
            let bytes = if round % 2 == 0 { &noise } else { &text };
            survive(&path, format, bytes);
            if round % 8 == 0 {
                survive(&path, format, &gzip(bytes));
            }
        }
    }
}

/// The file in the data folder, unless there is none.
fn data(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("LOPSIDED_DATA");
    if folder.is_none() {
        eprintln!("skipped: LOPSIDED_DATA is not set");
    }
    Some(Path::new(&folder?).join(file))
}

fn table(path: &Path) -> Table<f64> {
    match read(path, &ReadOptions::default()).unwrap() {
        Input::Table(table) => table,
        Input::Graph(..) => panic!("{} is a graph", path.display()),
    }
}

fn graph(path: &Path, nodes: Vec<String>) -> (Graph, Vec<String>) {
    match read::<f64>(path, &ReadOptions { nodes, ..ReadOptions::default() }).unwrap() {
        Input::Graph(graph, notes) => (graph, notes),
        Input::Table(_) => panic!("{} is a table", path.display()),
    }
}

fn classes(table: &Table<f64>) -> &[String] {
    match &table.target {
        Some((_, Target::Classes { names, .. })) => names,
        other => panic!("{other:?}"),
    }
}

#[test]
fn citation_graphs() {
    let Some(path) = data("cora/edges.csv") else { return };
    let (cora, notes) = graph(&path, Vec::new());
    assert_eq!((cora.nodes(), cora.adjacency().nnz(), notes.len()), (2708, 5429, 0));
    let Some(path) = data("citeseer/edges.csv") else { return };
    let labels = read_labels(&path.with_file_name("labels.csv")).unwrap();
    let (citeseer, notes) = graph(&path, labels.into_iter().map(|(node, _)| node).collect());
    assert_eq!((citeseer.nodes(), citeseer.adjacency().nnz()), (3312, 4591));
    assert_eq!(notes, ["48 of the 3312 nodes have no link; they stay"]);
}

#[test]
fn sparse_features() {
    let Some(path) = data("acm/features.mtx.gz") else { return };
    let Samples::Sparse(features) = table(&path).samples else { panic!("dense") };
    assert_eq!((features.nrows(), features.ncols(), features.nnz()), (3025, 1870, 253_300));
}

#[test]
fn labelled_tables() {
    let Some(path) = data("pima/data.csv") else { return };
    let pima = table(&path);
    assert_eq!((pima.samples.count(), pima.samples.width()), (768, 8));
    assert_eq!(classes(&pima), ["0", "1"]);
    let options = ReadOptions { target: TargetColumn::None, ..ReadOptions::default() };
    assert!(matches!(read::<f64>(&path, &options).unwrap(), Input::Table(t) if t.samples.width() == 9));
    let Some(path) = data("usps/data.csv.gz") else { return };
    let usps = table(&path);
    assert_eq!((usps.samples.count(), usps.samples.width(), classes(&usps).len()), (7291, 256, 10));
}

#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn all_files_of_the_data_folder() {
    let Some(folder) = data("") else { return };
    for set in std::fs::read_dir(folder).unwrap().filter_map(|entry| std::fs::read_dir(entry.ok()?.path()).ok()) {
        for file in set.map(|entry| entry.unwrap().path()) {
            read::<f64>(&file, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}
