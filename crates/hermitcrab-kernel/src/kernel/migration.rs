//! The migration of an earlier generation to blocks and a conversation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use llm_client::{Message, Redactor};
use pscale_blocks::migrate::{self, Defaults, Export, MessageRole, Migrated, Plan};
use pscale_blocks::{BlockStore, EditAuthor, Stamp, StoreError};

use super::default_blocks::install_default_blocks;
use crate::conversation::{self, ConversationRecord};
use crate::prompt::CoreBlock;
use crate::storage::FileStore;
use crate::{KernelError, new_memory};

/// The head of the block `stash`.
const STASH_HEAD: &str = "What was made: texts, pictures, programs, lists. An entry begins with its name in a line of its \
    own. What happened is in the block memory.";

/// The migration plan of an export, with the default blocks.
pub fn plan_migration(export: &Export) -> Plan {
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

/// Puts a plan into an unused store, adds the default blocks, and begins the conversation in the data
/// directory `data` with that of the plan. `source` is what the log says of where it comes from.
///
/// # Errors
/// The store or the directory cannot be written. The same call continues where this one stopped.
pub fn migrate(
    plan: &Plan,
    store: &dyn BlockStore,
    data: &Path,
    source: &str,
    now: Timestamp,
) -> Result<Migrated, KernelError> {
    let migrated = take_over(plan, store, source, now)?;
    if matches!(migrated, Migrated::InUse { .. }) {
        return Ok(migrated);
    }
    install_default_blocks(store, now)?;
    let failed = KernelError::file(conversation::FILE);
    let files = FileStore::new(Some(data), true, Redactor::default());
    let begun = ConversationRecord::open(Arc::new(files))
        .and_then(|(mut record, _)| record.take_over(now, messages(plan)));
    begun.map_err(failed)?;
    Ok(migrated)
}

/// The blocks of a plan alone.
pub(crate) fn take_over(
    plan: &Plan,
    store: &dyn BlockStore,
    source: &str,
    now: Timestamp,
) -> Result<Migrated, StoreError> {
    let stamp = Stamp {
        at: now,
        by: EditAuthor::Import {
            source: source.to_owned(),
        },
        note: Some("from an earlier generation".to_owned()),
    };
    migrate::apply(plan, store, &stamp)
}

/// The conversation of a plan.
pub(crate) fn messages(plan: &Plan) -> Vec<Message> {
    let said = plan.conversation.iter();
    said.map(|said| match said.role {
        MessageRole::User => Message::user(&said.text),
        MessageRole::Assistant => Message::assistant(&said.text),
    })
    .collect()
}
