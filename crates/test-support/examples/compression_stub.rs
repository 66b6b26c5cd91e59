//! The compression stub by itself, for clients outside of the tests, until stdin ends:
//! `cargo run -p test-support --example compression_stub -- ok`.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example is a program: it has arguments, prints, and reads stdin"
)]

use std::error::Error;

use test_support::{CompressionStub, StubMode};

fn main() -> Result<(), Box<dyn Error>> {
    let mode = std::env::args().nth(1);
    let mode = mode.map_or(Ok(StubMode::Ok), |name| name.parse())?;
    let stub = CompressionStub::start(mode);
    println!("{}", stub.url());
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
