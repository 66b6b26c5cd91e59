use std::io;
use std::path::PathBuf;

use bin_support::printable;
use zer0gravity_engine::RulesError;
use zer0gravity_engine::dataset::CaseError;

/// What is wrong with an input, an output or flags. Every message names what it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot read {}", name(path))]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {}", name(path))]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{}: no encoding system", name(path))]
    Rules {
        path: PathBuf,
        #[source]
        source: RulesError,
    },
    #[error("{}: the ending says no format; use .json, .jsonl or .csv", name(path))]
    Format { path: PathBuf },
    /// Every bad line was reported before.
    #[error(
        "{}: {} cannot be used; mend them, or leave them out with --skip-bad",
        name(path),
        plural(*lines, "line")
    )]
    BadLines { path: PathBuf, lines: usize },
    #[error(transparent)]
    Case(#[from] CaseError),
    #[error(
        "case {id}: the text has {bytes} bytes, more than 1 MiB; --allow-long runs it all the same"
    )]
    LongText { id: String, bytes: usize },
    #[error("{flag} names a model, and offline no model is asked: all roles or none")]
    OfflineRole { flag: &'static str },
    #[error("{flag} takes 1 to 1000, not {found}")]
    OutOfRange { flag: &'static str, found: usize },
    #[error("--judge-model {model} is given twice; --judge-samples asks a judge more often")]
    JudgeTwice { model: String },
    #[error("--max-usd: the price of {model} is not known; give it with --prices FILE")]
    Unpriced { model: String },
    #[error("{}: not a JSON file of {what}: {message}", name(path))]
    Form {
        path: PathBuf,
        what: &'static str,
        message: String,
    },
    #[error("{}: schema_version is {found}, this program reads 1", name(path))]
    SchemaVersion { path: PathBuf, found: u64 },
    #[error("{}: another process works in this directory", name(path))]
    InUse { path: PathBuf },
    #[error("{}: holds another plan; it differs in {}", name(path), differences.join(", "))]
    AnotherPlan {
        path: PathBuf,
        differences: Vec<String>,
    },
    #[error(
        "{}: the plan is not the one that was frozen: the file was edited, or another version wrote it; begin a new run",
        name(path)
    )]
    Thawed { path: PathBuf },
    #[error(
        "{}: holds calls.jsonl and no run.json; choose an empty directory",
        name(path)
    )]
    ForeignCalls { path: PathBuf },
    #[error("{}: no run; `run --run-dir` or `matrix` begins one", name(path))]
    NoRun { path: PathBuf },
    #[error(
        "{}: the run is not finished; `zer0gravity resume` goes on with it",
        name(path)
    )]
    Unfinished { path: PathBuf },
    #[error("a file of prices")]
    Prices(#[source] llm_client::ConfigError),
}

/// A path as a message shows it.
fn name(path: &std::path::Path) -> String {
    printable(&path.display().to_string())
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
