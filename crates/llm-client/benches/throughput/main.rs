//! The client with all its layers against reqwest and serde by themselves, on loopback and in the same run.
//!
//! `cargo bench -p orrery-llm-client --bench throughput` prints one JSON line for each figure. Both sides run on one thread, the server
//! on another one; they take turns, and the best of three rounds counts. `-- --short` takes shorter turns, `-- --check` fails
//! when a ratio, also one of processor times, misses its goal by more than a fifth, `-- --only NAME` runs `calls`, `tools`, `first`, `long` or
//! `memory`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark reads the clock and its arguments and prints what it measured"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod calls;
mod report;
mod server;
mod sides;
mod streams;
mod wire;

use std::process::ExitCode;
use std::time::Duration;

use report::Report;

/// The number of turns of each side; the best one counts.
const ROUNDS: usize = 3;

/// The duration of a measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Full,
    Short,
}

impl Scale {
    fn pick<T>(self, full: T, short: T) -> T {
        match self {
            Self::Full => full,
            Self::Short => short,
        }
    }
}

/// One thread: what the layers cost is not hidden on another core.
fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// The processor time of this thread, independent of other load on the machine.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, side, server] = arguments.as_slice()
        && first == streams::CHILD
    {
        streams::child(side, server.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let scale = if has("--short") {
        Scale::Short
    } else {
        Scale::Full
    };
    let only = arguments
        .iter()
        .skip_while(|argument| *argument != "--only")
        .nth(1);
    let runs = |name: &str| only.is_none_or(|only| only == name);
    let mut report = Report::default();
    if runs("calls") {
        calls::throughput(&mut report, scale);
    }
    if runs("tools") {
        calls::tools(&mut report, scale);
    }
    if runs("first") {
        calls::first_event(&mut report, scale);
    }
    if runs("long") {
        streams::long(&mut report, scale);
    }
    if runs("memory") {
        streams::memory(&mut report);
    }
    if has("--check") && !report.missed().is_empty() {
        eprintln!(
            "missed by more than a fifth: {}",
            report.missed().join(", ")
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
