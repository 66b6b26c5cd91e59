//! The folders of runs in `experiments/`: the one that a command reads, and the next one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_client::{Clock as _, SystemClock};

use crate::{Error, Failure, Session, escape, nearest};

/// The folder of all runs, in the working directory.
pub const EXPERIMENTS: &str = "experiments";

/// The length of `2026-11-22-`, with which the name of a run's folder begins.
const DATE: usize = 11;

/// The run that a command reads; add it with `#[command(flatten)]`.
#[derive(Debug, Clone, Default, clap::Args)]
#[non_exhaustive]
pub struct RunArg {
    /// Run: its folder, or its name in experiments/ with or without the date [default: newest]
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,
}

impl From<Option<PathBuf>> for RunArg {
    fn from(run: Option<PathBuf>) -> Self {
        Self { run }
    }
}

/// The runs of one program, which are known by a file in their folder.
#[derive(Debug, Clone, Copy)]
pub struct RunFolders {
    markers: [&'static str; 2],
}

impl RunFolders {
    /// The runs whose folder has this file, a path relative to the folder.
    pub const fn new(marker: &'static str) -> Self {
        Self {
            markers: [marker, marker],
        }
    }

    /// These runs, and those whose folder has this other file.
    #[must_use]
    pub const fn or(self, marker: &'static str) -> Self {
        Self {
            markers: [self.markers[0], marker],
        }
    }

    /// Returns the path that the argument names: a path, else a name in `experiments/`, else the newest run with this name
    /// after its date. Without an argument it is the run whose file changed last, and a line on stderr says which.
    ///
    /// A second run of a day has a number after its name: of `DATE-abc` and `DATE-abc-2`, `abc` is the newer one, and `abc-2` the
    /// second. Without `DATE-abc`, the name of `DATE-abc-2` is `abc-2` alone.
    ///
    /// # Errors
    /// No such run, with the nearest names: [`Failure::usage`].
    pub fn find(&self, argument: &RunArg, session: &Session) -> Result<PathBuf, Failure> {
        let root = Path::new(EXPERIMENTS);
        let Some(given) = &argument.run else {
            let newest = self.newest(root, |_| true).ok_or_else(|| {
                Failure::usage(Error::NoRun {
                    program: session.program.clone(),
                })
            })?;
            let path = root.join(newest);
            session.status(&format!("run: {} (newest)", shown(&path)));
            return Ok(path);
        };
        match self.named(root, given) {
            Some(path) => Ok(path),
            None => Err(self.missing(root, given)),
        }
    }

    /// Returns the path that `given` names, as [`Self::find`], for a run that is compared with the run in `later`. A name that means
    /// `later` itself means the newest run of this name before it, also one with a number.
    ///
    /// # Errors
    /// No such run, with the nearest names: [`Failure::usage`].
    pub fn find_before(&self, given: &Path, later: &Path) -> Result<PathBuf, Failure> {
        let root = Path::new(EXPERIMENTS);
        let found = self.named_before(root, given, later);
        found.ok_or_else(|| self.missing(root, given))
    }

    fn named_before(&self, root: &Path, given: &Path, later: &Path) -> Option<PathBuf> {
        let found = self.named(root, given)?;
        if found == given || !is_same(&found, later) {
            return Some(found);
        }
        let is_earlier = |known: &str| {
            let path = root.join(known);
            name(given).is_some_and(|name| is_named(root, known, name))
                && !is_same(&path, later)
                && self.changed(&path) <= self.changed(later)
        };
        let before = self.newest(root, is_earlier);
        Some(before.map_or(found, |before| root.join(before)))
    }

    fn named(&self, root: &Path, given: &Path) -> Option<PathBuf> {
        if given.symlink_metadata().is_ok() {
            return Some(given.to_owned());
        }
        let name = name(given)?;
        let with_date = root.join(name);
        if with_date.is_dir() {
            return Some(with_date);
        }
        let newest = self.newest(root, |known| is_named(root, known, name));
        newest.map(|found| root.join(found))
    }

    /// The name of the run whose file changed last, among those that `wanted` accepts.
    fn newest(&self, root: &Path, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let wanted = names(root).into_iter().filter(|name| wanted(name));
        let dated = wanted.filter_map(|name| Some((self.changed(&root.join(&name))?, name)));
        dated.max().map(|(_, name)| name)
    }

    /// The time at which the file of the run in `folder` changed last.
    fn changed(&self, folder: &Path) -> Option<SystemTime> {
        let times = self.markers.map(|marker| {
            let found = fs::metadata(folder.join(marker));
            found.ok()?.modified().ok()
        });
        times.into_iter().flatten().max()
    }

    fn missing(&self, root: &Path, given: &Path) -> Failure {
        let all = names(root);
        let own = all
            .iter()
            .filter(|name| self.changed(&root.join(name)).is_some());
        let forms: Vec<_> = own
            .flat_map(|name| [Some(name.as_str()), without_date(name)])
            .flatten()
            .collect();
        let near = name(given).map_or_else(Vec::new, |name| nearest(name, forms));
        Failure::usage(Error::NoSuchRun {
            given: given.to_owned(),
            near: near.into_iter().map(str::to_owned).collect(),
        })
    }
}

/// Makes the folder of a new run in `experiments/`: `DATE-NAME`, else `DATE-NAME-2` and so on. Two processes that begin at once
/// get two folders.
///
/// The date is today's in UTC.
///
/// # Errors
/// [`Error::Folder`].
pub fn make_next(name: &str) -> Result<PathBuf, Error> {
    let now = Timestamp::try_from(SystemClock::new().now()).unwrap_or(Timestamp::MAX);
    make_next_in(Path::new(EXPERIMENTS), now, name)
}

fn make_next_in(root: &Path, now: Timestamp, name: &str) -> Result<PathBuf, Error> {
    make_folder(root)?;
    let date = now.to_zoned(TimeZone::UTC).date();
    let mut path = root.join(format!("{date}-{name}"));
    let mut number = 1_u32;
    loop {
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                number += 1;
                path = root.join(format!("{date}-{name}-{number}"));
            }
            Err(source) => return Err(Error::Folder { path, source }),
        }
    }
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::Folder {
        path: path.to_owned(),
        source,
    })
}

/// A path of one word, which may be the name of a run.
fn name(given: &Path) -> Option<&str> {
    let text = given.to_str()?;
    (given.components().count() == 1 && !text.starts_with('.') && !text.ends_with('/'))
        .then_some(text)
}

fn without_date(name: &str) -> Option<&str> {
    let (date, rest) = (name.get(..DATE)?, name.get(DATE..)?);
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    (digits == 8 && date.ends_with('-')).then_some(rest)
}

/// The name of the first run of the day, for one with a number from 2 on after its name.
fn without_number(name: &str) -> Option<&str> {
    let (first, number) = name.rsplit_once('-')?;
    (number.parse::<u32>().ok()? > 1).then_some(first)
}

/// Whether a folder in `root` is the run of this name, or a later one of the same day with a number.
fn is_named(root: &Path, folder: &str, name: &str) -> bool {
    let is_first = |first: &str| without_date(first) == Some(name);
    is_first(folder)
        || without_number(folder).is_some_and(|first| is_first(first) && root.join(first).is_dir())
}

/// Whether both paths lead to the same file or folder.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().ok();
    resolved(one).is_some_and(|one| Some(one) == resolved(other))
}

/// The names of the folders in `root`, sorted.
fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: RunFolders = RunFolders::new("run.json");

    fn made(root: &Path, names: &[&str]) {
        for (age, name) in names.iter().rev().enumerate() {
            let folder = root.join(name);
            fs::create_dir_all(&folder).unwrap();
            let file = fs::File::create(folder.join("run.json")).unwrap();
            let hours = std::time::Duration::from_hours(age as u64);
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(99) - hours)
                .unwrap();
        }
    }

    #[test]
    fn a_run_is_a_path_a_name_or_the_newest_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        made(
            root,
            &[
                "2026-01-02-a",
                "2026-01-03-a",
                "2026-01-03-a-2",
                "2026-01-04-c-3",
                "b",
            ],
        );
        fs::create_dir(root.join("2026-02-02-other")).unwrap();
        let named = |given: &str| {
            let path = RUNS.named(root, Path::new(given))?;
            Some(path.strip_prefix(root).unwrap().display().to_string())
        };
        assert_eq!(named("a").as_deref(), Some("2026-01-03-a-2"));
        assert_eq!(named("2026-01-03-a").as_deref(), Some("2026-01-03-a"));
        assert_eq!(named("c-3").as_deref(), Some("2026-01-04-c-3"));
        assert_eq!(named("c"), None);
        assert_eq!(named("a-2").as_deref(), Some("2026-01-03-a-2"));
        assert_eq!(named("b").as_deref(), Some("b"));
        assert_eq!(named("2026-01-02-a").as_deref(), Some("2026-01-02-a"));
        assert_eq!(named("other"), None);
        assert_eq!(named("../a"), None);
        let path = root.join("b");
        assert_eq!(RUNS.named(root, &path), Some(path));
        assert_eq!(RUNS.newest(root, |_| true).as_deref(), Some("b"));
        let missing = RUNS.missing(root, Path::new("aa"));
        let text = missing.error().to_string();
        assert!(text.ends_with("did you mean a, a-2, b?"), "{text}");
        // The first run is the newer one again after a change.
        let file = fs::File::create(root.join("2026-01-03-a/run.json")).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(100))
            .unwrap();
        assert_eq!(named("a").as_deref(), Some("2026-01-03-a"));
    }

    #[test]
    fn a_name_that_means_the_later_run_means_the_one_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        made(root, &["2026-01-02-a", "2026-01-03-a", "2026-01-04-b"]);
        let before = |given: &str, later: &str| {
            let path = RUNS.named_before(root, Path::new(given), &root.join(later))?;
            Some(path.strip_prefix(root).unwrap().display().to_string())
        };
        assert_eq!(before("a", "2026-01-04-b").as_deref(), Some("2026-01-03-a"));
        assert_eq!(before("a", "2026-01-03-a").as_deref(), Some("2026-01-02-a"));
        // With its date a name means one run, and no other run is named `b`.
        let dated = before("2026-01-03-a", "2026-01-03-a");
        assert_eq!(dated.as_deref(), Some("2026-01-03-a"));
        assert_eq!(before("b", "2026-01-04-b").as_deref(), Some("2026-01-04-b"));
        assert_eq!(before("c", "2026-01-04-b"), None);
        let numbered = tempfile::tempdir().unwrap();
        let root = numbered.path();
        made(root, &["2026-01-03-a-2", "2026-01-03-a", "2026-01-03-a-3"]);
        let found = RUNS.named_before(root, Path::new("a"), &root.join("2026-01-03-a-3"));
        assert_eq!(found, Some(root.join("2026-01-03-a")));
    }

    #[test]
    fn the_next_folder_has_the_first_free_number() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let now: Timestamp = "2026-11-22T23:59:59Z".parse().unwrap();
        let next = || make_next_in(root, now, "run").unwrap();
        assert_eq!(next(), root.join("2026-11-22-run"));
        assert_eq!(next(), root.join("2026-11-22-run-2"));
        let folders = std::thread::scope(|scope| {
            let begun: Vec<_> = (0..8).map(|_| scope.spawn(next)).collect();
            let ended = begun.into_iter().map(|start| start.join().unwrap());
            ended.collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!(folders.len(), 8);
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("experiments");
        fs::write(&root, "").unwrap();
        let error = make_next_in(&root, Timestamp::UNIX_EPOCH, "run").unwrap_err();
        assert!(error.to_string().starts_with(&shown(&root)), "{error}");
    }
}
