//! A `PostgreSQL` server for the tests of many processes, until stdin ends: `cargo xtask test` starts it. It prints the address.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example is a program: it prints and reads stdin"
)]

use std::process::ExitCode;

use test_support::postgres;

fn main() -> ExitCode {
    let Some(server) = postgres::shared_server() else {
        eprintln!("no PostgreSQL server programs (15 or later)");
        return ExitCode::FAILURE;
    };
    println!("{}", server.url());
    let _ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    ExitCode::SUCCESS
}
