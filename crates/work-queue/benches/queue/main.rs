//! The costs of the queue on a server that syncs each commit, with workers in separate processes.
//!
//! `cargo bench -p orrery-work-queue --bench queue` prints one JSON object; it takes about a quarter of an hour and 1 GB of disk. `-- --quick`
//! takes two minutes and has smaller instances, `-- --only NAME` runs `costs`, `share`, `speedup`, `growth` or `memory`. Each ratio
//! comes from turns that alternate, so that other load on the machine meets both sides; the best turn counts. The bench `fleet` reads
//! the field `costs`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark reads its arguments and prints what it measured"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod cost;
mod growth;
#[path = "../scene/mod.rs"]
mod scene;
mod share;
mod speedup;

use serde_json::{Value, json};
use test_support::postgres;

/// The size of the instances.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Full,
    Quick,
}

impl Scale {
    fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}

/// The value with this number of decimals.
fn rounded(value: f64, decimals: i32) -> f64 {
    let factor = 10_f64.powi(decimals);
    (value * factor).round() / factor
}

fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// The load of the machine, as the system says it.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

async fn measure(scale: Scale, only: &dyn Fn(&str) -> bool) -> Option<Value> {
    let server = postgres::durable_server()?;
    let mut answer = serde_json::Map::new();
    answer.insert("quick".to_owned(), json!(scale == Scale::Quick));
    answer.insert("load_before".to_owned(), json!(load()));
    if only("costs") {
        answer.insert("costs".to_owned(), cost::measure(&server, scale).await);
    }
    if only("share") {
        answer.insert("share".to_owned(), share::measure(&server, scale).await);
    }
    if only("speedup") {
        answer.insert("speedup".to_owned(), speedup::measure(&server, scale).await);
    }
    if only("growth") {
        answer.insert("growth".to_owned(), growth::rows(&server, scale).await);
    }
    if only("memory") {
        answer.insert("memory".to_owned(), growth::memory(&server, scale).await);
    }
    answer.insert("load_after".to_owned(), json!(load()));
    Some(Value::Object(answer))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if scene::serve(&arguments) {
        return;
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let scale = if quick { Scale::Quick } else { Scale::Full };
    let named = arguments
        .iter()
        .skip_while(|argument| *argument != "--only")
        .nth(1);
    let only = |part: &str| named.is_none_or(|named| named == part);
    if let Some(answer) = scene::runtime().block_on(measure(scale, &only)) {
        println!("{answer:#}");
    }
}
