//! The command line of lopsided.

#[cfg_attr(not(test), expect(dead_code, reason = "no command writes a report yet"))]
mod report;

fn main() {}
