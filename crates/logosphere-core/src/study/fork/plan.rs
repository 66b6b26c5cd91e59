//! The plan of a fork and its folder.

use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::begin::ForkEvents;
use super::point::{ForkPoint, PointError};
use crate::experiment::file::{self, ExistingFile};
use crate::experiment::{Experiment, ExperimentError, ExperimentLock};
use crate::journal::{ForkArm, InterventionChange, fork_seed, open_journal};
use crate::verify::{ResumeError, ResumedRun};

/// The plan of a fork: its parent, its point, and the changes of the treated arm.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForkPlan {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The folder of the parent.
    pub parent: PathBuf,
    /// The id of the parent.
    pub parent_run_id: String,
    /// The number of the last line that the runs share with it, from 0.
    pub parent_seq: u64,
    /// The chain of that line.
    pub parent_chain: String,
    /// The point.
    pub at: String,
    /// The last round of all runs.
    pub max_rounds: u32,
    /// The number of replicates.
    pub replicates: u32,
    /// The changes of the treated arm.
    pub changes: Vec<InterventionChange>,
}

impl ForkPlan {
    /// Returns the plan of a fork whose last round is `max_rounds`. `shared` is the part of the parent's journal.
    pub fn new(
        parent: impl Into<PathBuf>,
        shared: &SharedPart,
        point: ForkPoint,
        max_rounds: u32,
        replicates: u32,
    ) -> Self {
        Self {
            schema_version: 1,
            parent: parent.into(),
            parent_run_id: shared.run.state.run_id().to_owned(),
            parent_seq: shared.run.lines.saturating_sub(1),
            parent_chain: shared.run.chain.clone(),
            at: point.to_string(),
            max_rounds,
            replicates,
            changes: Vec::new(),
        }
    }
}

/// The folder of a fork.
///
/// | file | |
/// |---|---|
/// | `plan.json` | the plan |
/// | `control/r00/`, `treated/r00/` | the runs of the first replicate, ordinary experiments |
/// | `logs/lock` | the lock, with the id of the process that holds it |
/// | `summary.json`, `report.html` | results that can be computed again |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkFolder {
    path: PathBuf,
}

/// The error of a fork.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The point cannot be used.
    #[error("{}", path.display())]
    Point {
        /// The journal of the parent.
        path: PathBuf,
        /// The error.
        #[source]
        source: PointError,
    },
    /// The parent cannot be read.
    #[error("{}", path.display())]
    Parent {
        /// The journal of the parent.
        path: PathBuf,
        /// The error.
        #[source]
        source: ResumeError,
    },
    /// A file of the parent cannot be opened.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The folder has the runs of another plan.
    #[error("{}: has the runs of another fork: {key} is {old} there and {new} here; give another --name", path.display())]
    OtherPlan {
        /// The folder.
        path: PathBuf,
        /// The first key that differs.
        key: String,
        /// The value in the folder.
        old: Value,
        /// The value of the plan.
        new: Value,
    },
    /// The plan that the folder has cannot be read.
    #[error("{}: cannot be read as the plan of a fork; move it away", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: serde_json::Error,
    },
    /// A run of the folder is not one of its arm and replicate.
    #[error("{}: is not the run of this arm and replicate: {why}; move it away", path.display())]
    OtherRun {
        /// The journal of the run.
        path: PathBuf,
        /// The difference.
        why: String,
    },
    /// A file or folder cannot be used.
    #[error(transparent)]
    File(#[from] ExperimentError),
}

impl ForkError {
    /// Returns whether a run of the folder is not what it should be.
    pub fn is_other_run(&self) -> bool {
        matches!(self, Self::OtherRun { .. })
    }

    /// Returns whether the input is wrong, and not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::File(error) => error.is_usage(),
            Self::Read { .. } => false,
            _ => true,
        }
    }
}

/// The part of a parent's journal that its forks share.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SharedPart {
    /// The bytes of the part.
    pub bytes: Vec<u8>,
    /// The run at the end of the part.
    pub run: ResumedRun,
}

impl SharedPart {
    /// Reads the part of the journal of `parent` up to a point.
    ///
    /// # Errors
    /// See [`ForkError`].
    pub fn read(parent: &Experiment, point: ForkPoint) -> Result<Self, ForkError> {
        let path = parent.journal();
        let open = || {
            open_journal(&path).map_err(|source| {
                let path = path.clone();
                ForkError::Read { path, source }
            })
        };
        let length = point.length_in(BufReader::new(open()?));
        let length = length.map_err(|source| {
            let path = path.clone();
            ForkError::Point { path, source }
        })?;
        let mut bytes = Vec::new();
        open()?
            .take(length)
            .read_to_end(&mut bytes)
            .map_err(|source| {
                let path = path.clone();
                ForkError::Read { path, source }
            })?;
        let run = ResumedRun::read(&bytes[..]).map_err(|source| {
            let path = path.clone();
            ForkError::Parent { path, source }
        })?;
        Ok(Self { bytes, run })
    }
}

impl ForkFolder {
    /// Returns the folder at a path, which need not exist.
    pub fn planned(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path }
    }

    /// Takes the plan of the runs, and makes the folder if it does not exist.
    ///
    /// # Errors
    /// As [`ForkFolder::check_plan`].
    pub fn take(&self, plan: &ForkPlan) -> Result<(), ForkError> {
        self.check_plan(plan)?;
        file::make_folder(&self.path, &self.path)?;
        let mut content = serde_json::to_vec_pretty(plan).unwrap_or_default();
        content.push(b'\n');
        Ok(self.write("plan.json", &content)?)
    }

    /// Checks that the runs of the folder are those of this plan. Nothing is written.
    ///
    /// # Errors
    /// [`ForkError::OtherPlan`] if it has the runs of a plan that differs in more than the number of replicates and the path of
    /// the parent; [`ForkError::File`].
    pub fn check_plan(&self, plan: &ForkPlan) -> Result<(), ForkError> {
        let path = &self.path;
        let json = path.join("plan.json");
        let new = serde_json::to_value(plan).unwrap_or_default();
        if let Some(known) = file::read(&json)? {
            let known: Value = serde_json::from_slice(&known).unwrap_or_default();
            let keys = new.as_object().into_iter().flatten();
            let differs = keys
                .filter(|(key, _)| !["replicates", "parent"].contains(&key.as_str()))
                .find(|(key, value)| known.get(key) != Some(value));
            if let Some((key, value)) = differs {
                return Err(ForkError::OtherPlan {
                    path: path.to_owned(),
                    key: key.clone(),
                    old: known.get(key).cloned().unwrap_or_default(),
                    new: value.clone(),
                });
            }
        }
        Ok(())
    }

    /// Checks that a run is that of its arm and replicate, by the event with which it began as a fork, and by its changes. A run
    /// that has not begun passes, and one that is damaged before these events: to read it names the damage. So does the control
    /// of another fork from the same point, which differs in its id and its times alone. Nothing is written.
    ///
    /// # Errors
    /// [`ForkError::OtherRun`].
    pub fn check(
        &self,
        plan: &ForkPlan,
        shared: &SharedPart,
        arm: ForkArm,
        replicate: u32,
    ) -> Result<(), ForkError> {
        let path = self.run(arm, replicate).join("logs/experiment.jsonl");
        let Ok(file) = open_journal(&path) else {
            return Ok(());
        };
        let seed = fork_seed(shared.run.state.settings().seed, replicate);
        let events = ForkEvents::read(BufReader::new(file), plan.parent_seq);
        events
            .difference(plan, arm, replicate, seed)
            .map_or(Ok(()), |why| Err(ForkError::OtherRun { path, why }))
    }

    /// Reads the plan that the folder has; `None` if it is missing or incomplete. Nothing is written.
    ///
    /// # Errors
    /// [`ForkError::Plan`] and [`ForkError::File`].
    pub fn read_plan(&self) -> Result<Option<ForkPlan>, ForkError> {
        let path = self.path.join("plan.json");
        let Some(bytes) = file::read(&path)? else {
            return Ok(None);
        };
        match serde_json::from_slice(&bytes) {
            Ok(plan) => Ok(Some(plan)),
            Err(error) if error.is_eof() => Ok(None),
            Err(source) => Err(ForkError::Plan { path, source }),
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the folder, so that one process makes its runs.
    ///
    /// # Errors
    /// [`ExperimentError::InUse`], and [`ExperimentError::Write`] if no lock file can be made.
    pub fn lock(&self, pid: u32) -> Result<ExperimentLock, ExperimentError> {
        Experiment::planned(&self.path)?.lock(pid)
    }

    /// Returns the folder of a run, which may be missing.
    pub fn run(&self, arm: ForkArm, replicate: u32) -> PathBuf {
        let arm = self.path.join(arm.as_str());
        arm.join(format!("r{replicate:02}"))
    }

    /// Makes the folder of a run, with the seed messages and the settings of the parent. What it has stays.
    ///
    /// # Errors
    /// [`ForkError::File`].
    pub fn prepare(
        &self,
        parent: &Experiment,
        arm: ForkArm,
        replicate: u32,
    ) -> Result<Experiment, ForkError> {
        let path = self.run(arm, replicate);
        file::make_folder(&self.path, &path)?;
        let experiment = Experiment::open_or_make(&path)?;
        let copies = [
            (parent.init(), experiment.init()),
            (parent.config(), experiment.config()),
        ];
        for (from, to) in copies {
            if let (Some(bytes), false) = (file::read(&from)?, to.exists()) {
                file::write(&self.path, &to, &bytes, ExistingFile::Spare)?;
            }
        }
        Ok(experiment)
    }

    /// Writes a result in place of the one before.
    ///
    /// # Errors
    /// [`ExperimentError::Write`].
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), ExperimentError> {
        file::write(
            &self.path,
            &self.path.join(name),
            content,
            ExistingFile::Replace,
        )
    }
}
