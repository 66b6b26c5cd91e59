//! A run that is read and not continued.

use std::path::{Path, PathBuf};

use bin_support::runs::RunArg;
use bin_support::{Failure, Session};
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::run::RunDirectory;

use crate::error::{self, Error};
use crate::{run_dir, selection};

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

    /// As [`Self::find`], for one path or name.
    pub fn named(path: &Path, session: &Session) -> Result<Self, Failure> {
        let mut argument = RunArg::default();
        argument.run = Some(path.to_owned());
        Self::find(&argument, session)
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

    /// The folder of the run, if it is one.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The files of the run, none of which an output may replace.
    pub fn files(&self) -> Vec<PathBuf> {
        let others = self
            .directory
            .iter()
            .flat_map(|folder| RunDirectory::files_in(folder));
        others.chain([self.file.clone()]).collect()
    }

    pub fn read(&self) -> Result<RunReport, Failure> {
        if let Some(path) = self.directory.clone()
            && !path.join("run.json").exists()
            && !self.file.exists()
        {
            return Err(Failure::usage(Error::NoRun { path }));
        }
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
