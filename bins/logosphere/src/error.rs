use std::io;
use std::path::{Path, PathBuf};

use bin_support::escape;
use bin_support::model::ProviderName;
use logosphere_core::config::{ConfigError, InitError};
use logosphere_core::import::ImportedFileError;
use logosphere_core::journal::ReadError;
use logosphere_core::verify::{ResumeError, VerifyError};

/// The errors of inputs, outputs and flags. Every message names the thing that is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot read {}", name(path))]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{}: a device; expected a file, or the directory of an experiment",
        name(path)
    )]
    Device { path: PathBuf },
    #[error("cannot write {}", name(path))]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{}", name(path))]
    Init {
        path: PathBuf,
        #[source]
        source: InitError,
    },
    #[error("{}", name(path))]
    Plan {
        path: PathBuf,
        #[source]
        source: ConfigError,
    },
    #[error("the plan has no cell {}; its first is {first}", escape(cell))]
    NoCell { cell: String, first: String },
    #[error("{}", name(path))]
    Journal {
        path: PathBuf,
        #[source]
        source: ReadError,
    },
    #[error("{}", name(path))]
    Transcript {
        path: PathBuf,
        #[source]
        source: ResumeError,
    },
    #[error("{}", name(path))]
    Replay {
        path: PathBuf,
        #[source]
        source: VerifyError,
    },
    #[error(
        "{}: unknown ending of the name; expected .jsonl or .csv, or --format",
        name(path)
    )]
    UnknownFormat { path: PathBuf },
    #[error(
        "{}: not a file of the Python program; expected .jsonl, .yaml, .json or init.md",
        name(path)
    )]
    NoReferenceFile { path: PathBuf },
    #[error(
        "a journal and novel_memes.yaml have the same messages, and one of them is imported: give one file"
    )]
    TwoReferences,
    #[error("{} and {}: expected one {what} of a run", name(&paths[0]), name(&paths[1]))]
    TwoOfARun {
        what: &'static str,
        paths: [PathBuf; 2],
    },
    #[error(
        "{}: only a journal, experiment.jsonl, is read with its init.md",
        name(path)
    )]
    UnusedInit { path: PathBuf },
    #[error("{}: not UTF-8; expected the init.md of a run", name(path))]
    InitEncoding { path: PathBuf },
    #[error(
        "{}: found no init.md for its seed messages; give the init.md of the run as another FILE",
        name(path)
    )]
    NoSeeds { path: PathBuf },
    #[error("{}", name(path))]
    ImportedFile {
        path: PathBuf,
        #[source]
        source: ImportedFileError,
    },
    #[error("{}", name(path))]
    Leak {
        path: PathBuf,
        #[source]
        source: ResumeError,
    },
    #[error(
        "{} contains no captured request; expected one file for the body of each",
        name(path)
    )]
    NoRequests { path: PathBuf },
    #[error("{}: contains no run; `logosphere run` begins one", name(path))]
    NoRun { path: PathBuf },
    #[error(
        "--rounds {rounds}: the run is at round {begun} already; give that number or a greater one"
    )]
    FewerRounds { rounds: u32, begun: u32 },
    #[error(
        "{}: unknown ending of the name; choose a format with --format: {}",
        name(path),
        formats.join(", ")
    )]
    UnknownEnding { path: PathBuf, formats: Vec<String> },
    #[error(
        "the run was ended by {rule}, which still applies; --silence-rounds, --loss-above and --fixed-pool change such rules"
    )]
    StillStopped { rule: &'static str },
    #[error("a resumed run cannot change these, start a new run for them: {}", settings.join("; "))]
    Fixed { settings: Vec<String> },
    #[error(
        "{} is a scripted mind of offline runs, and {provider} serves models: give one of them",
        escape(mind)
    )]
    MindAndModel {
        mind: String,
        provider: ProviderName,
    },
    #[error("--provider offline takes --mind, not --model")]
    ModelOffline,
    #[error("--record takes the calls of one server; the minds of this run are at several")]
    RecordServers,
    #[error(
        "minds names the models of this run; leave --model out, or give --minds-at POSITIONS={}",
        escape(model)
    )]
    ModelAndMinds { model: String },
    #[error(
        "{}: no such path, and no run in experiments/, sweep in sweeps/ or fork in forks/ has this name{}",
        name(given),
        did_you_mean(near)
    )]
    NothingToWatch { given: PathBuf, near: Vec<String> },
    #[error(
        "--name {name:?}: expected 1 to 64 of a-z, 0-9, point, _ and -, without a point at the start"
    )]
    StudyName { name: String },
    #[error("the run has ended; a change from outside needs more rounds: give --rounds N")]
    ChangeAfterEnd,
    #[error("--minds-at: the other positions have no model; give --model")]
    MindsAtWithoutModel,
    #[error("--minds-at {position}: the run has {minds} minds, from 0 to {}", minds - 1)]
    NoPosition { position: u32, minds: u32 },
    #[error(
        "the head is {head} at seq {last_seq}, expected {}: lines were altered, cut off or added",
        escape(expected)
    )]
    OtherHead {
        expected: String,
        head: String,
        last_seq: u64,
    },
    #[error("--json and --output - both write to stdout: give --output a file")]
    TwoResults,
    #[error(
        "{}: there is no such mind{}; the kinds are {}",
        escape(name),
        did_you_mean(near),
        all.join(", ")
    )]
    NoSuchMind {
        name: String,
        near: Vec<String>,
        all: Vec<&'static str>,
    },
    #[error("--embed cannot be used with --watch: vectors are for a run that has ended")]
    EmbedLive,
    #[error("--embed needs --summary: make the runs first, then measure them by vectors")]
    EmbedWithoutSummary,
    #[error("--parent-rule embed:S needs the vectors of an encoder; give --embed NAME")]
    NoEncoder,
    #[error("--parent-rule lcs compares words; leave --embed out, or give --parent-rule embed:S")]
    UnusedEncoder,
    #[error("{flag}: chargram is computed on this machine and asks no server; leave {flag} out")]
    EmbedLocal { flag: &'static str },
    #[error("{} has no address of its server; give --embed-url URL", escape(name))]
    NoEmbedUrl { name: String },
    #[error(
        "--embed-max-usd: the price of {} is not known; give it with --embed-prices FILE",
        escape(model)
    )]
    EmbedUnpriced { model: String },
    #[error(
        "{}: {missing} of {texts} texts have no vector that is kept; leave --embed-cached out to send them to the server",
        escape(name)
    )]
    NotCached {
        name: String,
        missing: usize,
        texts: usize,
    },
    #[error(
        "{} answers as another encoder (sha256 {kept}.. now {now}..); --embed-fresh begins a new cache",
        escape(name)
    )]
    OtherEncoder {
        name: String,
        kept: String,
        now: String,
    },
    #[error("no vectors of {}", escape(name))]
    NoVectors {
        name: String,
        #[source]
        source: llm_client::Error,
    },
    #[error("stopped by a signal after {stored} of {total} texts")]
    EmbedInterrupted { stored: usize, total: usize },
    #[error("{}: was removed while it was watched", name(path))]
    Removed { path: PathBuf },
    #[error("the system provides no random number: {message}")]
    Random { message: String },
}

/// Returns a path for a message.
fn name(path: &Path) -> String {
    escape(&path.display().to_string())
}

/// Returns the end of a message that proposes names.
fn did_you_mean(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}
