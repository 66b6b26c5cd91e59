//! The folder of a sweep: its plan, its runs and its results.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cell::Cell;
use super::plan::SweepPlan;
use crate::config::{ConfigError, Settings};
use crate::experiment::file::{self, ExistingFile};
use crate::experiment::{Experiment, ExperimentError, ExperimentLock};
use crate::format::sha256_hex;

/// The keys of a plan that may differ from those of the folder: they change no run that there is.
const CHANGEABLE: [&str; 3] = ["repeats", "caps", "tests"];

/// The folder of a sweep.
///
/// | file | |
/// |---|---|
/// | `plan.toml`, `plan.json` | the plan as it was given, and as values with the hashes of plan and seed messages |
/// | `init.md` | the seed messages of all runs |
/// | `cells/KEY/r000/` | the first run of a cell, an ordinary experiment |
/// | `logs/lock` | the lock, with the id of the process that holds it |
/// | `summary.csv`, `summary.json`, `report.html` | results that can be computed again |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepFolder {
    path: PathBuf,
}

/// The error of the folder of a sweep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The folder has the runs of another plan.
    #[error("{}: has the runs of another plan: {key} is {old} there and {new} here; give another --output-dir", path.display())]
    OtherPlan {
        /// The folder.
        path: PathBuf,
        /// The first key that differs.
        key: String,
        /// The value in the folder.
        old: Value,
        /// The value in the plan.
        new: Value,
    },
    /// The plan that the folder has cannot be read.
    #[error("{}: cannot be read as the plan of a sweep; move it away", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: serde_json::Error,
    },
    /// The plan is of a newer program.
    #[error("{}: schema_version {found} is newer than this program, which reads up to 1", path.display())]
    PlanVersion {
        /// The file.
        path: PathBuf,
        /// The version.
        found: u32,
    },
    /// `plan.toml` is missing, or is not the plan of `plan.json`.
    #[error("{}: is not the plan of plan.json; the same `sweep` command writes it again", path.display())]
    PlanFile {
        /// The file.
        path: PathBuf,
    },
    /// A run of the folder has other settings or seed messages than its cell.
    #[error("{}: is not a run of this cell: {why}", path.display())]
    OtherRun {
        /// The folder of the run.
        path: PathBuf,
        /// The difference.
        why: String,
    },
    /// The settings of a cell are not allowed together.
    #[error("cell {key}")]
    Settings {
        /// The key of the cell.
        key: String,
        /// The error.
        #[source]
        source: ConfigError,
    },
    /// A file or folder cannot be used.
    #[error(transparent)]
    File(#[from] ExperimentError),
}

impl SweepError {
    /// Returns whether a run of the folder is not what it should be.
    pub fn is_other_run(&self) -> bool {
        matches!(self, Self::OtherRun { .. })
    }

    /// Returns whether the input is wrong, and not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::File(error) => error.is_usage(),
            _ => true,
        }
    }
}

/// The content of `plan.json`.
#[derive(Serialize, Deserialize)]
struct PlanJson {
    schema_version: u32,
    plan: Value,
    /// The names of the axes in the order of the plan, which keys and seeds depend on.
    #[serde(default)]
    axes: Vec<String>,
    /// The number of runs of a cell, which a flag may set.
    #[serde(default)]
    repeats: Option<u32>,
    plan_sha256: String,
    init_sha256: String,
}

impl SweepFolder {
    /// Returns the folder at a path, which need not exist.
    pub fn planned(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path }
    }

    /// Takes the plan of the runs, and makes the folder if it does not exist. `bytes` is the file of the plan, `init` the seed
    /// messages.
    ///
    /// # Errors
    /// [`SweepError::OtherPlan`] if the folder has runs of a plan that differs in more than the number of repeats, caps and
    /// tests; [`SweepError::Plan`]; [`SweepError::File`].
    pub fn take(&self, plan: &SweepPlan, bytes: &[u8], init: &[u8]) -> Result<(), SweepError> {
        let text = String::from_utf8_lossy(bytes);
        // The plan was parsed from the same bytes.
        let values: Value = toml::from_str(&text).unwrap_or_default();
        let content = PlanJson {
            schema_version: 1,
            plan: values,
            axes: plan.axes.iter().map(|axis| axis.name.clone()).collect(),
            repeats: Some(plan.repeats),
            plan_sha256: sha256_hex(bytes),
            init_sha256: sha256_hex(init),
        };
        let json = self.path.join("plan.json");
        if let Some(known) = file::read(&json)? {
            let known: PlanJson =
                serde_json::from_slice(&known).map_err(|source| SweepError::Plan {
                    path: json.clone(),
                    source,
                })?;
            self.compare(&known, &content)?;
        }
        file::make_folder(&self.path, &self.path)?;
        file::write(&self.path, &self.init(), init, ExistingFile::Replace)?;
        file::write(
            &self.path,
            &self.path.join("plan.toml"),
            bytes,
            ExistingFile::Replace,
        )?;
        let mut content = serde_json::to_vec_pretty(&content).unwrap_or_default();
        content.push(b'\n');
        Ok(file::write(
            &self.path,
            &json,
            &content,
            ExistingFile::Replace,
        )?)
    }

    /// Reads the plan that the folder has, with the number of repeats of the last process; `None` if `plan.json` is missing or
    /// incomplete. Nothing is written.
    ///
    /// # Errors
    /// [`SweepError::Plan`], [`SweepError::PlanVersion`] and [`SweepError::File`]. [`SweepError::PlanFile`] also while a process
    /// replaces the plan.
    pub fn read_plan(&self) -> Result<Option<SweepPlan>, SweepError> {
        let path = self.path.join("plan.json");
        let Some(bytes) = file::read(&path)? else {
            return Ok(None);
        };
        let known: PlanJson = match serde_json::from_slice(&bytes) {
            Ok(known) => known,
            Err(error) if error.is_eof() => return Ok(None),
            Err(source) => return Err(SweepError::Plan { path, source }),
        };
        if known.schema_version > 1 {
            let found = known.schema_version;
            return Err(SweepError::PlanVersion { path, found });
        }
        let path = self.path.join("plan.toml");
        let plan = file::read(&path)?.filter(|bytes| sha256_hex(bytes) == known.plan_sha256);
        // The hash is that of a plan that was read before.
        match plan.and_then(|bytes| SweepPlan::parse(&bytes).ok()) {
            Some(mut plan) => {
                plan.repeats = known.repeats.unwrap_or(plan.repeats);
                Ok(Some(plan))
            }
            None => Err(SweepError::PlanFile { path }),
        }
    }

    fn compare(&self, known: &PlanJson, new: &PlanJson) -> Result<(), SweepError> {
        let other = |(key, old, new): (String, Value, Value)| SweepError::OtherPlan {
            path: self.path.clone(),
            key,
            old,
            new,
        };
        if let Some(found) = difference("", &known.plan, &new.plan) {
            return Err(other(found));
        }
        if known.axes != new.axes {
            let key = "the order of the axes".to_owned();
            return Err(other((
                key,
                known.axes.clone().into(),
                new.axes.clone().into(),
            )));
        }
        if known.init_sha256 != new.init_sha256 {
            let key = "the SHA-256 of init".to_owned();
            let hashes = [known, new].map(|plan| plan.init_sha256.clone().into());
            let [old, new] = hashes;
            return Err(other((key, old, new)));
        }
        Ok(())
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the seed messages.
    pub fn init(&self) -> PathBuf {
        self.path.join("init.md")
    }

    /// Returns the path of a result.
    pub fn result(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Locks the folder, so that one process makes its runs.
    ///
    /// # Errors
    /// [`ExperimentError::InUse`], and [`ExperimentError::Write`] if no lock file can be made.
    pub fn lock(&self, pid: u32) -> Result<ExperimentLock, ExperimentError> {
        Experiment::planned(&self.path)?.lock(pid)
    }

    /// Returns the folder of a run, which may be missing.
    pub fn run(&self, cell: &Cell, repeat: u32) -> PathBuf {
        let cells = self.path.join("cells");
        cells.join(&cell.key).join(format!("r{repeat:03}"))
    }

    /// Makes the folder of a run, with the seed messages and the settings of its cell. What it has stays.
    ///
    /// # Errors
    /// [`SweepError::OtherRun`] if it has another seed, [`SweepError::Settings`] and [`SweepError::File`].
    pub fn prepare(
        &self,
        plan: &SweepPlan,
        cell: &Cell,
        repeat: u32,
        init: &[u8],
    ) -> Result<Experiment, SweepError> {
        let path = self.run(cell, repeat);
        let seed = cell.seed(plan, repeat);
        file::make_folder(&self.path, &path)?;
        let experiment = Experiment::open_or_make(&path)?;
        if !experiment.init().exists() {
            file::write(&self.path, &experiment.init(), init, ExistingFile::Spare)?;
        } else if experiment.read_init()? != init {
            let why = "it has other seed messages".to_owned();
            return Err(SweepError::OtherRun { path, why });
        }
        match experiment.read_config()? {
            None => {
                let layer = cell.layer.clone().with(|layer| layer.seed = Some(seed));
                let settings = layer
                    .settings(seed)
                    .map_err(|source| SweepError::Settings {
                        key: cell.key.clone(),
                        source,
                    })?;
                experiment.write_config(&settings, &[])?;
            }
            Some(config) => {
                let settings = config.layer.settings(0).map_err(|source| {
                    let key = cell.key.clone();
                    SweepError::Settings { key, source }
                })?;
                self.check(plan, cell, repeat, &settings)?;
            }
        }
        Ok(experiment)
    }

    /// Checks that a run is one of this cell, by the settings that it began with.
    ///
    /// # Errors
    /// [`SweepError::OtherRun`].
    pub fn check(
        &self,
        plan: &SweepPlan,
        cell: &Cell,
        repeat: u32,
        settings: &Settings,
    ) -> Result<(), SweepError> {
        let seed = cell.seed(plan, repeat);
        let layer = cell.layer.clone().with(|layer| layer.seed = Some(seed));
        let root = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
        let differs = layer.differences(settings).into_iter();
        let mut differs =
            differs.filter(|found| !Settings::CHANGEABLE.contains(&root(found.path).as_str()));
        match differs.next() {
            None => Ok(()),
            Some(found) => Err(SweepError::OtherRun {
                path: self.run(cell, repeat),
                why: format!(
                    "its {} is {}, and {} in the plan",
                    found.path, found.run, found.given
                ),
            }),
        }
    }

    /// Writes a result in place of the one before.
    ///
    /// # Errors
    /// [`ExperimentError::Write`].
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), ExperimentError> {
        file::write(
            &self.path,
            &self.result(name),
            content,
            ExistingFile::Replace,
        )
    }
}

/// The first key whose values differ, with both.
fn difference(path: &str, old: &Value, new: &Value) -> Option<(String, Value, Value)> {
    let (Value::Object(fields), Value::Object(others)) = (old, new) else {
        return (old != new).then(|| (path.to_owned(), old.clone(), new.clone()));
    };
    let added = others.keys().filter(|key| !fields.contains_key(*key));
    fields.keys().chain(added).find_map(|key| {
        if path.is_empty() && CHANGEABLE.contains(&key.as_str()) {
            return None;
        }
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let value = |fields: &serde_json::Map<String, Value>| fields.get(key).cloned();
        let [old, new] = [fields, others].map(|fields| value(fields).unwrap_or_default());
        difference(&path, &old, &new)
    })
}
