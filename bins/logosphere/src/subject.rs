//! The experiment that a command reads.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bin_support::{Failure, Session, escape};
use logosphere_core::experiment::Experiment;
use strsim::levenshtein;

use crate::error::Error;

/// The directory of experiments, relative to the working directory.
pub const EXPERIMENTS: &str = "experiments";

/// The experiment of a command, flattened into the arguments of the commands that have one.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Subject {
    /// The experiment's directory, its name in experiments/, or a journal [default: the journal that changed last].
    #[arg(value_name = "EXP")]
    pub experiment: Option<PathBuf>,
}

impl Subject {
    /// Returns the path of the experiment.
    pub fn find(&self, session: &Session) -> Result<PathBuf, Failure> {
        match &self.experiment {
            Some(given) => look_up(given),
            None => latest(session),
        }
    }
}

/// Returns a path unchanged, or the experiment with this name: `NAME` or `DATE-NAME` in `experiments/`, the newest date
/// first.
pub fn look_up(given: &Path) -> Result<PathBuf, Failure> {
    let name = given.to_string_lossy();
    if given.components().count() != 1 || given.exists() || name.starts_with('.') {
        return Ok(given.to_owned());
    }
    let root = Path::new(EXPERIMENTS);
    let names = names(root);
    if names.iter().any(|known| **known == *name) {
        return Ok(root.join(&*name));
    }
    let suffix = format!("-{name}");
    let day = |name: &str| name.get(..10).unwrap_or_default().to_owned();
    let newest = (names.iter().filter(|known| known.ends_with(&suffix)))
        .map(|known| day(known))
        .max();
    let Some(newest) = newest else {
        return match nearest(&names, &name) {
            // It is an error of the command that it is not there.
            None => Ok(given.to_owned()),
            Some(nearest) => Err(Failure::usage(Error::NoSuchExperiment {
                name: name.into_owned(),
                nearest,
            })),
        };
    };
    let mut found = names.into_iter();
    let found: Vec<_> = (found.by_ref())
        .filter(|known| known.ends_with(&suffix) && day(known) == newest)
        .collect();
    match &found[..] {
        [one] => Ok(root.join(one)),
        _ => Err(Failure::usage(Error::SeveralExperiments { found })),
    }
}

/// Returns the names of the folders in `experiments/`, sorted.
fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the name with the smallest edit distance, with its date or without.
fn nearest(names: &[String], name: &str) -> Option<String> {
    let letters = |known: &&String| {
        let bare = known.get(11..).unwrap_or(known);
        levenshtein(bare, name).min(levenshtein(known, name))
    };
    names.iter().min_by_key(letters).cloned()
}

/// Returns the experiment whose journal changed last, and prints its path to stderr.
fn latest(session: &Session) -> Result<PathBuf, Failure> {
    let root = Path::new(EXPERIMENTS);
    let changed = |path: &PathBuf| -> Option<SystemTime> {
        let journal = Experiment::journal_at(path);
        fs::metadata(journal).ok()?.modified().ok()
    };
    let paths = names(root).into_iter().map(|name| root.join(name));
    let latest = (paths.filter_map(|path| Some((changed(&path)?, path)))).max();
    let (_, path) = latest.ok_or_else(|| Failure::usage(Error::NoExperiment))?;
    session.warn(&escape(&path.display().to_string()));
    Ok(path)
}
