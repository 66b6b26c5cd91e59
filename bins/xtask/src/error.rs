use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a task did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot read the workspace")]
    Metadata(#[from] cargo_metadata::Error),
    #[error("cannot start `{command}`")]
    Start {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error("`{command}` ended with {status}")]
    Ended { command: String, status: ExitStatus },
    #[error("cannot use {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not what the command should have written", path.display())]
    Output {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("there is no peer `{name}`; there are {}", known.join(", "))]
    NoSuchPeer {
        name: String,
        known: Vec<&'static str>,
    },
    #[error("{missing}")]
    NoBrowser { missing: &'static str },
    #[error("the server did not become healthy; it says why in {}", log.display())]
    NotHealthy { log: PathBuf },
}
