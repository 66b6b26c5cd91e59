//! `migrate`: what an earlier generation left in a browser becomes blocks.

use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::Path;

use bin_support::{Exit, Failure, Session, shortened};
use hermitcrab_kernel::plan_migration;
use pscale_blocks::migrate::{Counts, Export, Migrated, Plan, check};
use pscale_blocks::{BlockName, MAX_BUNDLE};
use serde::Serialize;

use crate::answer::{Answer, give};
use crate::cli;
use crate::clock::now;
use crate::data_dir::DataDir;
use crate::error::Error;

/// How much of a name is shown, in characters.
const SHOWN: usize = 80;

pub fn execute(
    args: &cli::Migrate,
    data: &DataDir,
    session: &mut Session,
) -> Result<Exit, Failure> {
    give(args.json, migrate(args, data), session)
}

/// What became of what an earlier generation left, or would become.
#[derive(Serialize)]
struct Migration {
    /// Nothing was written.
    dry_run: bool,
    /// The blocks were there before, and nothing was done.
    already: bool,
    /// The instance's name, if it had one.
    instance_name: Option<String>,
    counts: Counts,
    /// The blocks that are made of it. The default ones are there besides.
    blocks: Vec<BlockName>,
    /// Names of what is not taken over. Keys are among them by their names only.
    not_imported: Vec<String>,
}

fn migrate(args: &cli::Migrate, data: &DataDir) -> Result<Migration, Error> {
    let path = &args.from;
    let plan = plan_migration(&export(path)?);
    let mut migration = Migration::of(&plan);
    migration.dry_run = args.dry_run;
    let migrated = if args.dry_run {
        check(&plan, &*data.for_checking()?)?
    } else {
        let store = data.for_writing()?;
        let source = path.display().to_string();
        hermitcrab_kernel::migrate(&plan, &*store, data.path(), &source, now())?
    };
    match migrated {
        Migrated::Done { .. } => {}
        Migrated::Already => migration.already = true,
        Migrated::InUse { blocks } => return Err(Error::InUse { blocks }),
    }
    Ok(migration)
}

impl Migration {
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

/// A file, or a folder of files. Neither is changed.
fn export(path: &Path) -> Result<Export, Error> {
    let unreadable = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let found = fs::metadata(path).map_err(unreadable)?;
    let export = if found.is_dir() {
        let mut files = Vec::new();
        let mut room = MAX_BUNDLE as u64;
        gather(path, "", &mut room, &mut files)?;
        Export::of_files(files)
    } else {
        Export::parse(&bytes(path, &mut (MAX_BUNDLE as u64))?)
    };
    export.map_err(|error| Error::NotAnExport {
        path: path.to_owned(),
        error,
    })
}

/// The files below a folder with their paths from there. Links are not followed.
fn gather(
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
            gather(&entry.path(), &format!("{name}/"), room, files)?;
        } else if kind.is_file() {
            files.push((name, bytes(&entry.path(), room)?));
        }
    }
    Ok(())
}

/// A file's bytes, as long as there is room for them.
fn bytes(path: &Path, room: &mut u64) -> Result<Vec<u8>, Error> {
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

impl Answer for Migration {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        let counts = &self.counts;
        let name = match &self.instance_name {
            Some(name) => shortened(name, SHOWN),
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
            writeln!(out, "left behind   {}", shortened(left, SHOWN))?;
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
