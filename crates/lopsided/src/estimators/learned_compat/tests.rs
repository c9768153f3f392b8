use super::*;

#[test]
fn settings_out_of_range_are_refused() {}
