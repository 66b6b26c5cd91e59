//! A run that is read and not continued.

use std::path::{Path, PathBuf};

use bin_support::runs::{RunArg, is_same};
use bin_support::{Failure, Session, block_on};
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::run::RunDirectory;

use crate::error::{self, Error};
use crate::filter::EncodingFilter;
use crate::live::{LiveRun, Phase};
use crate::run_dir::{self, Continued};
use crate::selection;

/// A run's directory, a report, or an array of results.
pub struct Source {
    /// The file that is read.
    pub file: PathBuf,
    directory: Option<PathBuf>,
}

impl Source {
    /// The run that an argument names: a folder, a file, or a name in `experiments/`; without one the newest.
    pub fn find(argument: &RunArg, session: &Session) -> Result<Self, Failure> {
        Ok(Self::of(run_dir::folder(argument, session)?))
    }

    /// As [`Self::find`], for a run that is compared with `later`: a name that means `later` means the run before it.
    pub fn before(given: &Path, later: &Self) -> Result<Self, Failure> {
        Ok(Self::of(run_dir::RUNS.find_before(given, later.path())?))
    }

    fn of(path: PathBuf) -> Self {
        if path.is_dir() {
            Self {
                file: path.join("report.json"),
                directory: Some(path),
            }
        } else {
            Self {
                file: path,
                directory: None,
            }
        }
    }

    /// The folder of the run, or the file.
    pub fn path(&self) -> &Path {
        self.directory.as_deref().unwrap_or(&self.file)
    }

    /// Whether both are one run.
    pub fn is_same(&self, other: &Self) -> bool {
        is_same(self.path(), other.path()) || is_same(&self.file, &other.file)
    }

    /// The files of the run, none of which an output may replace.
    pub fn files(&self) -> Vec<PathBuf> {
        let others = self
            .directory
            .iter()
            .flat_map(|folder| RunDirectory::files_in(folder));
        others.chain([self.file.clone()]).collect()
    }

    /// Reads what is selected of the report, or of the results so far of a run that has none yet, and warns of experiments that did
    /// not run.
    pub fn read(&self, only: &EncodingFilter, session: &Session) -> Result<RunReport, Failure> {
        let (phase, mut report) = match &self.directory {
            Some(folder) if !self.file.exists() => block_on(LiveRun::open(folder)?.read())??,
            _ => (Phase::Stopped, self.read_file()?),
        };
        only.apply(&mut report, self.path())?;
        let results = report.results.iter();
        let missing = results.filter(|one| one.outcome.is_stopped()).count();
        if missing > 0 {
            let (all, place) = (report.results.len(), run_dir::shell_word(self.path()));
            let next = match (phase, &self.directory) {
                (_, None) => String::new(),
                (Phase::Running, _) => {
                    format!("; the run works: `zer0gravity report {place} --watch` follows it")
                }
                (_, Some(folder)) => {
                    let line = Continued::Run.line(folder, report.config.as_ref(), None);
                    format!("; `{line}` continues the run")
                }
            };
            session.warn(&format!(
                "{place}: {missing} of {all} experiments did not run{next}"
            ));
        }
        Ok(report)
    }

    fn read_file(&self) -> Result<RunReport, Failure> {
        let bytes = selection::read(&self.file).map_err(Failure::usage)?;
        let form = |message: String| Error::Form {
            path: self.file.clone(),
            what: "results",
            message,
        };
        let text = String::from_utf8(bytes).map_err(|error| form(error.to_string()))?;
        let report =
            RunReport::read(&text).map_err(|error| Failure::usage(form(error.to_string())))?;
        if let Some(folder) = &self.directory {
            RunDirectory::check_calls(folder, &report).map_err(error::directory)?;
        }
        Ok(report)
    }
}
