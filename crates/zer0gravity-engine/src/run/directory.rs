use std::fs;
use std::path::{Path, PathBuf};

use durable::{Disk, Lock, LockError};
use llm_types::{Clock, Usd};

use super::DirectoryError;
use super::record::{self, RescoreRecord, RunRecord};
use crate::model::ModelLabel;
use crate::model::client::now;
use crate::plan::Plan;
use crate::report::RunReport;
use crate::result::timestamp;
use crate::text::setters::setters;

/// The directory of a run, locked as long as this value lives.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    record: RunRecord,
    _lock: Lock,
}

/// The facts besides the plan that a run directory keeps from its beginning.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct RunNotes {
    /// The address of the server, if the user gave one: a run is resumed there.
    pub base_url: Option<String>,
    /// Lines of a dataset that were left out: a run without them is not whole, however often it is resumed.
    pub left_out: usize,
    /// The most that the run may cost, over all its processes. It is not a part of the plan: a higher cap continues the run.
    pub cap: Option<Usd>,
    /// The commitment to the texts before they were published.
    pub sealed: Option<String>,
}

impl RunNotes {
    setters! {
        base_url: Option<String>,
        left_out: usize,
        cap: Option<Usd>,
        sealed: Option<String>,
    }
}

impl RunDirectory {
    /// Begins a run in `path`, a new or empty directory, or continues the same run there. The plan is frozen before the first
    /// call; of a run that is continued, only the cap is replaced, if `notes` has one.
    ///
    /// # Errors
    /// [`DirectoryError`]: the directory cannot be written, is in use, or holds another run.
    pub fn create(
        path: &Path,
        plan: &Plan,
        notes: RunNotes,
        clock: &dyn Clock,
    ) -> Result<Self, DirectoryError> {
        fs::create_dir_all(path).map_err(|source| DirectoryError::Write {
            path: path.to_owned(),
            source,
        })?;
        let lock = lock(path)?;
        if let Some(record) = RunRecord::read(path)? {
            let mut directory = Self::of(path, record, lock);
            // The plan that is compared is the one that is run.
            directory.adopt_rescored()?;
            let record = &directory.record;
            let mut differences = record.plan.differences(plan);
            if notes.sealed.is_some() && notes.sealed != record.sealed {
                differences.push("sealed".to_owned());
            }
            if !differences.is_empty() {
                return Err(DirectoryError::AnotherPlan {
                    path: path.to_owned(),
                    differences,
                });
            }
            directory.keep_cap(notes.cap)?;
            return Ok(directory);
        }
        if has_calls(path) {
            return Err(DirectoryError::ForeignCalls {
                path: path.to_owned(),
            });
        }
        let record = RunRecord::new(plan.clone(), notes, timestamp(now(clock)));
        record::write(&path.join("run.json"), &record)?;
        Ok(Self::of(path, record, lock))
    }

    /// Opens the run in `path`.
    ///
    /// # Errors
    /// [`DirectoryError`]: there is no run, it is in use, or its plan was edited.
    pub fn open(path: &Path) -> Result<Self, DirectoryError> {
        let none = || DirectoryError::NoRun {
            path: path.to_owned(),
        };
        if !path.join("run.json").is_file() {
            return Err(none());
        }
        let lock = lock(path)?;
        let mut directory = Self::of(path, RunRecord::read(path)?.ok_or_else(none)?, lock);
        directory.adopt_rescored()?;
        Ok(directory)
    }

    fn of(path: &Path, record: RunRecord, lock: Lock) -> Self {
        Self {
            path: path.to_owned(),
            record,
            _lock: lock,
        }
    }

    /// The files of a run directory, whether they are there or not.
    pub fn files_in(path: &Path) -> impl Iterator<Item = PathBuf> {
        let parts = [
            "run.json",
            "calls.jsonl",
            "report.json",
            "rescore.json",
            "spend.jsonl",
            "batch.jsonl",
            "batch.jsonl.lock",
            "run.lock",
        ];
        parts.into_iter().map(move |part| path.join(part))
    }

    /// The file of the calls of the run in `path`.
    pub fn calls_in(path: &Path) -> PathBuf {
        path.join("calls.jsonl")
    }

    /// The file in which a client may keep batches of calls of the run in `path`.
    pub fn spool_in(path: &Path) -> PathBuf {
        path.join("batch.jsonl")
    }

    /// The cap of the run in `path`; `None` if there is no run yet, or none that can be read.
    pub fn cap_in(path: &Path) -> Option<Usd> {
        RunRecord::read(path).ok()??.cap()
    }

    /// Refuses a report that was made of other calls than those that are now in `path`.
    ///
    /// # Errors
    /// [`DirectoryError::CallsChanged`], or the file of calls cannot be read.
    pub fn check_calls(path: &Path, report: &RunReport) -> Result<(), DirectoryError> {
        let calls = Self::calls_in(path);
        let held = report.calls_file.as_ref().map(|held| held.holds(&calls));
        match held.transpose() {
            Ok(None | Some(true)) => Ok(()),
            Ok(Some(false)) => Err(DirectoryError::CallsChanged {
                path: calls,
                run: path.to_owned(),
            }),
            Err(source) => Err(DirectoryError::Read {
                path: calls,
                source,
            }),
        }
    }

    /// The frozen plan.
    pub fn plan(&self) -> &Plan {
        &self.record.plan
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file in which a client may keep what it spends.
    ///
    /// # Errors
    /// [`DirectoryError::LedgerLost`]: the run has a cap and calls, and the file is missing.
    pub fn ledger(&self) -> Result<PathBuf, DirectoryError> {
        let path = self.path.join("spend.jsonl");
        match self.cap() {
            Some(cap) if has_calls(&self.path) && !path.exists() => {
                Err(DirectoryError::LedgerLost { path, cap })
            }
            _ => Ok(path),
        }
    }

    /// The moment when the plan was frozen, UTC with milliseconds.
    pub fn frozen_at(&self) -> &str {
        &self.record.frozen_at
    }

    /// Lines of a dataset that were left out.
    pub fn left_out(&self) -> usize {
        self.record.left_out
    }

    /// The address of the server, if the user gave one.
    pub fn base_url(&self) -> Option<&str> {
        self.record.base_url.as_deref()
    }

    /// The most that the run may cost.
    pub fn cap(&self) -> Option<Usd> {
        self.record.cap()
    }

    /// Replaces the cap; `None` changes nothing.
    ///
    /// # Errors
    /// `run.json` cannot be written.
    pub fn keep_cap(&mut self, cap: Option<Usd>) -> Result<(), DirectoryError> {
        if cap.is_none() || cap == self.cap() {
            return Ok(());
        }
        self.record.set_cap(cap);
        self.write_record()
    }

    /// Refuses a server other than that of the run, and a model that is none of its models.
    ///
    /// # Errors
    /// [`DirectoryError::AnotherPlan`], which names what differs.
    pub fn check_models(&self, label: &ModelLabel, model: &str) -> Result<(), DirectoryError> {
        let planned = &self.plan().config;
        let models = &planned.models;
        // A run is continued by the name of any of its models.
        let is_planned = (planned.pairs()).any(|pair| model == pair.0 || model == pair.1)
            || models.judges.iter().any(|judge| judge == model);
        let differences: Vec<_> = [
            (
                "config.port.provider",
                label.provider != planned.label.provider,
            ),
            ("config.port.host", label.host != planned.label.host),
            ("config.models.encoder", !is_planned),
        ]
        .into_iter()
        .filter(|(_, differs)| *differs)
        .map(|(name, _)| name.to_owned())
        .collect();
        if differences.is_empty() {
            return Ok(());
        }
        Err(DirectoryError::AnotherPlan {
            path: self.path.clone(),
            differences,
        })
    }

    /// The report, if there is one.
    ///
    /// # Errors
    /// The file cannot be read, or is not a report.
    pub fn report(&self) -> Result<Option<RunReport>, DirectoryError> {
        record::read_report(&self.path)
    }

    pub(super) fn write_report(&self, report: &RunReport) -> Result<(), DirectoryError> {
        record::write(&self.path.join("report.json"), report)
    }

    /// The rescore that was interrupted, if there is one.
    pub(super) fn rescored(&self) -> Result<Option<RescoreRecord>, DirectoryError> {
        record::read(&self.path.join("rescore.json"), "a rescore")
    }

    /// Keeps a rescore; if it is complete it replaces the run's report and plan.
    pub(super) fn keep_rescored(&mut self, rescored: &RescoreRecord) -> Result<(), DirectoryError> {
        record::write(&self.path.join("rescore.json"), rescored)?;
        self.adopt_rescored()
    }

    /// Puts a complete rescore in the place of the run's report and plan. Killed in between, the next opening does the rest.
    fn adopt_rescored(&mut self) -> Result<(), DirectoryError> {
        let Some(rescored) = self.rescored()?.filter(|rescored| rescored.complete) else {
            return Ok(());
        };
        self.write_report(&rescored.report)?;
        self.record.set_plan(rescored.plan);
        self.write_record()?;
        let path = self.path.join("rescore.json");
        fs::remove_file(&path).map_err(|source| DirectoryError::Write { path, source })
    }

    fn write_record(&self) -> Result<(), DirectoryError> {
        record::write(&self.path.join("run.json"), &self.record)
    }
}

/// Whether calls were made in the run in `path`.
fn has_calls(path: &Path) -> bool {
    fs::metadata(RunDirectory::calls_in(path)).is_ok_and(|found| found.len() > 0)
}

/// The lock, held until it is dropped, or the process ends in whatever way.
fn lock(path: &Path) -> Result<Lock, DirectoryError> {
    let name = path.join("run.lock");
    Disk::default().lock(&name).map_err(|error| match error {
        LockError::Held { .. } => DirectoryError::InUse {
            path: path.to_owned(),
        },
        error => DirectoryError::Write {
            path: name,
            source: error.into(),
        },
    })
}
