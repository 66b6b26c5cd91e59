use std::io;
use std::path::PathBuf;

use llm_client::ConfigError;

use crate::{Origin, escape};

/// What can go wrong before or beside a program's own work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of variables that the user named cannot be read.
    #[error("cannot read {}", path.display())]
    EnvFileUnreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line of such a file is not `NAME=value`. The line itself is kept out: it may hold a key.
    #[error("{}: line {line} is not NAME=value", path.display())]
    EnvFileMalformed {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// The handler for Ctrl-C, SIGTERM and SIGHUP could not be set.
    #[error("cannot wait for signals")]
    Interrupt {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// stdout took no more, for a reason other than a reader that went away.
    #[error("cannot write the results to stdout")]
    Results {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file of results cannot be written.
    #[error("cannot write {}", escape(&path.display().to_string()))]
    OutputFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An output would take the place of what it is made from.
    #[error(
        "{}: an input of this command; choose another file for the output",
        escape(&path.display().to_string())
    )]
    OverInput {
        /// The file.
        path: PathBuf,
    },
    /// A cassette would be written while it is read.
    #[error("--record and --replay are the same file {}", path.display())]
    SameCassette {
        /// The file.
        path: PathBuf,
    },
    /// A flag needs a server, and none is to be asked.
    #[error("{flag} has no meaning with --provider offline")]
    OfflineWith {
        /// The flag.
        flag: &'static str,
    },
    /// A provider without an address of its own.
    #[error("{provider} needs --base-url")]
    NoBaseUrl {
        /// The provider.
        provider: &'static str,
    },
    /// The program has no model for this provider.
    #[error("{provider} needs --model")]
    NoModel {
        /// The provider.
        provider: &'static str,
    },
    /// A provider was asked for that takes no calls without a key.
    #[error("{provider} needs a key: set {}", variables.join(" or "))]
    MissingKey {
        /// The provider.
        provider: &'static str,
        /// The variables that may hold the key, the first wins.
        variables: Vec<String>,
    },
    /// A model was named, and there is no key to ask it with.
    #[error(
        "model {} needs a key: set {}, or give --provider offline",
        escape(model),
        variables.join(" or ")
    )]
    ModelWithoutKey {
        /// The model.
        model: String,
        /// The variables that may hold the key, the first wins.
        variables: Vec<String>,
    },
    /// A key that is not meant for the address that is asked.
    #[error(
        "{subject} is from {address} and {variable} from {key}: the key is not sent there; \
         put both into one file or give --base-url"
    )]
    KeyElsewhere {
        /// The setting that has the address.
        subject: &'static str,
        /// The source of the address.
        address: Origin,
        /// The variable that has the key.
        variable: String,
        /// The source of the key.
        key: Origin,
    },
    /// The flags, or the key, make no client.
    #[error("cannot ask a model")]
    Model(#[source] ConfigError),
    /// The asynchronous runtime cannot be started.
    #[error("cannot start the runtime")]
    Runtime {
        /// Why.
        #[source]
        source: io::Error,
    },
}
