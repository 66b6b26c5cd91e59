//! The folders of sweeps and forks, and the plans that they have.

use std::ffi::OsStr;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use bin_support::Failure;
use logosphere_core::Settings;
use logosphere_core::journal::open_journal;
use logosphere_core::study::fork::{ForkFolder, ForkPlan};
use logosphere_core::study::sweep::{Cell, SweepError, SweepFolder, SweepPlan};

use crate::forking::{ARMS, fork_failure};
use crate::setup::shown;
use crate::sweeping::sweep_failure;

/// The folder of all sweeps, and that of all forks.
pub const SWEEPS: &str = "sweeps";
pub const FORKS: &str = "forks";

/// The folder of many runs.
#[derive(Debug)]
pub enum StudyFolder {
    Sweep(SweepFolder),
    Fork(ForkFolder),
}

/// The plan of many runs. They are in groups of the same number: the cells of a sweep, or the arms of a fork.
#[derive(Debug, PartialEq)]
pub enum StudyPlan {
    Sweep {
        plan: Box<SweepPlan>,
        cells: Vec<Cell>,
    },
    Fork(ForkPlan),
}

/// The plan that a folder has, against the one that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanChange {
    /// The folder has no plan yet.
    Missing,
    Same,
    New,
}

impl StudyFolder {
    /// Returns the folder of a sweep or a fork at a path; `None` if the path is neither. One that has no plan yet is known by
    /// the folder that it is in.
    pub fn at(path: &Path) -> Option<Self> {
        if !path.is_dir() || path.join("logs/experiment.jsonl").exists() {
            return None;
        }
        let whole = path.canonicalize().ok()?;
        let is_in = |folder: &str| {
            let above = whole.parent().and_then(Path::file_name);
            above == Some(OsStr::new(folder))
        };
        let has_arm = || ARMS.iter().any(|arm| path.join(arm.as_str()).is_dir());
        let has_plan = path.join("plan.json").exists();
        if has_plan && path.join("plan.toml").exists() || is_in(SWEEPS) {
            return Some(Self::Sweep(SweepFolder::planned(path)));
        }
        let is_fork = is_in(FORKS) || has_plan && (has_arm() || is_plan_of_fork(path));
        if is_fork {
            return Some(Self::Fork(ForkFolder::planned(path)));
        }
        has_plan.then(|| Self::Sweep(SweepFolder::planned(path)))
    }

    /// Returns the folder of the sweep or the fork with this name; `None` if there is no such folder.
    pub fn named(name: &Path) -> Option<PathBuf> {
        if name.components().count() != 1 {
            return None;
        }
        let mut paths = [SWEEPS, FORKS]
            .map(|root| Path::new(root).join(name))
            .into_iter();
        paths.find(|path| path.is_dir())
    }

    /// Returns the names of all sweeps and forks.
    pub fn names() -> Vec<String> {
        let entries = [SWEEPS, FORKS]
            .into_iter()
            .filter_map(|root| fs::read_dir(root).ok());
        let names = entries
            .flatten()
            .flatten()
            .filter(|entry| entry.path().is_dir());
        names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Sweep(folder) => folder.path(),
            Self::Fork(folder) => folder.path(),
        }
    }

    /// Returns `sweep` or `fork`, and the word for several groups of runs.
    pub fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::Sweep(_) => ("sweep", "cells"),
            Self::Fork(_) => ("fork", "arms"),
        }
    }

    /// Returns the path, with the name of a sweep whose folder has another.
    pub fn title(&self, plan: &StudyPlan) -> String {
        let path = shown(self.path());
        match plan {
            StudyPlan::Sweep { plan, .. } if !self.path().ends_with(&plan.name) => {
                format!("{} in {path}", plan.name)
            }
            _ => path,
        }
    }

    /// Reads the plan into `known`, whose cells stay if it is the same. Without a plan, or with one that the process that works in the
    /// folder has not written to its end, `known` stays as it is.
    pub fn read_plan(
        &self,
        is_in_use: bool,
        known: &mut Option<StudyPlan>,
    ) -> Result<PlanChange, Failure> {
        let (found, is_same) = match self {
            Self::Sweep(folder) => {
                let plan = match folder.read_plan() {
                    Err(SweepError::PlanFile { .. }) if is_in_use => None,
                    read => read.map_err(sweep_failure)?,
                };
                let is_same = match (&known, &plan) {
                    (Some(StudyPlan::Sweep { plan: known, .. }), Some(plan)) => **known == *plan,
                    _ => false,
                };
                let with_cells = |plan: SweepPlan| StudyPlan::Sweep {
                    cells: plan.cells(),
                    plan: Box::new(plan),
                };
                (plan.filter(|_| !is_same).map(with_cells), is_same)
            }
            Self::Fork(folder) => {
                let plan = folder.read_plan().map_err(fork_failure)?;
                let plan = plan.map(StudyPlan::Fork);
                let is_same = plan.is_some() && *known == plan;
                (plan, is_same)
            }
        };
        Ok(match found {
            _ if is_same => PlanChange::Same,
            None => PlanChange::Missing,
            Some(plan) => {
                *known = Some(plan);
                PlanChange::New
            }
        })
    }

    /// Returns the folder of the runs of a group.
    pub fn group(&self, plan: &StudyPlan, group: usize) -> PathBuf {
        let run = self.run(plan, group, 0);
        run.parent().map_or_else(PathBuf::new, Path::to_owned)
    }

    /// Returns the folder of a run.
    pub fn run(&self, plan: &StudyPlan, group: usize, repeat: u32) -> PathBuf {
        match (self, plan) {
            (Self::Sweep(folder), StudyPlan::Sweep { cells, .. }) => {
                folder.run(&cells[group], repeat)
            }
            (Self::Fork(folder), _) => folder.run(ARMS[group], repeat),
            // A folder and its plan are of one kind.
            (Self::Sweep(_), StudyPlan::Fork(_)) => PathBuf::new(),
        }
    }

    /// Checks that a run is one of its group, by the settings that it began with.
    pub fn check(
        &self,
        plan: &StudyPlan,
        group: usize,
        repeat: u32,
        settings: &Settings,
    ) -> Result<(), SweepError> {
        match (self, plan) {
            (Self::Sweep(folder), StudyPlan::Sweep { plan, cells }) => {
                folder.check(plan, &cells[group], repeat, settings)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the result of all runs was written.
    pub fn has_result(&self) -> bool {
        self.path().join("summary.json").exists()
    }

    /// Returns the command that continues the runs.
    pub fn next(&self, plan: &StudyPlan) -> String {
        let path = shown(self.path());
        match plan {
            StudyPlan::Sweep { plan, .. } => {
                // The folder has a copy of the plan, and of the seed messages by this name.
                let mut command = match plan.init.to_str() {
                    Some("init.md") => format!("logosphere sweep {path}/plan.toml"),
                    _ => "logosphere sweep PLAN".to_owned(),
                };
                if self.path() != Path::new(SWEEPS).join(&plan.name) {
                    command = format!("{command} --output-dir {path}");
                }
                format!("{command} --repeats {}", plan.repeats)
            }
            StudyPlan::Fork(plan) => {
                let name = self.path().file_name().unwrap_or_default();
                format!(
                    "logosphere fork {} --at {} --name {} and the same changes",
                    shown(&plan.parent),
                    plan.at,
                    shown(Path::new(name))
                )
            }
        }
    }
}

impl StudyPlan {
    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        match self {
            Self::Sweep { cells, .. } => cells.len(),
            Self::Fork(_) => ARMS.len(),
        }
    }

    /// Returns the name of a group, which is that of its folder.
    pub fn group(&self, group: usize) -> &str {
        match self {
            Self::Sweep { cells, .. } => &cells[group].key,
            Self::Fork(_) => ARMS[group].as_str(),
        }
    }

    /// Returns the number of runs of a group.
    pub fn repeats(&self) -> u32 {
        match self {
            Self::Sweep { plan, .. } => plan.repeats,
            Self::Fork(plan) => plan.replicates,
        }
    }
}

/// Whether `plan.json` has a key that only the plan of a fork has.
fn is_plan_of_fork(path: &Path) -> bool {
    let file = open_journal(&path.join("plan.json")).map(BufReader::new);
    let plan = file
        .ok()
        .and_then(|file| serde_json::from_reader(file).ok());
    let plan: serde_json::Value = plan.unwrap_or_default();
    plan.get("parent_run_id").is_some()
}
