//! Products of matrices with blocks of vectors, and what decides how they are made; operators are put together from these.

pub(crate) mod components;
pub(crate) mod exponents;
pub(crate) mod few;
pub(crate) mod radius;
pub(crate) mod single;
pub(crate) mod sparse_product;
pub(crate) mod strips;
pub(crate) mod thin;

/// Rows and columns of a tile of kernel values.
pub(crate) const TILE: usize = 256;
