use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use bin_support::{Failure, escape};
use llm_client::Usd;
use zer0gravity_engine::dataset::{CaseError, CaseFormat, RulesError};
use zer0gravity_engine::plan::rubric::RubricError;
use zer0gravity_engine::run::DirectoryError;
use zer0gravity_engine::store::StoreError;

/// A fault of an input, an output or flags. Every message names the file or flag.
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
    #[error("{}: cannot be used as rules", name(path))]
    Rules {
        path: PathBuf,
        #[source]
        source: RulesError,
    },
    #[error(
        "{}: the file's ending names no format; rename it to end in {}",
        name(path),
        endings(" or ")
    )]
    Format { path: PathBuf },
    #[error(
        "{}: the folder holds no file that ends in {}; name another folder, or files",
        name(path),
        endings(" or ")
    )]
    NoFile { path: PathBuf },
    #[error(
        "id {id:?} is in {} and in {}; ids are unique over all files: rename one of them",
        name(first),
        name(second)
    )]
    SameId {
        id: String,
        first: PathBuf,
        second: PathBuf,
    },
    /// Every bad line was reported before.
    #[error(
        "{}: {} cannot be used; fix them, or leave them out with --skip-bad",
        name(path),
        plural(*lines, "line")
    )]
    BadLines { path: PathBuf, lines: usize },
    #[error(transparent)]
    Case(#[from] CaseError),
    /// Names that lead to one run, which differs in nothing from itself.
    #[error(
        "OLD is {} and NEW is {}, the same run: name another OLD, or two runs",
        name(old),
        name(new)
    )]
    SameRun { old: PathBuf, new: PathBuf },
    #[error(
        "{0} and {1}: expected results of runs, not texts; to compare rules, run `zer0gravity matrix --all --encoding {0} {1}`",
        name(&files[0]), name(&files[1])
    )]
    RulesCompared { files: [PathBuf; 2] },
    #[error(
        "no texts: give INPUT (files or folders), --level N (1, 2 or 3; `zer0gravity levels` lists them) or --all"
    )]
    NoTexts,
    #[error(
        "no texts: --encoding took {} too, as rules; put INPUT before --encoding, or give --level N or --all",
        taken.iter().map(|path| name(path)).collect::<Vec<_>>().join(", ")
    )]
    TextsTaken { taken: Vec<PathBuf> },
    #[error(
        "no text is selected by --case, --tag and --not-tag; ids: {}; tags: {}",
        listed(ids),
        listed(tags)
    )]
    NoCase {
        ids: BTreeSet<String>,
        tags: BTreeSet<String>,
    },
    #[error(
        "{}: the seal exists, and its salt would be lost; name another file",
        name(path)
    )]
    SealExists { path: PathBuf },
    #[error("no salt can be drawn: {0}")]
    Salt(String),
    #[error(
        "{}: the seal is of other texts; give the sealed files in their order, without a selection",
        name(path)
    )]
    OtherTexts { path: PathBuf },
    #[error(
        "{}: expected all results of a finished run; a part of them has no board",
        name(path)
    )]
    BoardOfPart { path: PathBuf },
    #[error(
        "{}: logs of Inspect end in .json; choose another file, or a folder, which ends in /",
        name(path)
    )]
    LogEnding { path: PathBuf },
    #[error("{}: --encoding-id selects nothing; ids: {}", name(path), listed(ids))]
    NoEncoding {
        path: PathBuf,
        ids: BTreeSet<String>,
    },
    #[error(
        "case {id}: the text has {bytes} bytes, more than 1 MiB; --allow-long runs it all the same"
    )]
    LongText { id: String, bytes: usize },
    #[error(
        "{flag} names a model, and this run is offline: all roles or none; give --provider, or leave {flag} out"
    )]
    OfflineRole { flag: &'static str },
    #[error(
        "{flag} offline: this run asks models, and offline is for all roles or none; name a model, or give --provider offline"
    )]
    OnlineRole { flag: &'static str },
    #[error("{flag} {model}: the model is named twice; name it once")]
    ModelTwice { flag: &'static str, model: String },
    #[error(
        "{}: two encoding systems have this name together with their models; rename the file of one",
        escape(id)
    )]
    SystemTwice { id: String },
    #[error("--decoder-model: `zer0gravity matrix` takes several models, this command one")]
    SeveralDecoders,
    #[error(
        "--pair-models: no model is given as --encoder-model and as --decoder-model; name each in both, or in one of them alone"
    )]
    NoPair,
    #[error(
        "--temperature and --judge-temperature: this run is offline and asks no model; give --provider, or leave them out"
    )]
    OfflineTemperature,
    #[error(
        "--temperature: the texts are encoded and decoded already; the judges have --judge-temperature"
    )]
    TemperatureOfGiven,
    #[error(
        "the provider does not take a temperature of this run: {}; leave --temperature or --judge-temperature out, or name another one, in a new run",
        escape(detail)
    )]
    TemperatureRefused { detail: String },
    #[error("--encoding-id: a part of a run does not replace its page; name another file with -o")]
    PartOfPage,
    #[error("{flag}: expected a number from 1 to 1000, found {found}")]
    OutOfRange { flag: &'static str, found: usize },
    #[error(
        "--judge-model {model} is given twice; name it once, and ask it more often with --judge-samples"
    )]
    JudgeTwice { model: String },
    #[error(
        "--max-usd: the cap of {cap} is below the first call: an encoding by {model} may cost {most}; raise the cap, or lower --max-output-tokens"
    )]
    CapTooLow { cap: Usd, model: String, most: Usd },
    #[error(
        "{flag}: no API key for anthropic: set ZER0GRAVITY_API_KEY or ANTHROPIC_API_KEY, or pass --provider offline to check offline results"
    )]
    CheckedOffline { flag: &'static str },
    #[error(
        "offline mode can run only rules in the rule syntax; line {line} needs a model: {evidence:?}; set a key, or see `zer0gravity lint`"
    )]
    NeedsModel { line: usize, evidence: String },
    #[error(
        "{id}: no rule in it; write one in each line, in the syntax that `zer0gravity rules` prints"
    )]
    NoRule { id: String },
    #[error("{id}: line {line} needs a model: {evidence:?}; offline its experiments fail")]
    FailsOffline {
        id: String,
        line: usize,
        evidence: String,
    },
    #[error("{}: {source}", name(path))]
    Rubric { path: PathBuf, source: RubricError },
    #[error("{}: expected UTF-8", name(path))]
    NoUtf8 { path: PathBuf },
    #[error(
        "{}: expected a prompt that asks for JSON with the key \"score\"",
        name(path)
    )]
    NoScorePrompt { path: PathBuf },
    #[error("{flag} needs a model, and this run is offline; name a --provider")]
    PromptOffline { flag: &'static str },
    #[error(
        "{reason}: this run is offline, and has no batches; set a key, or name a --provider with batches"
    )]
    BatchOffline { reason: &'static str },
    #[error("--batch keeps the calls in the run's directory; name it with --run-dir")]
    BatchWithoutDirectory,
    #[error("{reason}")]
    Batch {
        reason: &'static str,
        #[source]
        source: llm_client::Error,
    },
    #[error(
        "the rubric of this run runs programs: {}; allow them with --allow-programs",
        escape(programs)
    )]
    Programs { programs: String },
    #[error("{message}")]
    UnknownMeasure { message: String },
    #[error("{}: expected a JSON file of {what}: {message}", name(path))]
    Form {
        path: PathBuf,
        what: &'static str,
        message: String,
    },
    #[error(
        "{}: schema_version is {found}, this program reads 1 and 2; use the version of zer0gravity that wrote it",
        name(path)
    )]
    SchemaVersion { path: PathBuf, found: u64 },
    #[error(
        "{}: another process is using this directory; wait until it ends, or choose another --run-dir",
        name(path)
    )]
    InUse { path: PathBuf },
    #[error(
        "{0}: already contains another run, which differs in {1}; use another --run-dir, or `zer0gravity resume {0}` to continue that one",
        name(path), differences.join(", ")
    )]
    AnotherPlan {
        path: PathBuf,
        differences: Vec<String>,
    },
    #[error(
        "{}: the plan is not the one that the run began with: the file was edited, or another version wrote it; restore it, or start a new run in another --run-dir",
        name(path)
    )]
    Thawed { path: PathBuf },
    #[error(
        "{}: holds calls.jsonl and no run.json; choose an empty directory with --run-dir",
        name(path)
    )]
    ForeignCalls { path: PathBuf },
    #[error(
        "{0}: holds no run; `zer0gravity run --run-dir {0}` starts one",
        name(path)
    )]
    NoRun { path: PathBuf },
    #[error(
        "{0}: the run is not finished; `zer0gravity resume {0}` continues it",
        name(path)
    )]
    Unfinished { path: PathBuf },
    #[error(
        "{}: no rescore to continue; `zer0gravity rescore` without --resume starts one",
        name(path)
    )]
    NoRescore { path: PathBuf },
    #[error(
        "{}: changed after report.json was written; restore the file, or rebuild the report with `zer0gravity resume {} --accept-changed-calls`",
        name(path),
        name(run)
    )]
    CallsChanged { path: PathBuf, run: PathBuf },
    #[error(
        "{}: no reply in it reports its tokens; choose another run, or leave --like out",
        name(path)
    )]
    NoReplies { path: PathBuf },
}

/// A fault of a run directory in the words of this program, with its exit code: a directory that cannot be meant is a fault of the
/// command line.
pub fn directory(error: DirectoryError) -> Failure {
    let usage = match error {
        DirectoryError::Read { path, source } => return Error::Read { path, source }.into(),
        DirectoryError::Write { path, source } => return Error::Write { path, source }.into(),
        DirectoryError::Report { path, source } => {
            let (what, message) = ("a report", source.to_string());
            return Error::Form {
                path,
                what,
                message,
            }
            .into();
        }
        DirectoryError::CallsChanged { path, run } => {
            return Error::CallsChanged { path, run }.into();
        }
        error @ (DirectoryError::Calls(StoreError::SchemaVersion { .. })
        | DirectoryError::LedgerLost { .. }) => {
            return Failure::usage(error);
        }
        DirectoryError::Form {
            path,
            what,
            message,
        } => Error::Form {
            path,
            what,
            message,
        },
        DirectoryError::SchemaVersion { path, found } => Error::SchemaVersion { path, found },
        DirectoryError::InUse { path } => Error::InUse { path },
        DirectoryError::AnotherPlan { path, differences } => {
            Error::AnotherPlan { path, differences }
        }
        DirectoryError::Thawed { path } => Error::Thawed { path },
        DirectoryError::ForeignCalls { path } => Error::ForeignCalls { path },
        DirectoryError::NoRun { path } => Error::NoRun { path },
        DirectoryError::Unfinished { path } => Error::Unfinished { path },
        DirectoryError::NoRescore { path } => Error::NoRescore { path },
        other => return other.into(),
    };
    Failure::usage(usage)
}

/// A path as a message shows it.
fn name(path: &std::path::Path) -> String {
    escape(&path.display().to_string())
}

/// The first names of a list.
fn listed(names: &BTreeSet<String>) -> String {
    const NAMED: usize = 10;
    let named: Vec<_> = names.iter().take(NAMED).map(|name| escape(name)).collect();
    match names.len().saturating_sub(NAMED) {
        _ if named.is_empty() => "none".to_owned(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The endings of datasets, such as `.json, .jsonl or .csv`.
fn endings(last: &str) -> String {
    let list = format!(".{}", CaseFormat::ENDINGS.join(", ."));
    match list.rsplit_once(", ") {
        Some((others, end)) => format!("{others}{last}{end}"),
        None => list,
    }
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
