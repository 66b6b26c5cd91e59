//! `prune`: removes old archives of logs, and what was put aside long ago.

use std::fs::{self, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Results, Session, escape};
use hermitcrab_kernel::Kernel;
use jiff::{SignedDuration, Timestamp};
use pscale_blocks::{DirStore, StoreError};
use serde::Serialize;

use crate::answer::{Answer, print_answer};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::sizes::{files_below, parse_size, shown_size};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab demo --dir f && hermitcrab prune --dry-run --data f/data
  hermitcrab demo --dir g && hermitcrab prune --keep-logs 1GiB --data g/data";

#[derive(Debug, clap::Args)]
pub struct PruneArgs {
    /// Largest size of all archives of logs that stay. Those of the newest 100 edits of a block stay, too.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    pub keep_logs: u64,
    /// Age in days from which trash, unreadable files and backups of removed blocks go.
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    pub older_than: u32,
    /// Remove old archives of the conversation and of the costs, too.
    #[arg(long)]
    pub conversation: bool,
    /// List the files and remove none.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The files that were removed, or would be.
#[derive(Serialize)]
struct PruneAnswer {
    dry_run: bool,
    /// The size of all these files.
    bytes: u64,
    files: Vec<PrunedFile>,
}

#[derive(Serialize)]
struct PrunedFile {
    /// The path in the data directory.
    path: PathBuf,
    bytes: u64,
}

/// Removes the files, or lists them.
pub fn execute(args: &PruneArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    // A chat that runs for days is no wrong usage of this command.
    let answer = prune(args, data).map_err(|error| match error {
        Error::Store {
            error: error @ StoreError::Newer { .. },
        } => Error::PruneNewer { error },
        Error::Store {
            error: error @ StoreError::Locked { .. },
        } => Error::PruneInUse { error },
        error => error,
    });
    print_answer(args.json, answer, session)
}

fn prune(args: &PruneArgs, data: &DataDir) -> Result<PruneAnswer, Error> {
    data.ensure_exists()?;
    // The lock is held until all is removed. A list alone writes nothing.
    let store = if args.dry_run {
        DirStore::check_open(data.path())?;
        data.existing()?
    } else {
        data.locked()?
    };
    if args.conversation {
        Kernel::refuse_newer_records(data.path())?;
    }
    let mut files = Vec::new();
    let mut bytes = 0;
    for path in surplus(args, data, &store)? {
        let size = fs::symlink_metadata(&path).map_err(|error| refused(&path, error))?;
        if !args.dry_run {
            fs::remove_file(&path).map_err(|error| refused(&path, error))?;
        }
        bytes += size.len();
        files.push(PrunedFile {
            path: inside(&path, data.path()).to_owned(),
            bytes: size.len(),
        });
    }
    Ok(PruneAnswer {
        dry_run: args.dry_run,
        bytes,
        files,
    })
}

fn refused(path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    StoreError::Io { path, source }.into()
}

/// Returns the files that go, in the order in which they are removed.
fn surplus(args: &PruneArgs, data: &DataDir, store: &DirStore) -> Result<Vec<PathBuf>, Error> {
    let age = SignedDuration::from_hours(24 * i64::from(args.older_than));
    let is_old = |at: Option<Timestamp>| at.is_some_and(|at| data.now().duration_since(at) > age);
    let root = data.path();
    let below = |folder: &str, goes: &dyn Fn(&Path, &Metadata) -> bool| {
        let found = files_below(&root.join(folder)).into_iter();
        let going = found.filter(|(path, found)| goes(path, found));
        going.map(|(path, _)| path).collect::<Vec<_>>()
    };
    let mut files = store.surplus_archives(args.keep_logs)?;
    for folder in ["trash", "quarantine"] {
        files.extend(below(folder, &|path, found| {
            is_old(put_aside(path).or_else(|| modified(found)))
        }));
    }
    let spare = store.spare_backups()?;
    files.extend(below("backups", &|path, found| {
        spare.iter().any(|backup| backup == path) && is_old(modified(found))
    }));
    files.extend(below("", &|path, found| {
        let first = inside(path, root).iter().next().unwrap_or_default();
        first.to_string_lossy().contains(".broken") && is_old(modified(found))
    }));
    if args.conversation {
        for folder in ["conversation", "usage"] {
            // Also those that were put aside.
            files.extend(below(folder, &|path, found| {
                path.to_string_lossy().contains(".jsonl.gz") && is_old(modified(found))
            }));
        }
    }
    Ok(files)
}

/// The path in the data directory.
fn inside<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

fn modified(found: &Metadata) -> Option<Timestamp> {
    Timestamp::try_from(found.modified().ok()?).ok()
}

/// Returns the time in the name of a file that was put aside, such as `notes-20260101T000005Z-2.json`.
fn put_aside(path: &Path) -> Option<Timestamp> {
    let name = path.file_stem()?.to_str()?;
    let mut parts = name.rsplit('-');
    parts.find_map(|part| {
        let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", part).ok()?;
        at.to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
            .map(|at| at.timestamp())
    })
}

impl Answer for PruneAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        for PrunedFile { path, bytes } in &self.files {
            let path = escape(&path.display().to_string());
            writeln!(out, "{path}  {}", shown_size(*bytes))?;
        }
        let (count, bytes) = (self.files.len(), shown_size(self.bytes));
        let files = if count == 1 { "file" } else { "files" };
        let done = if self.dry_run {
            "would be removed"
        } else {
            "removed"
        };
        writeln!(out, "{count} {files}, {bytes} {done}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_in_the_name_of_a_file_that_was_put_aside() {
        let at = |name: &str| put_aside(Path::new(name)).map(|at| at.to_string());
        let time = Some("2026-01-01T00:00:05Z".to_owned());
        assert_eq!(at("trash/my-notes-20260101T000005Z.json"), time);
        assert_eq!(at("trash/my-notes-20260101T000005Z-2.json"), time);
        assert_eq!(at("trash/my-notes.json"), None);
    }
}
