//! An episode of `popper lab` with its record: a line and its answer are in the log before the answer is handed out.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure};
use popper_discovery::lab::{Episode, EpisodeLog, LabAnswer, LabError, SealedUniverse, log_entry};

use crate::error::Error;
use crate::input::{Text, bytes, name};

/// Reads a sealed file.
pub fn sealed(path: &Path) -> Result<SealedUniverse, Failure> {
    let file = Text::read(path).map_err(Failure::usage)?;
    SealedUniverse::from_json(&file.text).map_err(|error| failure(&file.name, &error))
}

/// An error about a file of the lab: exit code 4 for files that do not belong together, 2 for files that cannot be read.
pub fn failure(name: &str, error: &LabError) -> Failure {
    let exit = match error {
        LabError::Mismatch { .. } | LabError::Edited { .. } => Exit::CheckFailed,
        _ => Exit::Usage,
    };
    Failure::new(exit, Error::unfit(name, error))
}

/// The error for a file that must be new.
pub fn exists(path: &Path) -> Failure {
    Failure::usage(Error::LabFileExists { name: name(path) })
}

/// An episode and its log, if it has one.
pub struct RecordedEpisode {
    episode: Episode,
    log: Option<(PathBuf, File)>,
    /// Whether an answer is missing in the log, so that none may follow.
    is_broken: bool,
}

impl RecordedEpisode {
    /// Begins an episode without a log.
    pub fn without_log(sealed: SealedUniverse) -> Self {
        Self {
            episode: Episode::new(sealed),
            log: None,
            is_broken: false,
        }
    }

    /// Begins an episode with a new log.
    pub fn begin(path: &Path, sealed: SealedUniverse) -> Result<Self, Failure> {
        let created = OpenOptions::new().append(true).create_new(true).open(path);
        let file = created.map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => exists(path),
            _ => unwritten(path, source),
        })?;
        lock(&file, path)?;
        let mut begun = Self {
            log: Some((path.to_owned(), file)),
            ..Self::without_log(sealed)
        };
        let contract = begun.episode.contract().line();
        begun.append(&contract)?;
        Ok(begun)
    }

    /// Continues the episode of a log. A last line that was cut off is removed: its answer was not handed out.
    pub fn resume(path: &Path, sealed: SealedUniverse) -> Result<Self, Failure> {
        let opened = OpenOptions::new().append(true).open(path);
        let mut file = opened.map_err(|source| unwritten(path, source))?;
        lock(&file, path)?;
        let (name, bytes) = (name(path), bytes(path).map_err(Failure::usage)?);
        let log = EpisodeLog::read(&bytes).map_err(|error| failure(&name, &error))?;
        let episode = log.replay(sealed).map_err(|error| failure(&name, &error))?;
        if !episode.is_ended() {
            let complete = log.complete_bytes();
            file.set_len(complete as u64)
                .and_then(|()| {
                    let ends = bytes[..complete].ends_with(b"\n");
                    file.write_all(if ends { b"" } else { b"\n" })
                })
                .map_err(|source| unwritten(path, source))?;
        }
        Ok(Self {
            episode,
            log: Some((path.to_owned(), file)),
            is_broken: false,
        })
    }

    /// Returns the episode.
    pub fn episode(&self) -> &Episode {
        &self.episode
    }

    /// Takes a line and returns the answer, which is in the log then.
    pub fn line(&mut self, line: &[u8]) -> Result<LabAnswer, Failure> {
        let answer = self.episode.line(line);
        self.append(&log_entry(line, &answer))?;
        Ok(answer)
    }

    /// Appends an entry to the log in one write.
    fn append(&mut self, entry: &str) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.log else {
            return Ok(());
        };
        if self.is_broken {
            return Err(unwritten(path, io::Error::other("an entry is missing")));
        }
        file.write_all(format!("{entry}\n").as_bytes())
            .map_err(|source| {
                self.is_broken = true;
                unwritten(path, source)
            })
    }
}

/// Refuses a log that another process writes.
fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    file.try_lock().map_err(|_| {
        let message = "another process plays this episode";
        Failure::new(Exit::Failed, Error::unfit(&name(path), message))
    })
}

fn unwritten(path: &Path, source: io::Error) -> Failure {
    Failure::from(bin_support::Error::OutputFile {
        path: path.to_owned(),
        source,
    })
}
