//! Reference values on real data, read from the folder named by `LOPSIDED_DATA`.
