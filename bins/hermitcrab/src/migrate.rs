//! `migrate`: what an earlier generation left in a browser becomes blocks.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::Path;

use bin_support::{Exit, Failure, Session, shortened};
use hermitcrab_kernel::prompt::{CoreBlock, new_memory};
use hermitcrab_kernel::{begin_conversation, install_default_blocks};
use hermitcrab_migrate::{Counts, Defaults, Export, MessageRole, Migrated, Plan, apply, check};
use jiff::Timestamp;
use llm_client::{Message, Redactor};
use pscale_blocks::bundle::MAX_BUNDLE;
use pscale_blocks::{BlockName, BlockStore, EditAuthor, Stamp};
use serde::Serialize;

use crate::answer::{Answer, give};
use crate::cli;
use crate::clock::now;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::plain_file;

/// How much of a name is shown, in characters.
const SHOWN: usize = 80;

/// The head of the block `stash`.
const STASH_HEAD: &str = "What was made: texts, pictures, programs, lists. An entry begins with its name in a line of its \
    own. What happened is in the block memory.";

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
    let plan = plan(&export(path)?);
    let mut migration = Migration::of(&plan);
    migration.dry_run = args.dry_run;
    let migrated = if args.dry_run {
        check(&plan, &*data.for_checking()?)?
    } else {
        let store = data.for_writing()?;
        let source = path.display().to_string();
        let (migrated, _) = take_over(&plan, &*store, data.path(), source, now())?;
        if !matches!(migrated, Migrated::InUse { .. }) {
            install_default_blocks(&*store, now())?;
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

/// The plan for an export, next to the blocks that every instance has.
fn plan(export: &Export) -> Plan {
    let blocks: BTreeMap<_, _> = CoreBlock::ALL
        .into_iter()
        .map(|core| (core.name().clone(), core.embedded().clone()))
        .collect();
    let memory_head = |name: Option<&str>| {
        let memory = new_memory(name);
        memory.head_text().unwrap_or_default().to_owned()
    };
    export.plan(&Defaults {
        blocks: &blocks,
        memory_head: &memory_head,
        stash_head: STASH_HEAD,
    })
}

/// Puts a plan into a store that no one has used, and begins the conversation in the data directory with that of the plan;
/// returns also a line about a record that cannot be read. After an error the same call continues where this one stopped.
fn take_over(
    plan: &Plan,
    store: &dyn BlockStore,
    data: &Path,
    source: String,
    now: Timestamp,
) -> Result<(Migrated, Option<String>), Error> {
    let stamp = Stamp {
        at: now,
        by: EditAuthor::Import { source },
        note: Some("from an earlier generation".to_owned()),
    };
    let migrated = apply(plan, store, &stamp)?;
    if matches!(migrated, Migrated::InUse { .. }) {
        return Ok((migrated, None));
    }
    let messages = plan.conversation.iter().map(|past| match past.role {
        MessageRole::User => Message::user(&past.text),
        MessageRole::Assistant => Message::assistant(&past.text),
    });
    let notice = begin_conversation(data, messages.collect(), now)?;
    Ok((migrated, notice))
}

/// Takes over the export that waits in a data directory, unless its store is used; returns lines about it.
pub fn take_over_waiting(
    data: &DataDir,
    store: &dyn BlockStore,
    redactor: &Redactor,
) -> Result<Vec<String>, Error> {
    let path = data.earlier();
    let text = match plain_file::read_text(&path) {
        Ok(Some(text)) => redactor.redact(&text),
        Ok(None) => return Ok(Vec::new()),
        Err(source) => return Err(Error::Read { path, source }),
    };
    let export = match Export::parse(text.as_bytes()) {
        Ok(export) => export,
        Err(error) => return Ok(vec![format!("nothing is taken over: {error}")]),
    };
    let plan = plan(&export);
    let source = "an earlier generation".to_owned();
    let (migrated, notice) = take_over(&plan, store, data.path(), source, now())?;
    let mut notices: Vec<_> = notice.into_iter().collect();
    if let Migrated::Done { .. } = migrated {
        notices.push(format!(
            "taken over from an earlier generation: {} memories, {} other texts, {} messages",
            plan.counts.memory_entries + plan.counts.memory_summaries,
            plan.counts.stash_items,
            plan.counts.conversation_messages
        ));
    }
    Ok(notices)
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

#[cfg(test)]
mod tests {
    use pscale_blocks::{Block, MemStore};

    use super::*;

    const EXPORT: &str = r#"{
        "hcmem:/memories/M-1.md": "The first evening.",
        "hcmem:/memories/identity.md": "Name: Kelp\n",
        "hc_conversation": "[{\"role\":\"user\",\"content\":\"Hello\"}]"
    }"#;

    /// The notices of a start with `export` in the data directory, whose blocks are those of `store`.
    fn started(data: &Path, store: &MemStore, export: &str) -> Vec<String> {
        let data = DataDir::find(Some(data)).unwrap();
        fs::write(data.earlier(), export).unwrap();
        let mut notices = take_over_waiting(&data, store, &Redactor::default()).unwrap();
        notices.extend(install_default_blocks(store, now()).unwrap());
        notices
    }

    fn conversation(data: &Path) -> String {
        fs::read_to_string(data.join("conversation.jsonl")).unwrap_or_default()
    }

    #[test]
    fn an_earlier_generation_is_taken_over_by_an_unused_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = MemStore::new();
        let first = started(folder.path(), &store, EXPORT);
        let taken = "taken over from an earlier generation: 1 memories, 0 other texts, 1 messages";
        assert!(first.iter().any(|notice| notice == taken), "{first:?}");
        let said = conversation(folder.path());
        assert_eq!((said.lines().count(), said.contains("Hello")), (1, true));
        let memory = store.load(CoreBlock::Memory.name()).unwrap().block;
        assert!(memory.head_text().unwrap().contains("Kelp"));
        assert_eq!(store.names().unwrap().len(), 6);
        // Again, in case that the conversation did not get on record.
        fs::remove_file(folder.path().join("conversation.jsonl")).unwrap();
        assert_eq!(started(folder.path(), &store, EXPORT), [""; 0]);
        assert_eq!(conversation(folder.path()).lines().count(), 1);
        // What is not one is said and changes nothing.
        let wrong = started(folder.path(), &store, "{}");
        assert!(wrong[0].starts_with("nothing is taken over: "), "{wrong:?}");
    }

    #[test]
    fn a_store_that_is_used_takes_nothing_over() {
        let folder = tempfile::tempdir().unwrap();
        let store = MemStore::new();
        let stamp = Stamp {
            at: now(),
            by: EditAuthor::Person,
            note: None,
        };
        let own = BlockName::new("yard").unwrap();
        (store.create(&own, &Block::new("What the yard holds."), &stamp)).unwrap();
        let notices = started(folder.path(), &store, EXPORT);
        assert_eq!((notices.len(), &*conversation(folder.path())), (1, ""));
        let memory = store.load(CoreBlock::Memory.name()).unwrap().block;
        assert_eq!(memory, *CoreBlock::Memory.embedded());
    }
}
