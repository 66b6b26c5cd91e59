use std::io;
use std::path::PathBuf;

use llm_client::ConfigError;

use crate::environment::Origin;
use crate::escape;

/// An error of the parts that all programs share: flags, files, signals and the choice of a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of variables that the user named cannot be read.
    #[error("cannot read {}", path.display())]
    EnvFileUnreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A line of such a file is not `NAME=value`. The text of the line is left out because it may contain a key.
    #[error("{}: line {line} is not NAME=value; correct the line, or remove it", path.display())]
    EnvFileMalformed {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// The handler for Ctrl-C, SIGTERM and SIGHUP could not be set.
    #[error("cannot wait for signals")]
    Interrupt {
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A write to stdout failed, other than because the reader closed the pipe.
    #[error("cannot write the results to stdout")]
    Results {
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The client of an MCP server began otherwise than with a handshake.
    #[error("the MCP client opened no session: {why}")]
    Handshake {
        /// The reason.
        why: String,
    },
    /// A file of results cannot be written.
    #[error("cannot write {}", escape(&path.display().to_string()))]
    OutputFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// An output would replace one of its inputs.
    #[error(
        "{}: an input of this command; choose another file for the output",
        escape(&path.display().to_string())
    )]
    OverInput {
        /// The file.
        path: PathBuf,
    },
    /// A cassette would be recorded to while it is replayed.
    #[error("--record and --replay are the same file {}; choose another one for --record", path.display())]
    SameCassette {
        /// The file.
        path: PathBuf,
    },
    /// A flag needs a server, and the provider is `offline`.
    #[error(
        "{flag}: --provider offline asks no model; leave {flag} out, or give another --provider"
    )]
    OfflineWith {
        /// The flag.
        flag: &'static str,
    },
    /// The provider has no default address.
    #[error("--provider {provider} has no default address; give {flag} URL")]
    NoBaseUrl {
        /// The provider.
        provider: &'static str,
        /// The flag with the address.
        flag: &'static str,
    },
    /// The program has no model for this provider.
    #[error("--provider {provider} has no default model; give --model ID")]
    NoModel {
        /// The provider.
        provider: &'static str,
    },
    /// The provider requires a key, and none is set.
    #[error(
        "no API key for {provider}: set {}{}",
        variables.join(" or "),
        or_else(remedy.as_deref())
    )]
    MissingKey {
        /// The provider.
        provider: &'static str,
        /// The variables that may contain the key; the first one that is set counts.
        variables: Vec<String>,
        /// The remedy of a user without a key.
        remedy: Option<String>,
    },
    /// A model was named, and no key for it is set.
    #[error(
        "no API key for the model {}: set {}{}",
        escape(model),
        variables.join(" or "),
        or_else(remedy.as_deref())
    )]
    ModelWithoutKey {
        /// The model.
        model: String,
        /// The variables that may contain the key; the first one that is set counts.
        variables: Vec<String>,
        /// The remedy of a user without a key.
        remedy: Option<String>,
    },
    /// The key and the address have different sources, so that the key is not sent.
    #[error(
        "{subject} is from {address} and {variable} from {key}: the key is not sent there; \
         put both into one file or give {flag}"
    )]
    KeyElsewhere {
        /// The setting that gives the address.
        subject: &'static str,
        /// The source of the address.
        address: Origin,
        /// The variable that contains the key.
        variable: String,
        /// The source of the key.
        key: Origin,
        /// The flag with the address.
        flag: &'static str,
    },
    /// No client can be built from the flags and the key.
    #[error("cannot ask a model")]
    Model(#[source] ConfigError),
    /// A page on stdout would be opened or written again.
    #[error("--open and --watch need a file: give -o FILE, or leave -o - out")]
    PageOnStdout,
    /// No folder in `experiments/` has a run of this program.
    #[error("there is no run in experiments/; give its folder, or start one: {program} run")]
    NoRun {
        /// The program.
        program: String,
    },
    /// No run is where the user said.
    #[error(
        "{}: no such path, and no run in experiments/ has this name{}",
        escape(&given.display().to_string()),
        did_you_mean(near)
    )]
    NoSuchRun {
        /// The path or name.
        given: PathBuf,
        /// The nearest names.
        near: Vec<String>,
    },
    /// The file of prices cannot be used.
    #[error("{flag} {}: expected a file of prices", escape(&path.display().to_string()))]
    Prices {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A cap in dollars cannot be kept, since the price of the model is not known.
    #[error(
        "--max-usd: the price of {} is not known; give it with --prices FILE",
        escape(model)
    )]
    Unpriced {
        /// The model's id.
        model: String,
    },
    /// A folder for results cannot be made.
    #[error("{}: cannot make the folder", escape(&path.display().to_string()))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The folder of a demo has files of something else.
    #[error(
        "{}: the folder is not empty; a demo needs a new folder: give --dir another one",
        escape(&path.display().to_string())
    )]
    FolderUsed {
        /// The folder.
        path: PathBuf,
    },
    /// The asynchronous runtime cannot be started.
    #[error("cannot start the runtime")]
    Runtime {
        /// The cause.
        #[source]
        source: io::Error,
    },
}

fn did_you_mean(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", escape(&near.join(", "))),
    }
}

fn or_else(remedy: Option<&str>) -> String {
    remedy.map_or_else(String::new, |remedy| format!(", or {remedy}"))
}
