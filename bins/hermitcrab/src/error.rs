use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use bin_support::{Failure, escape};
use hermitcrab_face::{FaceError, RuntimeError};
use hermitcrab_kernel::config::SettingsError;
use hermitcrab_kernel::{ErrorKind, KernelError, ToolError};
use hermitcrab_migrate::NotAnExport;
use pscale_blocks::bundle::{BundleError, ImportProblem};
use pscale_blocks::{BlockError, BlockName, FormatErrors, StoreError};

/// Makes [`Error`] from one row for each error: its values, its message, and its [`ErrorRow`]. A row names the values in
/// brackets that its kind, exit code or hint need.
macro_rules! errors {
    (transparent { $($of:ident $([$($inner:tt)+])? ($($type:tt)*) => $of_kind:expr, $of_exit:expr;)* }
    $($name:ident $([$($value:tt)+])? $({$($fields:tt)*})? $(($($types:tt)*))? =>
        $message:tt, $kind:expr, $exit:expr $(, $hint:expr)?;)*) => {
        /// The errors of the commands. Every message names the thing that is wrong.
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error {
            $(#[error(transparent)] $of($($type)*),)*
            $(#[error $message] $name $({$($fields)*})? $(($($types)*))?,)*
        }

        impl Error {
            fn row(&self) -> ErrorRow {
                match self {
                    $(Self::$of { $($($inner)+,)? .. } => ErrorRow {
                        kind: $of_kind.into(),
                        exit: $of_exit,
                        hint: None,
                    },)*
                    $(Self::$name { $($($value)+,)? .. } => ErrorRow {
                        kind: $kind.into(),
                        exit: $exit,
                        hint: None$(.or($hint))?,
                    },)*
                }
            }
        }

        /// Each row: its name, kind and exit code, and its hint if it has one.
        #[cfg(test)]
        const ROWS: &[(&str, &str, &str, &str)] = &[
            $((stringify!($of), stringify!($of_kind), stringify!($of_exit), ""),)*
            $((stringify!($name), stringify!($kind), stringify!($exit), concat!($(stringify!($hint))?)),)*
        ];
    };
}

/// The part of a row of the table that is not a message.
struct ErrorRow {
    /// The word for programs.
    kind: ErrorKind,
    /// The exit code: 2 if the command line or an input is wrong or the directory is locked, otherwise 1.
    exit: u8,
    /// The advice, where the message has none.
    hint: Option<&'static str>,
}

errors! {
    // Errors of others, which are shown as they are.
    transparent {
        Output (#[from] bin_support::Error) => "io", 1;
        Kernel (KernelError) => "kernel", 1;
        Tool[0: fault] (ToolError) => fault.kind.clone(), 1;
        Face (FaceError) => "face", 1;
        Runtime (RuntimeError) => "runtime", 1;
    }
    NoDataFolder => ("no home folder is known to keep data in; name one with --data DIR"), "no_data_folder", 2;
    NoData { path: PathBuf } =>
        ("{}: there is no such data folder: --data DIR names another one, and `hermitcrab block create` or `chat` makes one", name(path)),
        "not_found", 2;
    Store[error] { error: StoreError } =>
        ("{}", store_line(error)), error.kind(), if matches!(error, StoreError::Locked { .. }) { 2 } else { 1 }, hint(error);
    Bundle[error] { path: PathBuf, error: BundleError } =>
        ("{}: {}{}", name(path), with_sources(error), bundle_hint(error)),
        error.kind(), if matches!(error, BundleError::Left { .. }) { 1 } else { 2 };
    PruneInUse[error] { error: StoreError } =>
        ("nothing was removed: {error}; try again when that process has ended"), error.kind(), 1;
    PruneNewer[error] { error: StoreError } => ("nothing was removed: {}", store_text(error)), error.kind(), 1;
    IntoData { path: PathBuf } =>
        ("{}: in the data directory; choose another place for the output", name(path)), "usage", 2;
    FileExists { path: PathBuf } => ("{} is there already: name another file", name(path)), "usage", 2;
    NoBlock { path: PathBuf, #[source] error: FormatErrors } => ("{}", name(path)), "format", 2;
    NoRevision { name: BlockName, rev: u64, last: u64 } =>
        ("{name} has no revision {rev} that can be made again; its last one is {last}"), "revision", 1;
    NotAnExport { path: PathBuf, error: NotAnExport } => ("{}: {error}", name(path)), "no_export", 2;
    TooMuch { path: PathBuf, limit: usize } =>
        ("{}: with it there is more than {limit} bytes to read", name(path)), "too_large", 2;
    InUse { blocks: Vec<BlockName> } =>
        ("the data directory is in use ({}), and nothing was done: name another one with --data DIR", listed(blocks)),
        "in_use", 1;
    EmptyQuery => ("the query is empty"), "usage", 2;
    UnusualPath { typed: String, path: pscale_blocks::Path } => ("{typed} is read as {path}; write {path}"), "usage", 2;
    WholeBlock { name: BlockName } => ("to remove the whole block: hermitcrab block rm {name} --whole"), "usage", 2;
    NoOther { name: BlockName } =>
        ("{name} is compared with nothing: name another block or a file, or an earlier revision with --since REVISION"),
        "usage", 2;
    NoCount { typed: String } => ("{} is not a number of edits: give one from 1 on", escape(typed)), "usage", 2;
    MissingText { purpose: &'static str } => ("missing TEXT: {purpose}"), "usage", 2;
    NoBlocks { path: PathBuf } =>
        ("{}: no block in it, so nothing was done; name another one", name(path)), "format", 2;
    Write { path: PathBuf, #[source] source: io::Error } => ("cannot write {}", name(path)), "io", 1;
    KeyTyped =>
        ("a key on the command line is seen by every user of this machine and kept by the shell: give it on stdin"), "usage", 2;
    KeyForOffline => ("--provider offline calls no model and needs no key"), "usage", 2;
    KeyForOwnServer =>
        ("a key for this provider is not kept: it would be sent to the next one that is asked; set HERMITCRAB_API_KEY for the one command"),
        "usage", 2;
    NoKeyring { variable: String } =>
        ("no keyring is built in: with --file the key is kept in a file of the data directory, or set {variable}"),
        "no_keyring", 2;
    BadKey { why: &'static str } => ("this is not a key: {why}"), "bad_key", 2;
    Settings { path: PathBuf, #[source] source: SettingsError } => ("{}", name(path)), "settings", 2;
    NoFolder { path: PathBuf } => ("--grant: {} is not a folder", name(path)), "not_found", 2;
    AllowHost (ToolError) => ("--allow-host: {0}"), "usage", 2;
    NoShell { rev: u64 } => ("no shell {rev} is kept; `hermitcrab shells` lists them"), "not_found", 1;
    NotText { path: PathBuf } => ("{}: no text in UTF-8", name(path)), "format", 2;
    Waiting { path: PathBuf } =>
        ("an export of the earlier generation waits in {path}; `hermitcrab migrate {path}` takes it over first", path = name(path)),
        "waiting", 1;
    McpFlags =>
        ("--write, --ui and --print-config are for the server: leave them out, or leave the command out"), "usage", 2;
    ServersFile { path: PathBuf, why: String } =>
        ("{}: {why}; repair it, or remove it and add the servers again", name(path)), "format", 2;
    NoServer { name: String } => ("there is no server {name}; `hermitcrab mcp list` names all"), "not_found", 2;
    ServerExists { name: String } =>
        ("there is a server {name} already; `hermitcrab mcp remove {name}` removes it"), "usage", 2;
    NoServerTool { name: String, tool: String, has: String } =>
        ("{name} has no tool {tool}; it has {has}"), "not_found", 2;
    SameServerTool { tool: String, other: String, named: String } =>
        ("{tool} is not allowed: to the model it would be {named}, as {other} is; `hermitcrab mcp deny` takes that one away"),
        "usage", 2;
    ServerChanged { name: String } =>
        ("{name} was added again meanwhile, and nothing was allowed: allow its tools again"), "usage", 2;
    ServerCommand { name: String } => ("{name} has no command"), "usage", 2;
    ServerVariable { variable: String } => ("{} is not the name of a variable", escape(variable)), "usage", 2;
    ServerKey { variable: String } =>
        ("{variable} is the key of a model provider, which no other program gets"), "usage", 2;
    ServerFailed { name: String, why: String } => ("{name}: {why}"), "server_failed", 1;
    Port { port: u16, source: io::Error } =>
        ("port {port} cannot be had: name another one, or leave --port out for any free one"), "port", 1;
    GivenReact { error: RuntimeError } => ("--react: {}", with_sources(error)), "runtime", 2;
    Read { path: PathBuf, #[source] source: io::Error } => ("cannot read {}", name(path)), "io", 2;
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
        let detail = match self {
            Self::Tool(fault) => return fault.clone(),
            Self::Store { error } => store_text(error),
            error => with_sources(error),
        };
        let row = self.row();
        let fault = ToolError::new(row.kind, detail);
        match row.hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }

    /// Returns the failure that ends the program, with the exit code of the table.
    pub fn failure(self) -> Failure {
        match self.row().exit {
            2 => Failure::usage(self),
            _ => self.into(),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Write as _;

    use super::ROWS;

    /// Kind, exit code and hint of each error: programs and scripts read them.
    const KINDS: &str = "\
bad_key 2: BadKey
error.kind() 1: PruneInUse PruneNewer
error.kind() 1 or 2: Bundle
error.kind() 1 or 2 hint(error): Store
face 1: Face
fault.kind.clone() 1: Tool
format 2: NoBlock NoBlocks NotText ServersFile
in_use 1: InUse
io 1: Output Write
io 2: Read
kernel 1: Kernel
no_data_folder 2: NoDataFolder
no_export 2: NotAnExport
no_keyring 2: NoKeyring
not_found 1: NoShell
not_found 2: NoData NoFolder NoServer NoServerTool
port 1: Port
revision 1: NoRevision
runtime 1: Runtime
runtime 2: GivenReact
server_failed 1: ServerFailed
settings 2: Settings
too_large 2: TooMuch
usage 2: IntoData FileExists EmptyQuery UnusualPath WholeBlock NoOther NoCount MissingText KeyTyped KeyForOffline \
    KeyForOwnServer AllowHost McpFlags ServerExists SameServerTool ServerChanged ServerCommand ServerVariable ServerKey
waiting 1: Waiting
";

    #[test]
    fn every_error_has_its_kind_its_exit_code_and_its_hint() {
        let mut found = BTreeMap::<_, Vec<_>>::new();
        for (name, kind, exit, hint) in ROWS {
            // Of errors that hold others, the code depends on the other one.
            let exit = if exit.len() > 1 { "1 or 2" } else { exit };
            let row = found.entry((kind.trim_matches('"'), exit, hint));
            row.or_default().push(*name);
        }
        let mut shown = String::new();
        for ((kind, exit, hint), names) in found {
            let hint = if hint.is_empty() {
                String::new()
            } else {
                format!(" {hint}")
            };
            let _ = writeln!(shown, "{kind} {exit}{hint}: {}", names.join(" "));
        }
        assert_eq!(shown, KINDS);
    }
}
