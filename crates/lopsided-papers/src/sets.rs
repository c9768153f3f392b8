//! The data sets of a folder.

use crate::tasks::{filled, standardized};
use lopsided::data::io::classes_of;
use lopsided::data::io::{Format, Input, ReadOptions, is_svmlight, read, read_labels};
use lopsided::{Csr, Dataset, Error, Graph, GraphRule, Mat, Result, Samples, Target};
use std::path::{Path, PathBuf};

/// A folder with a data set.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) name: String,
    path: PathBuf,
}

/// A directed graph with classes.
pub(super) struct GraphSet {
    pub(super) graph: Graph,
    /// Rows and columns of its matrix.
    pub(super) data: Dataset<f64>,
    /// Links by row, in the orientation of `data`, as they are.
    pub(super) links: Csr<f64>,
    pub(super) codes: Vec<Option<u32>>,
    pub(super) classes: usize,
    pub(super) notes: Vec<String>,
}

/// A matrix whose rows have classes.
pub(super) struct MatrixSet {
    pub(super) samples: Samples<f64>,
    pub(super) codes: Vec<Option<u32>>,
    pub(super) classes: usize,
    pub(super) notes: Vec<String>,
}

impl GraphSet {
    /// Nodes with a class.
    pub(super) fn labelled(&self) -> usize {
        self.codes.iter().flatten().count()
    }
}

/// The folders of `data` in alphabetical order, or those of them that are named; `data` itself if it is a set.
///
/// # Errors
/// [`Error::Io`] if there is no such folder, [`Error::Unknown`] for a name that is not in it.
pub(super) fn folders(data: &Path, only: &[String]) -> Result<Vec<Folder>> {
    let failed = |e| Error::io(data, e);
    let mut found: Vec<Folder> = Vec::new();
    for entry in std::fs::read_dir(data).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.push(folder(path));
        }
    }
    let own = folder(data.to_path_buf());
    if own.has_graph() || own.has_table() || own.has_matrix() || own.has_svmlight() {
        found.push(own);
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let known: Vec<String> = found.iter().map(|f| f.name.clone()).collect();
    if let Some(missing) = only.iter().find(|name| !known.contains(name)) {
        return Err(Error::Unknown { kind: "data set", name: missing.clone(), known });
    }
    found.retain(|f| only.is_empty() || only.contains(&f.name));
    Ok(found)
}

/// The set of one folder.
pub(super) fn folder(path: PathBuf) -> Folder {
    let name = path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
    Folder { name, path }
}

impl Folder {
    /// Whether there are links and classes.
    pub(super) fn has_graph(&self) -> bool {
        self.links_file().is_some() && self.file(&["labels.csv"]).is_some()
    }

    /// Whether there is a table.
    pub(super) fn has_table(&self) -> bool {
        self.file(&["data.csv"]).is_some()
    }

    /// Whether there is a sparse table.
    pub(super) fn has_svmlight(&self) -> bool {
        self.svmlight().is_some()
    }

    /// The svmlight file; the first by name of several.
    pub(super) fn svmlight(&self) -> Option<PathBuf> {
        let files = std::fs::read_dir(&self.path).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        files.filter(|path| path.is_file() && is_svmlight(path)).min()
    }

    /// Whether there are a matrix and classes of its rows.
    pub(super) fn has_matrix(&self) -> bool {
        self.matrix_file().is_some() && self.file(&["labels.csv"]).is_some()
    }

    fn matrix_file(&self) -> Option<PathBuf> {
        self.file(&["features.mtx", "features.npy"])
    }

    fn links_file(&self) -> Option<PathBuf> {
        self.file(&["edges.csv", "edges.tsv", "edges.txt"])
    }

    /// The first of these files that exists, plain or gzipped.
    fn file(&self, names: &[&str]) -> Option<PathBuf> {
        let both = names.iter().flat_map(|name| [(*name).to_string(), format!("{name}.gz")]);
        both.map(|name| self.path.join(name)).find(|path| path.is_file())
    }

    /// Reads the table: its columns with mean 0 and deviation 1, and its target.
    pub(super) fn table(&self) -> anyhow::Result<(Dataset<f64>, Target)> {
        let file = self.file(&["data.csv"]).ok_or_else(|| self.missing("data.csv"))?;
        let (samples, target) = self.rows_of(&file)?;
        Ok((Dataset::new(Samples::Dense(standardized(samples.as_ref()))), target))
    }

    /// Reads the table with its columns as they are; missing values are the mean of their column.
    pub(super) fn unscaled_table(&self) -> anyhow::Result<(Dataset<f64>, Target)> {
        let file = self.file(&["data.csv"]).ok_or_else(|| self.missing("data.csv"))?;
        let (samples, target) = self.rows_of(&file)?;
        Ok((Dataset::new(Samples::Dense(filled(samples.as_ref()))), target))
    }

    /// Reads the table and, below it, the rows of `test.csv` where there is one; also the number of rows above those.
    pub(super) fn table_and_test(&self) -> anyhow::Result<(Dataset<f64>, Target, usize)> {
        let file = self.file(&["data.csv"]).ok_or_else(|| self.missing("data.csv"))?;
        let (samples, target) = self.rows_of(&file)?;
        let count = samples.count();
        let Some(test) = self.file(&["test.csv"]) else {
            return Ok((Dataset::new(Samples::Dense(standardized(samples.as_ref()))), target, count));
        };
        let (more, more_target) = self.rows_of(&test)?;
        let (Target::Classes { names, codes }, Target::Classes { names: more_names, codes: more_codes }) =
            (target, more_target)
        else {
            return Err(self.missing("classes in data.csv and test.csv").into());
        };
        if names != more_names || samples.width() != more.width() {
            return Err(self.missing("test.csv with the columns and classes of data.csv").into());
        }
        let mut all = Mat::zeros(count + more.count(), samples.width());
        for (samples, from) in [(&samples, 0), (&more, count)] {
            (0..samples.count()).for_each(|i| samples.as_ref().for_each(i, |j, value| all[(from + i, j)] = value));
        }
        let all = standardized(Samples::Dense(all).as_ref());
        let codes = [codes, more_codes].concat();
        Ok((Dataset::new(Samples::Dense(all)), Target::Classes { names, codes }, count))
    }

    fn missing(&self, what: &str) -> Error {
        Error::parse(self.path.display().to_string(), format!("has no {what}"))
    }

    fn rows_of(&self, file: &Path) -> anyhow::Result<(Samples<f64>, Target)> {
        let options = ReadOptions { format: Some(Format::Table), ..ReadOptions::default() };
        let Input::Table(table) = read::<f64>(file, &options)? else { return Err(self.missing("table").into()) };
        let (_, target) = table.target.ok_or_else(|| self.missing("target column"))?;
        Ok((table.samples, target.measured()))
    }

    /// Reads the table as it is: rows to learn from, and rows to test on where the set has them.
    pub(super) fn raw_table(&self) -> anyhow::Result<(Dataset<f64>, Option<Dataset<f64>>)> {
        let missing = || Error::parse(self.path.display().to_string(), "has no data.csv with a target column");
        let one = |names: &[&str]| -> anyhow::Result<Option<Dataset<f64>>> {
            let Some(file) = self.file(names) else { return Ok(None) };
            let options = ReadOptions { format: Some(Format::Table), ..ReadOptions::default() };
            let Input::Table(table) = read::<f64>(&file, &options)? else { return Err(missing().into()) };
            table.samples.check_finite(&file.display().to_string())?;
            let (_, target) = table.target.ok_or_else(missing)?;
            Ok(Some(Dataset { y: Some(target.measured()), ..Dataset::new(table.samples) }))
        };
        Ok((one(&["data.csv"])?.ok_or_else(missing)?, one(&["test.csv"])?))
    }

    /// Reads the matrix and the classes of its rows.
    pub(super) fn matrix(&self) -> anyhow::Result<MatrixSet> {
        let labels_file = self.file(&["labels.csv"]).ok_or_else(|| self.missing("labels.csv"))?;
        let file = self.matrix_file().ok_or_else(|| self.missing("features.mtx"))?;
        let Input::Table(table) = read::<f64>(&file, &ReadOptions::default())? else {
            return Err(self.missing("matrix").into());
        };
        table.samples.check_finite(&file.display().to_string())?;
        let labels = read_labels(&labels_file)?;
        let data = Dataset::new(table.samples);
        let Target::Classes { names, codes } = classes_of(&labels_file, &data, &labels)? else {
            return Err(self.missing("classes").into());
        };
        let notes = table.notes.into_iter().chain(several_labels(&labels)).collect();
        Ok(MatrixSet { samples: data.x, codes, classes: names.len(), notes })
    }

    /// Reads links and classes.
    pub(super) fn graph(&self) -> anyhow::Result<GraphSet> {
        let labels_file = self.file(&["labels.csv"]).ok_or_else(|| self.missing("labels.csv"))?;
        let links_file = self.links_file().ok_or_else(|| self.missing("edges.csv"))?;
        let labels = read_labels(&labels_file)?;
        let nodes = labels.iter().map(|(id, _)| id.clone()).collect();
        let format = Some(Format::Edges);
        let Input::Graph(graph, mut notes) =
            read::<f64>(&links_file, &ReadOptions { nodes, format, ..ReadOptions::default() })?
        else {
            return Err(self.missing("list of links").into());
        };
        let data = Dataset::from_graph(&graph, &GraphRule::default())?;
        notes.extend(several_labels(&labels));
        let Target::Classes { names, codes } = classes_of(&labels_file, &data, &labels)? else {
            return Err(self.missing("classes").into());
        };
        let links = graph.adjacency().transpose();
        Ok(GraphSet { links, data, codes, classes: names.len(), notes, graph })
    }
}

/// A remark about nodes that have more than one class, of which only one counts.
fn several_labels(labels: &[(String, String)]) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    let again = labels.iter().filter(|(id, _)| !seen.insert(id)).count();
    (again > 0).then(|| format!("of nodes with several labels only the last counts; {again} labels are left out"))
}
