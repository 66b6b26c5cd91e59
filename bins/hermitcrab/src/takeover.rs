//! Taking over an export of the earlier generation: it becomes blocks and a conversation.

use std::collections::BTreeMap;
use std::path::Path;

use hermitcrab_kernel::prompt::{CoreBlock, new_memory};
use hermitcrab_kernel::{begin_conversation, install_default_blocks};
use hermitcrab_migrate::{Defaults, Export, MessageRole, Migrated, Plan, apply, check};
use jiff::Timestamp;
use llm_client::{Message, Redactor};
use pscale_blocks::store::Origin;
use pscale_blocks::{BlockStore, EditAuthor, Stamp};

use crate::data_dir::DataDir;
use crate::error::Error;
use crate::plain_file;

/// The head of the block `stash`.
const STASH_HEAD: &str = "What was made: texts, pictures, programs, lists. An entry begins with its name in a line of its \
    own. What happened is in the block memory.";

/// Returns the plan for an export, which completes the blocks of every instance.
pub fn plan(export: &Export) -> Plan {
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

/// Writes a plan into an unused store, and begins the conversation of the data directory with the messages of the plan.
///
/// Returns also a line about a record that cannot be read. After an error the same call continues where this one stopped.
pub fn take_over(
    plan: &Plan,
    store: &dyn BlockStore,
    data: &Path,
    source: String,
    now: Timestamp,
) -> Result<(Migrated, Option<String>), Error> {
    let by = EditAuthor::Import {
        source: source.clone(),
    };
    let from = Origin::Import {
        source: source.clone(),
    };
    let stamp = Stamp::new(now, by)
        .with_from(from.into())
        .with_note("from an earlier generation".to_owned());
    // Texts that every instance has are the program's: an equal text in their place gets no label.
    if let Migrated::Done { .. } = check(plan, store)? {
        install_default_blocks(store, now)?;
    }
    let migrated = apply(plan, store, &stamp)?;
    if matches!(migrated, Migrated::InUse { .. }) {
        return Ok((migrated, None));
    }
    let messages = plan.conversation.iter().map(|past| match past.role {
        MessageRole::User => Message::user(&past.text),
        MessageRole::Assistant => Message::assistant(&past.text),
    });
    let notice = begin_conversation(data, messages.collect(), source, now)?;
    Ok((migrated, notice))
}

/// Takes over the export in a data directory if its store is unused, and returns lines about it.
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
    let (migrated, notice) = take_over(&plan, store, data.path(), source, data.now())?;
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

#[cfg(test)]
mod tests {
    use std::fs;

    use pscale_blocks::{Block, BlockName, MemStore};

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
        notices.extend(install_default_blocks(store, data.now()).unwrap());
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
        // Texts of the program have no label, and those of the export have one.
        for core in CoreBlock::ALL {
            let block = store.load(core.name()).unwrap().block;
            let others: Vec<_> = (core.embedded().diff(&block).into_iter())
                .filter(|change| change.after.is_some())
                .map(|change| change.path)
                .collect();
            let labels = store.labels(core.name()).unwrap();
            let labelled: Vec<_> = labels.nodes().keys().copied().collect();
            assert_eq!(labelled, others, "{}", core.name());
        }
        let constitution = store.labels(CoreBlock::Constitution.name()).unwrap();
        assert!(!constitution.nodes().is_empty());
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
        let stamp = DataDir::find(Some(folder.path()))
            .unwrap()
            .stamp_by_person();
        let own = BlockName::new("yard").unwrap();
        (store.create(&own, &Block::new("What the yard holds."), &stamp)).unwrap();
        let notices = started(folder.path(), &store, EXPORT);
        assert_eq!((notices.len(), &*conversation(folder.path())), (1, ""));
        let memory = store.load(CoreBlock::Memory.name()).unwrap().block;
        assert_eq!(*memory, *CoreBlock::Memory.embedded());
    }
}
