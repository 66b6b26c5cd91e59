//! The database of runs and the work on a run, shared by several commands.

pub mod coordinator;
pub mod cost;
pub mod csv;
pub mod database;
pub mod document;
pub mod export_output;
pub mod job;
pub mod live;
pub mod patience;
pub mod progress;
pub mod proposer;
pub mod queue_status;
pub mod resume_command;
pub mod run_status;
pub mod settings;
pub mod verdicts;
pub mod worker_check;

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use bin_support::DefaultPath;

use crate::location::{DEFAULT_DATABASE, StoreLocation};

/// Returns the files that the commands write unless a flag names another place.
pub fn places() -> Vec<DefaultPath> {
    let db = Path::new(DEFAULT_DATABASE);
    let mut places = vec![
        DefaultPath::new("database", db),
        DefaultPath::new("cost ledger", StoreLocation::File(db.into()).ledger_path()),
    ];
    places.extend(pages().map(|page| DefaultPath::new("report", page)));
    places
}

/// The name of a page next to the database, before and after the number of its run.
const PAGE: (&str, &str) = ("popper-run-", ".html");

/// Returns the pages next to the default database that no flag named.
fn pages() -> impl Iterator<Item = PathBuf> {
    let folder = StoreLocation::File(DEFAULT_DATABASE.into()).folder();
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let is_page = |entry: &DirEntry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_prefix(PAGE.0)?.strip_suffix(PAGE.1)?;
        id.parse::<u64>().ok()
    };
    let pages = entries.filter(move |entry| is_page(entry).is_some());
    pages.map(|entry| entry.path())
}

/// Returns the page of a run, next to its database.
pub fn page_of(run_id: i64, location: &StoreLocation) -> PathBuf {
    let name = format!("{}{run_id}{}", PAGE.0, PAGE.1);
    location.folder().join(name)
}
