use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use bin_support::{Failure, escape};
use hermitcrab_face::{FaceError, RuntimeError};
use hermitcrab_kernel::config::SettingsError;
use hermitcrab_kernel::{KernelError, ToolError};
use hermitcrab_migrate::NotAnExport;
use pscale_blocks::bundle::{BundleError, ImportProblem};
use pscale_blocks::{BlockError, BlockName, FormatErrors, StoreError};

/// The errors of the commands. Every message names the thing that is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("no home folder is known to keep data in; name one with --data DIR")]
    NoDataFolder,
    #[error(
        "{}: there is no such data folder: --data DIR names another one, and `hermitcrab block create` or `chat` makes one",
        name(path)
    )]
    NoData { path: PathBuf },
    #[error("{}", store_line(error))]
    Store { error: StoreError },
    #[error("{}: {}{}", name(path), with_sources(error), bundle_hint(error))]
    Bundle { path: PathBuf, error: BundleError },
    #[error("nothing was removed: {error}; try again when that process has ended")]
    PruneInUse { error: StoreError },
    #[error("nothing was removed: {}", store_text(error))]
    PruneNewer { error: StoreError },
    #[error(
        "{}: in the data directory; choose another place for the output",
        name(path)
    )]
    IntoData { path: PathBuf },
    #[error("{} is there already: name another file", name(path))]
    FileExists { path: PathBuf },
    #[error("{}", name(path))]
    NoBlock {
        path: PathBuf,
        #[source]
        error: FormatErrors,
    },
    #[error("{name} has no revision {rev} that can be made again; its last one is {last}")]
    NoRevision {
        name: BlockName,
        rev: u64,
        last: u64,
    },
    #[error("{}: {error}", name(path))]
    NotAnExport { path: PathBuf, error: NotAnExport },
    #[error("{}: with it there is more than {limit} bytes to read", name(path))]
    TooMuch { path: PathBuf, limit: usize },
    #[error(
        "the data directory is in use ({}), and nothing was done: name another one with --data DIR",
        listed(blocks)
    )]
    InUse { blocks: Vec<BlockName> },
    #[error(transparent)]
    Output(#[from] bin_support::Error),
    #[error(transparent)]
    Kernel(KernelError),
    #[error("the query is empty")]
    EmptyQuery,
    #[error("{typed} is read as {path}; write {path}")]
    UnusualPath {
        typed: String,
        path: pscale_blocks::Path,
    },
    #[error("to remove the whole block: hermitcrab block rm {name} --whole")]
    WholeBlock { name: BlockName },
    #[error(
        "{name} is compared with nothing: name another block or a file, or an earlier revision with --since REVISION"
    )]
    NoOther { name: BlockName },
    #[error("{} is not a number of edits: give one from 1 on", escape(typed))]
    NoCount { typed: String },
    #[error("missing TEXT: {purpose}")]
    MissingText { purpose: &'static str },
    #[error(
        "{}: no block in it, so nothing was done; name another one",
        name(path)
    )]
    NoBlocks { path: PathBuf },
    #[error("cannot write {}", name(path))]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "a key on the command line is seen by every user of this machine and kept by the shell: give it on stdin"
    )]
    KeyTyped,
    #[error("--provider offline calls no model and needs no key")]
    KeyForOffline,
    #[error(
        "a key for this provider is not kept: it would be sent to the next one that is asked; set HERMITCRAB_API_KEY for the one command"
    )]
    KeyForOwnServer,
    #[error(
        "no keyring is built in: with --file the key is kept in a file of the data directory, or set {variable}"
    )]
    NoKeyring { variable: String },
    #[error("this is not a key: {why}")]
    BadKey { why: &'static str },
    #[error("{}", name(path))]
    Settings {
        path: PathBuf,
        #[source]
        source: SettingsError,
    },
    #[error("--grant: {} is not a folder", name(path))]
    NoFolder { path: PathBuf },
    #[error("--allow-host: {0}")]
    AllowHost(ToolError),
    #[error("no shell {rev} is kept; `hermitcrab shells` lists them")]
    NoShell { rev: u64 },
    /// The error of a tool.
    #[error(transparent)]
    Tool(ToolError),
    #[error("{}: no text in UTF-8", name(path))]
    NotText { path: PathBuf },
    #[error(
        "an export of the earlier generation waits in {path}; `hermitcrab migrate {path}` takes it over first",
        path = name(path)
    )]
    Waiting { path: PathBuf },
    #[error("the MCP client opened no session: {why}")]
    Handshake { why: String },
    #[error(
        "--write, --ui and --print-config are for the server: leave them out, or leave the command out"
    )]
    McpFlags,
    #[error(
        "{}: {why}; repair it, or remove it and add the servers again",
        name(path)
    )]
    ServersFile { path: PathBuf, why: String },
    #[error("there is no server {name}; `hermitcrab mcp list` names all")]
    NoServer { name: String },
    #[error("there is a server {name} already; `hermitcrab mcp remove {name}` removes it")]
    ServerExists { name: String },
    #[error("{name} has no tool {tool}; it has {has}")]
    NoServerTool {
        name: String,
        tool: String,
        has: String,
    },
    #[error(
        "{tool} is not allowed: to the model it would be {named}, as {other} is; `hermitcrab mcp deny` takes that one away"
    )]
    SameServerTool {
        tool: String,
        other: String,
        named: String,
    },
    #[error("{name} was added again meanwhile, and nothing was allowed: allow its tools again")]
    ServerChanged { name: String },
    #[error("{name} has no command")]
    ServerCommand { name: String },
    #[error("{} is not the name of a variable", escape(variable))]
    ServerVariable { variable: String },
    #[error("{variable} is the key of a model provider, which no other program gets")]
    ServerKey { variable: String },
    #[error("{name}: {why}")]
    ServerFailed { name: String, why: String },
    #[error("port {port} cannot be had: name another one, or leave --port out for any free one")]
    Port { port: u16, source: io::Error },
    #[error(transparent)]
    Face(FaceError),
    #[error(transparent)]
    Runtime(RuntimeError),
    #[error("--react: {}", with_sources(.0))]
    GivenReact(RuntimeError),
    #[error("cannot read {}", name(path))]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store { error }
    }
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Store(error) => error.into(),
            KernelError::Newer { path, found, known } => {
                StoreError::Newer { path, found, known }.into()
            }
            error => Self::Kernel(error),
        }
    }
}

impl From<BlockError> for Error {
    fn from(error: BlockError) -> Self {
        StoreError::from(error).into()
    }
}

impl Error {
    /// Returns the error about a bundle, or that of the store if the store failed.
    pub fn of_bundle(path: &Path, error: BundleError) -> Self {
        match error {
            BundleError::Store(error) => error.into(),
            error => Self::Bundle {
                path: path.to_owned(),
                error,
            },
        }
    }

    /// Returns the error in the form of a tool's error, which programs read.
    pub fn to_tool_error(&self) -> ToolError {
        let kind = match self {
            Self::Tool(fault) => return fault.clone(),
            Self::Store { error } => {
                let fault = ToolError::new(error.kind(), store_text(error));
                return match hint(error) {
                    Some(hint) => fault.hint(hint),
                    None => fault,
                };
            }
            Self::NoDataFolder => "no_data_folder",
            Self::PruneInUse { error } | Self::PruneNewer { error } => error.kind(),
            Self::Bundle { error, .. } => error.kind(),
            Self::ServersFile { .. }
            | Self::NoBlock { .. }
            | Self::NoBlocks { .. }
            | Self::NotText { .. } => "format",
            Self::Read { .. } | Self::Write { .. } | Self::Output(_) => "io",
            Self::KeyTyped
            | Self::KeyForOffline
            | Self::KeyForOwnServer
            | Self::IntoData { .. }
            | Self::FileExists { .. }
            | Self::AllowHost(_)
            | Self::UnusualPath { .. }
            | Self::WholeBlock { .. }
            | Self::NoOther { .. }
            | Self::MissingText { .. }
            | Self::NoCount { .. }
            | Self::McpFlags
            | Self::ServerExists { .. }
            | Self::ServerChanged { .. }
            | Self::SameServerTool { .. }
            | Self::ServerCommand { .. }
            | Self::ServerVariable { .. }
            | Self::ServerKey { .. }
            | Self::EmptyQuery => "usage",
            Self::Kernel(_) => "kernel",
            Self::Settings { .. } => "settings",
            Self::NoData { .. }
            | Self::NoFolder { .. }
            | Self::NoShell { .. }
            | Self::NoServer { .. }
            | Self::NoServerTool { .. } => "not_found",
            Self::ServerFailed { .. } => "server_failed",
            Self::NoRevision { .. } => "revision",
            Self::NotAnExport { .. } => "no_export",
            Self::TooMuch { .. } => "too_large",
            Self::InUse { .. } => "in_use",
            Self::NoKeyring { .. } => "no_keyring",
            Self::BadKey { .. } => "bad_key",
            Self::Waiting { .. } => "waiting",
            Self::Handshake { .. } => "handshake",
            Self::Port { .. } => "port",
            Self::Face(_) => "face",
            Self::Runtime(_) | Self::GivenReact(_) => "runtime",
        };
        ToolError::new(kind, with_sources(self))
    }

    /// Returns the failure that ends the program: exit code 2 if the command line or an input is wrong or the directory is
    /// locked, otherwise 1.
    pub fn failure(self) -> Failure {
        match self {
            Self::Store {
                error: StoreError::Locked { .. },
            } => Failure::usage(self),
            Self::Bundle {
                error: BundleError::Left { .. },
                ..
            }
            | Self::Store { .. }
            | Self::PruneInUse { .. }
            | Self::PruneNewer { .. }
            | Self::NoRevision { .. }
            | Self::InUse { .. }
            | Self::Kernel(_)
            | Self::NoShell { .. }
            | Self::Tool(_)
            | Self::Output(_)
            | Self::Waiting { .. }
            | Self::Handshake { .. }
            | Self::ServerFailed { .. }
            | Self::Port { .. }
            | Self::Face(_)
            | Self::Runtime(_)
            | Self::Write { .. } => self.into(),
            _ => Failure::usage(self),
        }
    }
}

/// Returns an advice for an error whose message has none.
fn hint(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        StoreError::NoBlock { near: None, .. } => "`hermitcrab block list` names all",
        StoreError::Io { .. } => "--data DIR names another directory",
        StoreError::Locked { .. } => {
            "reading works meanwhile; try again when that process has ended"
        }
        _ => return None,
    })
}

fn bundle_hint(error: &BundleError) -> String {
    let hint = match error {
        BundleError::NameNeeded => Some("--name NAME gives it one".to_owned()),
        BundleError::Faulty { faults } => repair_hint(faults),
        // Each file is imported by itself.
        BundleError::FaultyFolder { faults } => {
            let (good, other): (Vec<_>, Vec<_>) =
                (faults.iter().cloned()).partition(|fault| fault.repair.is_some());
            let hint = (!good.is_empty()).then(|| repair_hint(&good)).flatten();
            match (hint, &*other) {
                (Some(hint), [_, ..]) => {
                    let names: Vec<_> = good.iter().take(5).map(|fault| &*fault.name).collect();
                    let more = if good.len() > names.len() {
                        ", …"
                    } else {
                        ""
                    };
                    Some(format!("for {}{more}: {hint}", names.join(", ")))
                }
                (hint, _) => hint,
            }
        }
        _ => None,
    };
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}

/// Returns the advice to repair blocks that cannot be imported. `None` if that does not help with each of them.
pub fn repair_hint(problems: &[ImportProblem]) -> Option<String> {
    let repairs: Option<Vec<_>> = problems.iter().map(|problem| problem.repair).collect();
    let mut repairs = repairs?;
    repairs.dedup();
    let repair = match repairs[..] {
        [one] => one,
        _ => "leaves faulty parts out",
    };
    Some(format!("--repair {repair}"))
}

/// Returns an error of the store with the name of this program and its flag.
fn store_text(error: &StoreError) -> String {
    match error {
        StoreError::Newer { path, found, known } => format!(
            "{} was written by a newer hermitcrab (schema {found}, this one knows {known}): update the program, or use --data",
            name(path)
        ),
        error => with_sources(error),
    }
}

fn store_line(error: &StoreError) -> String {
    let mut line = store_text(error);
    if let Some(hint) = hint(error) {
        let _ = write!(line, "; {hint}");
    }
    line
}

/// Returns the error and its sources in one line.
pub fn with_sources(error: &dyn StdError) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let _ = write!(line, ": {source}");
        next = source.source();
    }
    line
}

/// Returns the first few names as a list.
fn listed(blocks: &[BlockName]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<_> = blocks.iter().take(SHOWN).map(BlockName::as_str).collect();
    if blocks.len() > SHOWN {
        names.push("…");
    }
    names.join(", ")
}

/// Returns a path as a message shows it.
pub fn name(path: &Path) -> String {
    escape(&path.display().to_string())
}
