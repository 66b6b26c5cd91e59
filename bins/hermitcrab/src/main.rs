//! `hermitcrab`: a model that lives in blocks, on the command line.

fn main() {}
