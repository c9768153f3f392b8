use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::columns::Cells;
use crate::data::io::source::Source;
use crate::data::io::{Input, ReadOptions};
use faer::MatRef;
use std::path::Path;

pub(in crate::data::io) fn read_parquet<T: Scalar>(source: Source, _: &ReadOptions) -> Result<Input<T>> {
    Err(refused(source.name()))
}

pub(in crate::data::io) fn read_arrow<T: Scalar>(source: Source, _: &ReadOptions) -> Result<Input<T>> {
    Err(refused(source.name()))
}

pub(in crate::data::io) fn read_parquet_labels(source: Source) -> Result<Vec<(String, String)>> {
    Err(refused(source.name()))
}

pub(in crate::data::io) fn parquet_bytes<T: Scalar>(path: &Path, _: &[String], _: MatRef<'_, T>) -> Result<Vec<u8>> {
    Err(refused(&path.display().to_string()))
}

pub(in crate::data::io) fn parquet_width(source: Source) -> Result<usize> {
    Err(refused(source.name()))
}

/// Nothing, in a build that reads no Parquet.
pub(in crate::data::io) enum ParquetRows {}

impl ParquetRows {
    pub(in crate::data::io) fn open(path: &Path, _: &ReadOptions) -> Result<Self> {
        Err(refused(&path.display().to_string()))
    }

    pub(in crate::data::io) fn count(&self) -> usize {
        match *self {}
    }

    pub(in crate::data::io) fn names(&self) -> Vec<String> {
        match *self {}
    }

    pub(in crate::data::io) fn targets(&self) -> Vec<String> {
        match *self {}
    }

    pub(in crate::data::io) fn skip(&mut self, _: usize) -> Result<()> {
        match *self {}
    }

    pub(in crate::data::io) fn next<T: Scalar>(&mut self, _: usize) -> Result<(usize, Vec<T>, Vec<Cells>)> {
        match *self {}
    }
}

fn refused(name: &str) -> Error {
    Error::parse(name, "is of a format that this build leaves out: build lopsided with the feature `arrow`")
}
