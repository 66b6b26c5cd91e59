//! `zer0gravity`: semantic compression, measured, on the command line.

fn main() {}
