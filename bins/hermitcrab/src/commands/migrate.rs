//! `migrate`: turns the data of the earlier generation, which ran in a browser, into blocks.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Results, Session};
use hermitcrab_kernel::install_default_blocks;
use hermitcrab_migrate::{Counts, Export, Migrated, Plan, check};
use pscale_blocks::BlockName;
use pscale_blocks::bundle::MAX_BUNDLE;
use serde::Serialize;

use crate::answer::{Answer, print_answer};
use crate::blocks::output::line;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::takeover::{plan, take_over};

/// The longest name that a terminal shows whole, in characters.
const SHOWN: usize = 80;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab migrate old.json --data old-instance --dry-run
  hermitcrab migrate old.json --data old-instance";

#[derive(Debug, clap::Args)]
pub struct MigrateArgs {
    /// Dump of the browser's storage, answer of `getMemory()`, or folder of the files. It is not changed.
    #[arg(value_name = "FILE|DIR")]
    pub from: PathBuf,
    /// Print the result and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &MigrateArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    print_answer(args.json, migrate(args, data), session)
}

/// The result of a migration, or of a dry run.
#[derive(Serialize)]
struct MigrateAnswer {
    /// Whether this was a dry run, which writes nothing.
    dry_run: bool,
    /// Whether an earlier migration had written all of it already.
    already: bool,
    /// The name of the instance, if it had one.
    instance_name: Option<String>,
    counts: Counts,
    /// The blocks that are made of the data. The default blocks are not among them.
    blocks: Vec<BlockName>,
    /// The names of the data that is not imported. Of keys only the names are listed.
    not_imported: Vec<String>,
}

fn migrate(args: &MigrateArgs, data: &DataDir) -> Result<MigrateAnswer, Error> {
    let path = &args.from;
    let plan = plan(&read_export(path)?);
    let mut migration = MigrateAnswer::of(&plan);
    migration.dry_run = args.dry_run;
    let migrated = if args.dry_run {
        check(&plan, &*data.for_checking()?)?
    } else {
        let store = data.for_writing()?;
        let source = path.display().to_string();
        let (migrated, _) = take_over(&plan, &*store, data.path(), source, data.now())?;
        if !matches!(migrated, Migrated::InUse { .. }) {
            install_default_blocks(&*store, data.now())?;
        }
        migrated
    };
    match migrated {
        Migrated::Done { .. } => {}
        Migrated::Already => migration.already = true,
        Migrated::InUse { blocks } => return Err(Error::InUse { blocks }),
    }
    Ok(migration)
}

impl MigrateAnswer {
    fn of(plan: &Plan) -> Self {
        Self {
            dry_run: false,
            already: false,
            instance_name: plan.instance_name.clone(),
            counts: plan.counts,
            blocks: plan.blocks.keys().cloned().collect(),
            not_imported: plan.never_imported.clone(),
        }
    }
}

/// Reads an export from a file or from a folder of files.
fn read_export(path: &Path) -> Result<Export, Error> {
    let unreadable = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let found = fs::metadata(path).map_err(unreadable)?;
    let export = if found.is_dir() {
        let mut files = Vec::new();
        let mut room = MAX_BUNDLE as u64;
        collect_files(path, "", &mut room, &mut files)?;
        Export::of_files(files)
    } else {
        Export::parse(&read_bytes(path, &mut (MAX_BUNDLE as u64))?)
    };
    export.map_err(|error| Error::NotAnExport {
        path: path.to_owned(),
        error,
    })
}

/// Adds the files below a folder, with their paths from the folder. Links are not followed.
fn collect_files(
    folder: &Path,
    prefix: &str,
    room: &mut u64,
    files: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), Error> {
    let unreadable = |source| Error::Read {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            collect_files(&entry.path(), &format!("{name}/"), room, files)?;
        } else if kind.is_file() {
            files.push((name, read_bytes(&entry.path(), room)?));
        }
    }
    Ok(())
}

/// Reads a file and subtracts its length from the room.
///
/// # Errors
/// [`Error::TooMuch`] if the file is longer than the room.
fn read_bytes(path: &Path, room: &mut u64) -> Result<Vec<u8>, Error> {
    let unreadable = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(unreadable)?.take(*room + 1);
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    *room = room
        .checked_sub(bytes.len() as u64)
        .ok_or_else(|| Error::TooMuch {
            path: path.to_owned(),
            limit: MAX_BUNDLE,
        })?;
    Ok(bytes)
}

impl Answer for MigrateAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let counts = &self.counts;
        let name = match &self.instance_name {
            Some(name) => line(name, SHOWN, out),
            None => "not known".to_owned(),
        };
        let blocks: Vec<_> = self.blocks.iter().map(BlockName::as_str).collect();
        writeln!(out, "name          {name}")?;
        writeln!(out, "blocks        {}", blocks.join(", "))?;
        writeln!(
            out,
            "memory        {} entries, {} summaries",
            counts.memory_entries, counts.memory_summaries
        )?;
        writeln!(
            out,
            "stash         {} entries, {} of them with a number that was used before",
            counts.stash_items, counts.duplicate_numbers
        )?;
        let conversation = if counts.conversation_unreadable {
            "cannot be read".to_owned()
        } else {
            format!("{} messages", counts.conversation_messages)
        };
        writeln!(out, "conversation  {conversation}")?;
        writeln!(out, "empty files   {}", counts.empty_files)?;
        writeln!(out, "keys removed  {}", counts.keys_redacted)?;
        for left in &self.not_imported {
            let left = line(left, SHOWN, out);
            writeln!(out, "not imported  {left}")?;
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        let notice = if self.already {
            "all of it is there already: nothing was done"
        } else if self.dry_run {
            "nothing was written; without --dry-run it is"
        } else {
            return Vec::new();
        };
        vec![notice.to_owned()]
    }
}
