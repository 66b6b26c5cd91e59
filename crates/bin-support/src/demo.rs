//! The command `demo`, which every program has: its main job, offline, with a page to look at.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::{Error, Exit, Failure, Session, open_in_browser, runs};

/// The version of the JSON that `demo --json` prints.
const SCHEMA_VERSION: u32 = 1;

/// The arguments of `demo`.
#[derive(Debug, Clone, Default, clap::Args)]
#[non_exhaustive]
pub struct DemoArgs {
    /// Folder for the files of the demo [default: experiments/DATE-demo]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    /// Print the result as JSON: one line about it, and the page
    #[arg(long)]
    pub json: bool,
}

impl DemoArgs {
    /// Makes the folder of the demo, or takes an empty one.
    ///
    /// # Errors
    /// [`Error::FolderUsed`] and [`Error::Folder`], as [`Failure::usage`] for the folder that the user named.
    pub fn make_folder(&self) -> Result<PathBuf, Failure> {
        let Some(dir) = &self.dir else {
            return Ok(runs::make_next("demo")?);
        };
        runs::make_folder(dir).map_err(Failure::usage)?;
        if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
            let path = dir.clone();
            return Err(Failure::usage(Error::FolderUsed { path }));
        }
        Ok(dir.clone())
    }
}

/// The result of a demo.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a program gives all of it")]
pub struct DemoResult {
    /// The course of the demo in at most eight lines of at most 80 columns.
    pub lines: Vec<String>,
    /// The result in one line of at most 60 columns.
    pub line: String,
    /// The page or text to look at.
    pub page: PathBuf,
}

impl DemoResult {
    /// Prints the result, and opens its page if the user asked for it.
    ///
    /// # Errors
    /// As writing to stdout.
    pub fn print(&self, args: &DemoArgs, session: &mut Session) -> Result<Exit, Failure> {
        if args.json {
            let page = absolute(&self.page).display().to_string();
            let result = serde_json::json!({
                "schema_version": SCHEMA_VERSION,
                "line": self.line,
                "page": page,
            });
            writeln!(session.results, "{result}")?;
        } else {
            for line in &self.lines {
                writeln!(session.results, "{line}")?;
            }
        }
        if args.open {
            open_in_browser(&self.page, session);
        }
        Ok(Exit::Done)
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
