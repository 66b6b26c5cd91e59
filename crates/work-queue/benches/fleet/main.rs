//! A plan to 1,000 workers: a simulated fleet, held against the prototype's figures and against a real run.
//!
//! `cargo bench -p orrery-work-queue --bench fleet -- [--quick] [JSON]` prints the table with the constants of the specification and fails
//! when a row is not within 10 % of its reference. With the path of the output of the bench `queue`, the table follows once more
//! with the costs measured there. Then a real run with one and two workers, if a `PostgreSQL` server can run.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark reads its arguments and prints what it measured"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod checks;
mod real;
#[path = "../scene/mod.rs"]
mod scene;
mod simulation;
mod station;
mod table;

use std::process::ExitCode;

use serde_json::Value;

const HEAD: &str = "| W | R | change | laws/s | of ideal | server / log busy | reference | off |\n|---|---|---|---|---|---|---|---|";

const REAL_HEAD: &str = "| laws | workers | a job without work | measured laws/s | predicted | ratio | |\n|---|---|---|---|---|---|---|";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if scene::serve(&arguments) {
        return ExitCode::SUCCESS;
    }
    checks::check();
    println!("## Simulated with the constants of the specification\n\n{HEAD}");
    let mut misses = Vec::new();
    for row in table::rows() {
        let figures = row.simulate(&table::SPECIFIED);
        println!("{}", row.line(&figures));
        let found = row.misses(&figures).into_iter();
        misses.extend(found.map(|miss| format!("{}: {miss}", row.name())));
    }
    if let Some(path) = arguments.iter().find(|word| !word.starts_with('-')) {
        let bench: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        // The time on the clock is an upper bound of the server's.
        for cost in ["job_ms", "job_server_ms"] {
            let costs = table::measured(&bench, cost).unwrap();
            println!(
                "\n## Simulated with the measured {cost} of {:.2}\n\n{HEAD}",
                costs.job * 1e3
            );
            for row in table::rows() {
                println!("{}", row.line(&row.simulate(&costs)));
            }
        }
    }
    let is_quick = arguments.iter().any(|word| word == "--quick");
    if let Some(lines) = scene::runtime().block_on(real::lines(is_quick)) {
        println!(
            "\n## Measured against predicted\n\n{REAL_HEAD}\n{}",
            lines.join("\n")
        );
    }
    for miss in &misses {
        eprintln!("not within 10 %: {miss}");
    }
    if misses.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
