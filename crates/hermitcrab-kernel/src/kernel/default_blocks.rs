//! The preparation of a store before a boot.

use jiff::Timestamp;
use llm_client::Message;
use pscale_blocks::migrate::{Export, Migrated};
use pscale_blocks::{Block, BlockStore, EditAuthor, O200k, Op, Stamp, StoreError, Versioned};

use super::migration::{messages, plan_migration, take_over};
use crate::prompt::keystone::{self, Choice, Persisted, StoreAction};
use crate::prompt::{CoreBlock, Identity};
use crate::{KernelConfig, KernelError};

/// The prepared parts.
pub(super) struct Prepared {
    pub identity: Identity,
    /// The messages of the earlier generation.
    pub conversation: Vec<Message>,
    pub notices: Vec<String>,
}

/// Takes an earlier generation over if the store is empty, adds the default blocks that are missing, and chooses the
/// keystone.
pub(super) fn prepare(
    config: &KernelConfig,
    store: &dyn BlockStore,
    now: Timestamp,
) -> Result<Prepared, KernelError> {
    let mut notices = Vec::new();
    let conversation = match &config.migrate {
        Some(export) => earlier_generation(export, store, now, &mut notices)?,
        None => Vec::new(),
    };
    notices.extend(install_default_blocks(store, now)?);
    let keystone = choose_keystone(store, now, &mut notices)?;
    let constitution = match store.load(CoreBlock::Constitution.name()) {
        Ok(found) => found.block,
        Err(StoreError::Corrupt { reason, .. }) => {
            notices.push(format!(
                "the stored constitution cannot be read ({reason}); the built-in one is used"
            ));
            CoreBlock::Constitution.embedded().clone()
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Prepared {
        identity: Identity {
            keystone,
            constitution,
        },
        conversation,
        notices,
    })
}

/// Migrates an earlier generation into an unused store, and returns its messages.
fn earlier_generation(
    export: &str,
    store: &dyn BlockStore,
    now: Timestamp,
    notices: &mut Vec<String>,
) -> Result<Vec<Message>, StoreError> {
    let export = match Export::parse(export.as_bytes()) {
        Ok(export) => export,
        Err(error) => {
            notices.push(format!("nothing is taken over: {error}"));
            return Ok(Vec::new());
        }
    };
    let plan = plan_migration(&export);
    match take_over(&plan, store, "an earlier generation", now)? {
        Migrated::InUse { .. } => return Ok(Vec::new()),
        Migrated::Already => {}
        Migrated::Done { .. } => notices.push(format!(
            "taken over from an earlier generation: {} memories, {} other texts, {} messages",
            plan.counts.memory_entries + plan.counts.memory_summaries,
            plan.counts.stash_items,
            plan.counts.conversation_messages
        )),
    }
    Ok(messages(&plan))
}

/// Adds the default blocks that a store does not have; answers a line if there were any.
///
/// # Errors
/// The store cannot be read or written.
pub fn install_default_blocks(
    store: &dyn BlockStore,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let stamp = stamp(now, "seeded");
    let there = store.names()?;
    let mut made = Vec::new();
    for core in CoreBlock::ALL {
        if there.iter().any(|row| row.name == *core.name()) {
            continue;
        }
        match store.create(core.name(), core.embedded(), &stamp) {
            Ok(_) => made.push(core.name().as_str()),
            // Somebody else made it, or it is there and cannot be read.
            Err(StoreError::Exists { .. } | StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(if made.is_empty() {
        Vec::new()
    } else {
        vec![format!("seeded: {}", made.join(", "))]
    })
}

fn choose_keystone(
    store: &dyn BlockStore,
    now: Timestamp,
    notices: &mut Vec<String>,
) -> Result<Block, StoreError> {
    let name = CoreBlock::Keystone.name();
    let embedded = CoreBlock::Keystone.embedded();
    let stored = store.load(name);
    let choice = choice(&stored);
    let stamp = stamp(now, "a newer keystone comes with the program");
    match choice.action {
        StoreAction::Leave => {}
        StoreAction::Create => {
            store.create(name, embedded, &stamp)?;
        }
        StoreAction::Replace { keep_as } => {
            if let (Some(kept), Ok(found)) = (keep_as, &stored) {
                match store.create(&kept, &found.block, &stamp) {
                    Ok(_) | Err(StoreError::Exists { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            let op = Op::Replace {
                block: embedded.clone(),
            };
            store.edit(name, None, &op, &stamp)?;
        }
    }
    notices.extend(choice.notice);
    Ok(choice.block)
}

/// The keystone from which a reader of these blocks learns: the store's, or the built-in one. Nothing is stored.
pub fn keystone_of(store: &dyn BlockStore) -> Block {
    choice(&store.load(CoreBlock::Keystone.name())).block
}

fn choice(stored: &Result<Versioned, StoreError>) -> Choice {
    let embedded = CoreBlock::Keystone.embedded();
    match stored {
        Ok(found) => keystone::choose(Persisted::Found(&found.block), embedded, &O200k),
        Err(StoreError::NoBlock { .. }) => keystone::choose(Persisted::Missing, embedded, &O200k),
        Err(error) => keystone::choose(Persisted::Unreadable(&error.to_string()), embedded, &O200k),
    }
}

fn stamp(at: Timestamp, note: &str) -> Stamp {
    Stamp {
        at,
        by: EditAuthor::Kernel,
        note: Some(note.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use pscale_blocks::{BlockName, MemStore};

    use super::*;

    const EXPORT: &str = r#"{
        "hcmem:/memories/M-1.md": "The first evening.",
        "hcmem:/memories/identity.md": "Name: Kelp\n",
        "hc_conversation": "[{\"role\":\"user\",\"content\":\"Hello\"}]"
    }"#;

    fn seeded(store: &MemStore, export: &str) -> Prepared {
        let config = KernelConfig {
            migrate: Some(export.to_owned()),
            ..KernelConfig::default()
        };
        prepare(&config, store, Timestamp::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn an_earlier_generation_is_taken_over_by_an_unused_store() {
        let store = MemStore::new();
        let first = seeded(&store, EXPORT);
        assert_eq!(first.conversation, [Message::user("Hello")]);
        let taken = "taken over from an earlier generation: 1 memories, 0 other texts, 1 messages";
        assert!(
            first.notices.iter().any(|notice| notice == taken),
            "{:?}",
            first.notices
        );
        let memory = store.load(CoreBlock::Memory.name()).unwrap().block;
        assert!(memory.head_text().unwrap().contains("Kelp"));
        assert_eq!(store.names().unwrap().len(), 6);
        // Again, in case that the conversation did not get on record.
        let again = seeded(&store, EXPORT);
        assert_eq!((again.conversation.len(), again.notices.len()), (1, 0));
        // What is not one is said and changes nothing.
        let wrong = seeded(&store, "{}");
        assert!(
            wrong.notices[0].starts_with("nothing is taken over: "),
            "{:?}",
            wrong.notices
        );
    }

    #[test]
    fn a_store_that_is_used_takes_nothing_over() {
        let store = MemStore::new();
        let stamp = Stamp {
            by: EditAuthor::Person,
            ..stamp(Timestamp::UNIX_EPOCH, "")
        };
        let own = BlockName::new("yard").unwrap();
        store
            .create(&own, &Block::new("What the yard holds."), &stamp)
            .unwrap();
        let seeded = seeded(&store, EXPORT);
        assert_eq!(seeded.conversation, []);
        assert_eq!(seeded.notices.len(), 1, "{:?}", seeded.notices);
        assert_eq!(
            store.load(CoreBlock::Memory.name()).unwrap().block,
            *CoreBlock::Memory.embedded()
        );
    }
}
