//! What a store must hold before a model can wake.

use jiff::Timestamp;
use llm_client::Message;
use pscale_blocks::{Block, BlockStore, O200k, Op, Provenance, Stamp, StoreError, Versioned};

use crate::defaults::CoreBlock;
use crate::kernel::Identity;
use crate::keystone::{self, Choice, Persisted, StoreAction};
use crate::{KernelConfig, KernelError};

/// What was found, or made.
pub(crate) struct Seeded {
    pub identity: Identity,
    /// What was said in the earlier generation.
    pub conversation: Vec<Message>,
    pub notices: Vec<String>,
}

/// Takes an earlier generation over if the store is empty, adds the default blocks that are missing, and chooses the
/// keystone.
pub(crate) fn seed(
    config: &KernelConfig,
    store: &dyn BlockStore,
    now: Timestamp,
) -> Result<Seeded, KernelError> {
    let conversation = Vec::new();
    let mut notices = seed_defaults(store, now)?;
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
    Ok(Seeded {
        identity: Identity {
            keystone,
            constitution,
        },
        conversation,
        notices,
    })
}

/// Adds the default blocks that a store does not have; answers a line if there were any.
///
/// # Errors
/// The store cannot be read or written.
pub fn seed_defaults(store: &dyn BlockStore, now: Timestamp) -> Result<Vec<String>, StoreError> {
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
        by: Provenance::Kernel,
        note: Some(note.to_owned()),
    }
}
