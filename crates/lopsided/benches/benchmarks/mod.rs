pub(crate) mod apply;
pub(crate) mod svd;
