use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::error::{RuntimeError, reason};
use super::react;
use super::tried::TriedFile;

/// The React of a data directory, and the attempts that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReactStatus {
    /// The folder of the scripts.
    pub folder: PathBuf,
    /// Whether both scripts are there and have their hashes.
    pub is_whole: bool,
    /// The reason why they cannot be used, if something is there.
    pub fault: Option<String>,
    /// The source of the scripts: `npm`, `pip` or a folder.
    pub source: Option<String>,
    /// The time of the last failure.
    pub tried_at: Option<Timestamp>,
    /// The failure of npm.
    pub npm: Option<String>,
    /// The failure of pip.
    pub pip: Option<String>,
}

impl ReactStatus {
    /// Looks into a data directory, and changes nothing there.
    pub fn read(data: &Path) -> Self {
        let folder = react::folder(data);
        let fault = react::kept(&folder, &react::SCRIPTS).err();
        let tried = TriedFile::of(data).read();
        let (tried_at, npm, pip) = tried.map_or((None, None, None), |tried| {
            (Some(tried.at), Some(tried.npm), Some(tried.pip))
        });
        Self {
            source: react::source(&folder),
            is_whole: fault.is_none(),
            fault: fault
                .filter(|error| !is_missing(error) || folder.exists())
                .map(|error| reason(&error)),
            folder,
            tried_at,
            npm,
            pip,
        }
    }
}

fn is_missing(error: &RuntimeError) -> bool {
    matches!(error, RuntimeError::File { source, .. } if source.kind() == io::ErrorKind::NotFound)
}
