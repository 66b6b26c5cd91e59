//! The preparation of a store before a boot.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use llm_client::{Message, Redactor};
use pscale_blocks::store::{BlockPresence, Versioned};
use pscale_blocks::{Block, BlockStore, EditAuthor, O200k, Op, Stamp, StoreError};

use crate::KernelError;
use crate::conversation::{self, ConversationRecord};
use crate::prompt::keystone::{self, Choice, Persisted, StoreAction};
use crate::prompt::{BlockLabels, CoreBlock, Identity};
use crate::storage::FileStore;
use crate::toolbox::read_labels;

/// The prepared parts.
pub(super) struct Prepared {
    pub identity: Identity,
    pub notices: Vec<String>,
}

/// Adds the default blocks that are missing, and chooses the keystone.
pub(super) fn prepare(store: &dyn BlockStore, now: Timestamp) -> Result<Prepared, KernelError> {
    let mut notices = install_default_blocks(store, now)?;
    let keystone = choose_keystone(store, now, &mut notices)?;
    let constitution = match store.load(CoreBlock::Constitution.name()) {
        Ok(found) => Arc::unwrap_or_clone(found.block),
        Err(StoreError::Corrupt { reason, .. }) => {
            notices.push(format!(
                "the stored constitution cannot be read ({reason}); the built-in one is used"
            ));
            CoreBlock::Constitution.embedded().clone()
        }
        Err(error) => return Err(error.into()),
    };
    let mut labels = BlockLabels::new();
    let mut is_unread = false;
    for core in [CoreBlock::Keystone, CoreBlock::Constitution] {
        is_unread |= !read_labels(&mut labels, core, store);
    }
    Ok(Prepared {
        identity: Identity {
            keystone,
            constitution,
            labels,
            is_unread,
        },
        notices,
    })
}

/// Begins the conversation of the data directory `data` with messages from elsewhere, if nothing was said in it. They come from the
/// import `source`.
///
/// Returns a line about a record that cannot be read to its end.
///
/// # Errors
/// The record of the conversation cannot be read or written.
pub fn begin_conversation(
    data: &Path,
    messages: Vec<Message>,
    source: String,
    now: Timestamp,
) -> Result<Option<String>, KernelError> {
    let files = FileStore::new(Some(data), true, &Redactor::default());
    let (mut record, notice) = ConversationRecord::open(Arc::new(files))?;
    let begun = record.take_over(now, messages, source);
    begun.map_err(KernelError::file(conversation::FILE))?;
    Ok(notice)
}

/// Adds the default blocks that a store does not have; answers a line if there were any.
///
/// # Errors
/// The store cannot be read or written.
pub fn install_default_blocks(
    store: &dyn BlockStore,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    // All are looked at before the first one is made: a start that is refused makes none.
    let mut missing = Vec::new();
    for core in CoreBlock::ALL {
        match store.presence(core.name()) {
            Ok(BlockPresence::Deleted | BlockPresence::Absent) => missing.push(core),
            // It is there, even if it cannot be read.
            Ok(BlockPresence::Present) | Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let stamp = stamp(now, "seeded");
    let mut made = Vec::new();
    for core in missing {
        store.create(core.name(), core.embedded(), &stamp)?;
        made.push(core.name().as_str());
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
                // What an import brought is no text of the program's, also under another name.
                let labels = store.labels(name)?.nodes().clone();
                let stamp = stamp.clone().with_labels(labels);
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
    Stamp::new(at, EditAuthor::Kernel).with_note(note.to_owned())
}
