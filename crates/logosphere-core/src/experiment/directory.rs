//! The directory of an experiment: the paths of its files, and the rules for writing them.

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::Serialize;

use super::error::ExperimentError;
use super::file::{self, ExistingFile};
use super::name;
use crate::config::{self, Effective, Layer, Settings, read_config};
use crate::format::sha256_hex;
use crate::import::Imported;
use crate::journal::open_journal;
use crate::verify::{ResumeError, ResumedRun};

/// The default `init.md`.
pub const INIT_TEMPLATE: &str = include_str!("init-template.txt");

/// The user's file that replaces [`INIT_TEMPLATE`].
const TEMPLATE_FILE: &str = "init-template.txt";

/// The directory of an experiment.
///
/// | file | |
/// |---|---|
/// | `init.md` | the seed messages; written once, never overwritten |
/// | `config.json` | settings; an existing file stays unchanged, a run without one writes its own |
/// | `config.effective.json` | all settings of the last run |
/// | `logs/experiment.jsonl` | the journal |
/// | `logs/calls.spool.jsonl` | answers without an event in the journal |
/// | `logs/lock` | the lock, with the id of the process that holds it |
/// | `imported.jsonl` | messages of other programs, in place of all of the above |
/// | `analysis/`, `report.html` | results that can be computed again |
///
/// The directory may be a link. Below it a link is followed for reading only: a file is not written where a link is at it or at
/// a folder above it ([`ExperimentError::Write`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    pub(super) path: PathBuf,
}

/// A `config.json`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConfigFile {
    /// The settings in the file.
    pub layer: Layer,
    /// The SHA-256 of the file.
    pub sha256: String,
}

/// The source of an `init.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a template is a file or built in")]
pub enum Template {
    /// The user's template file.
    File(PathBuf),
    /// The built-in [`INIT_TEMPLATE`].
    BuiltIn,
}

impl Experiment {
    /// Creates the empty directory `DATE-NAME` in `root`, or `DATE-NAME-2` and so on if it exists.
    ///
    /// # Errors
    /// [`ExperimentError::Name`] unless the name is 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`, without a dot at its
    /// start, two dots in a row or the name of a Windows device; [`ExperimentError::RootIsFile`] and
    /// [`ExperimentError::Write`].
    pub fn create(root: &Path, name: &str, date: Date) -> Result<Self, ExperimentError> {
        Self::next(root, name, date)?;
        file::make_folder(root, root)?;
        loop {
            let Self { path } = Self::next(root, name, date)?;
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(ExperimentError::Write { path, source }),
            }
        }
    }

    /// Returns the experiment that [`Experiment::create`] would create now. Nothing is written.
    ///
    /// # Errors
    /// [`ExperimentError::Name`] and [`ExperimentError::RootIsFile`].
    pub fn next(root: &Path, name: &str, date: Date) -> Result<Self, ExperimentError> {
        name::check(name)?;
        if root.is_file() {
            let path = root.to_owned();
            return Err(ExperimentError::RootIsFile { path });
        }
        let mut path = root.join(format!("{date}-{name}"));
        let mut number = 1_u32;
        while path.symlink_metadata().is_ok() {
            number += 1;
            path = root.join(format!("{date}-{name}-{number}"));
        }
        Ok(Self { path })
    }

    /// Returns the experiment in a directory that may be missing. Nothing is written.
    ///
    /// # Errors
    /// [`ExperimentError::NotADirectory`] and [`ExperimentError::Read`].
    pub fn planned(path: &Path) -> Result<Self, ExperimentError> {
        match Self::open(path) {
            Err(ExperimentError::Missing { path }) => Ok(Self { path }),
            other => other,
        }
    }

    /// Returns the experiment in an existing directory. `path` is the directory or its journal (`DIR/logs/experiment.jsonl`).
    ///
    /// # Errors
    /// [`ExperimentError::Missing`] and [`ExperimentError::NotADirectory`].
    pub fn open(path: &Path) -> Result<Self, ExperimentError> {
        let of_journal = (path.ends_with("logs/experiment.jsonl"))
            .then(|| path.ancestors().nth(2))
            .flatten();
        let path = match of_journal {
            Some(folder) if folder.as_os_str().is_empty() => PathBuf::from("."),
            Some(folder) => folder.to_owned(),
            None => path.to_owned(),
        };
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => Ok(Self { path }),
            Ok(_) => Err(ExperimentError::NotADirectory { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ExperimentError::Missing { path })
            }
            Err(source) => Err(ExperimentError::Read { path, source }),
        }
    }

    /// Returns the experiment in a directory, which is made if it does not exist.
    ///
    /// # Errors
    /// [`ExperimentError::NotADirectory`] and [`ExperimentError::Write`].
    pub fn open_or_make(path: &Path) -> Result<Self, ExperimentError> {
        let experiment = Self::planned(path)?;
        file::make_folder(&experiment.path, &experiment.path)?;
        Ok(experiment)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of `init.md`.
    pub fn init(&self) -> PathBuf {
        self.path.join("init.md")
    }

    /// Returns the path of `config.json`.
    pub fn config(&self) -> PathBuf {
        self.path.join("config.json")
    }

    /// Returns the path of `config.effective.json`.
    pub fn effective(&self) -> PathBuf {
        self.path.join("config.effective.json")
    }

    /// Returns the path of `logs`, which may not exist.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Returns the path of `logs/experiment.jsonl`.
    pub fn journal(&self) -> PathBuf {
        self.logs().join("experiment.jsonl")
    }

    /// Returns the path of `logs/calls.spool.jsonl`.
    pub fn spool(&self) -> PathBuf {
        self.logs().join("calls.spool.jsonl")
    }

    /// Returns the path of `imported.jsonl`, which only a directory of imported messages has.
    pub fn imported(&self) -> PathBuf {
        self.path.join("imported.jsonl")
    }

    /// Returns the path of `analysis`, which may not exist.
    pub fn analysis(&self) -> PathBuf {
        self.path.join("analysis")
    }

    /// Returns the path of `report.html`.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Returns the paths of all files but `analysis`, whether they exist or not.
    pub fn files(&self) -> [PathBuf; 8] {
        [
            self.init(),
            self.config(),
            self.effective(),
            self.journal(),
            self.spool(),
            self.lock_file(),
            self.imported(),
            self.report(),
        ]
    }

    pub(super) fn lock_file(&self) -> PathBuf {
        self.logs().join("lock")
    }

    /// Returns the journal that a path refers to: that of a directory, or the file itself.
    pub fn journal_at(path: &Path) -> PathBuf {
        if path.is_dir() {
            Self::journal(&Self {
                path: path.to_owned(),
            })
        } else {
            path.to_owned()
        }
    }

    /// Writes `init.md` if the experiment has none: `init-template.txt` of the folder `root` if it exists, otherwise
    /// [`INIT_TEMPLATE`].
    ///
    /// The result is `None` if the experiment has one.
    ///
    /// # Errors
    /// [`ExperimentError::Read`] and [`ExperimentError::Write`].
    pub fn ensure_init_file(&self, root: &Path) -> Result<Option<Template>, ExperimentError> {
        if self.init().exists() {
            return Ok(None);
        }
        let (bytes, template) = Self::template(root)?;
        file::write(&self.path, &self.init(), &bytes, ExistingFile::Spare)?;
        Ok(Some(template))
    }

    /// Returns the template for a new experiment in the folder `root`.
    ///
    /// # Errors
    /// [`ExperimentError::Read`].
    pub fn template(root: &Path) -> Result<(Vec<u8>, Template), ExperimentError> {
        let path = root.join(TEMPLATE_FILE);
        Ok(match file::read(&path)? {
            Some(bytes) => (bytes, Template::File(path)),
            None => (INIT_TEMPLATE.into(), Template::BuiltIn),
        })
    }

    /// Copies `init.md` and the user's part of `config.json` from another experiment. Returns the keys that are left
    /// out.
    ///
    /// Settings that a run recorded are left out, and the random seed too without `keep_seed`.
    ///
    /// # Errors
    /// [`ExperimentError::NoInit`], [`ExperimentError::Config`], [`ExperimentError::Exists`], [`ExperimentError::Read`]
    /// and [`ExperimentError::Write`].
    pub fn copy_from(
        &self,
        other: &Self,
        keep_seed: bool,
    ) -> Result<Vec<&'static str>, ExperimentError> {
        let init = other.read_init()?;
        let Some(config) = file::read(&other.config())? else {
            file::write(&self.path, &self.init(), &init, ExistingFile::Spare)?;
            return Ok(Vec::new());
        };
        let written = config::written(&config, keep_seed);
        let (config, left_out) = written.map_err(|source| ExperimentError::Config {
            path: other.config(),
            source,
        })?;
        file::write(&self.path, &self.init(), &init, ExistingFile::Spare)?;
        file::write(&self.path, &self.config(), &config, ExistingFile::Spare)?;
        Ok(left_out)
    }

    /// Reads `init.md`.
    ///
    /// # Errors
    /// [`ExperimentError::Irregular`], [`ExperimentError::NoInit`] and [`ExperimentError::Read`].
    pub fn read_init(&self) -> Result<Vec<u8>, ExperimentError> {
        Self::read_init_at(&self.init())
    }

    /// Reads an `init.md` at any place.
    ///
    /// # Errors
    /// Those of [`Experiment::read_init`].
    pub fn read_init_at(path: &Path) -> Result<Vec<u8>, ExperimentError> {
        file::read(path)?.ok_or_else(|| ExperimentError::NoInit {
            path: path.to_owned(),
        })
    }

    /// Reads `config.json`; `None` if there is no such file.
    ///
    /// # Errors
    /// [`ExperimentError::Config`] and [`ExperimentError::Read`].
    pub fn read_config(&self) -> Result<Option<ConfigFile>, ExperimentError> {
        let path = self.config();
        let Some(bytes) = file::read(&path)? else {
            return Ok(None);
        };
        match read_config(&bytes) {
            Ok(layer) => Ok(Some(ConfigFile {
                layer,
                sha256: sha256_hex(&bytes),
            })),
            Err(source) => Err(ExperimentError::Config { path, source }),
        }
    }

    /// Writes the settings of a run as `config.json`, and returns its SHA-256.
    ///
    /// `recorded` names the settings that the user did not give ([`Layer::not_given`]). The file lists them, so that
    /// [`Experiment::copy_from`] leaves them out.
    ///
    /// # Errors
    /// [`ExperimentError::Exists`] and [`ExperimentError::Write`].
    pub fn write_config(
        &self,
        settings: &Settings,
        recorded: &[&str],
    ) -> Result<String, ExperimentError> {
        #[derive(Serialize)]
        struct Snapshot<'a> {
            #[serde(flatten)]
            settings: &'a Settings,
            recorded: &'a [&'a str],
        }
        let bytes = json(&Snapshot { settings, recorded });
        file::write(&self.path, &self.config(), &bytes, ExistingFile::Spare)?;
        Ok(sha256_hex(&bytes))
    }

    /// Writes the journal of a run that begins with these lines, at once and whole.
    ///
    /// # Errors
    /// [`ExperimentError::Write`], also if there is a journal already.
    pub fn write_journal(&self, bytes: &[u8]) -> Result<(), ExperimentError> {
        let journal = self.journal();
        if let Some(logs) = journal.parent() {
            file::make_folder(&self.path, logs)?;
        }
        file::write(&self.path, &journal, bytes, ExistingFile::Spare)
    }

    /// Writes `config.effective.json`.
    ///
    /// # Errors
    /// [`ExperimentError::Write`].
    pub fn write_effective(&self, effective: &Effective) -> Result<(), ExperimentError> {
        file::write(
            &self.path,
            &self.effective(),
            &json(effective),
            ExistingFile::Replace,
        )
    }

    /// Reads the run of this experiment; `None` if its journal has no event. Nothing is written.
    ///
    /// # Errors
    /// [`ExperimentError::Journal`] and [`ExperimentError::Read`].
    pub fn begun(&self) -> Result<Option<ResumedRun>, ExperimentError> {
        match self.check_unused() {
            Ok(()) => Ok(None),
            Err(ExperimentError::HasRun { .. }) => ResumedRun::open(&self.journal(), &self.spool())
                .map(Some)
                .map_err(|source| self.journal_error(source)),
            Err(error) => Err(error),
        }
    }

    /// As [`Experiment::begun`], for a run of a fork. Its journal is written with its first events at once, so one without an
    /// event is damaged.
    ///
    /// # Errors
    /// As [`Experiment::begun`].
    pub fn begun_as_fork(&self) -> Result<Option<ResumedRun>, ExperimentError> {
        match self.begun()? {
            None if self.journal().exists() => Err(self.journal_error(ResumeError::NoFork)),
            begun => Ok(begun),
        }
    }

    fn journal_error(&self, source: ResumeError) -> ExperimentError {
        let (path, source) = (self.journal(), Box::new(source));
        ExperimentError::Journal { path, source }
    }

    /// Writes imported messages; if that fails, an empty directory is removed.
    ///
    /// # Errors
    /// [`ExperimentError::Write`].
    pub fn write_imported(&self, imported: &Imported) -> Result<(), ExperimentError> {
        let path = self.imported();
        let written = file::write_with(&self.path, &path, |out| imported.write(out));
        if written.is_err() {
            // A directory with other files stays.
            let _ = fs::remove_dir(&self.path);
        }
        written
    }

    /// Refuses a directory of imported messages.
    ///
    /// # Errors
    /// [`ExperimentError::Imported`].
    pub fn check_has_no_import(&self) -> Result<(), ExperimentError> {
        if self.imported().exists() {
            let path = self.path.clone();
            return Err(ExperimentError::Imported { path });
        }
        Ok(())
    }

    /// Refuses an experiment whose journal has an event, and imported messages. A journal without a complete line has none.
    ///
    /// # Errors
    /// [`ExperimentError::HasRun`], [`ExperimentError::Imported`] and [`ExperimentError::Read`].
    pub fn check_unused(&self) -> Result<(), ExperimentError> {
        self.check_has_no_import()?;
        let path = self.journal();
        let whole = match open_journal(&path) {
            Ok(file) => has_line(BufReader::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        };
        match whole {
            Ok(false) => Ok(()),
            Ok(true) => Err(ExperimentError::HasRun {
                path: self.path.clone(),
            }),
            Err(source) => Err(ExperimentError::Read { path, source }),
        }
    }
}

/// Returns indented JSON with a line feed at the end.
fn json(value: &impl Serialize) -> Vec<u8> {
    // This cannot fail: settings have no maps with other keys than text, and a `Vec` accepts every byte.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn has_line(mut file: impl io::BufRead) -> io::Result<bool> {
    loop {
        let buffer = file.fill_buf()?;
        if buffer.is_empty() {
            return Ok(false);
        }
        if memchr::memchr(b'\n', buffer).is_some() {
            return Ok(true);
        }
        let read = buffer.len();
        file.consume(read);
    }
}
