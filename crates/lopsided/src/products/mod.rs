//! Products of matrices with blocks of vectors, and what decides how they are made; operators are put together from
//! these.
//!
//! | file | product | chosen when |
//! | --- | --- | --- |
//! | `exponents` | tiles of exp(−gamma·‖x − z‖²), samples prepared once | dense samples, squared distances |
//! | `single` | the same kernel in single precision | the result is checked in double precision afterwards |
//! | `few` | a stored matrix times at most eight vectors | the matrix comes from memory, which is what it costs |
//! | `thin` | a strip of kernel values times one vector, and its transpose | Gᵀ(y − G·h) in one pass over tiles |
//! | `sparse_product` | (C + α·βᵀ)·V with a sparse C | kernels that are rank one plus sparse |
//! | `strips` | the same with C cut into strips of columns | C is so wide that V does not stay in the cache |
//! | `components`, `radius` | the spectral radius ρ of a graph's matrix | Katz proximity, for β below 1/ρ |
//!
//! Every result has the same bits whatever the number of threads: each number is summed by one thread, in an order that
//! depends on the sizes alone.

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
