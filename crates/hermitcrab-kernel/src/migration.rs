//! What an earlier generation left, taken over into an empty store.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use llm_client::Message;
use pscale_blocks::migrate::{Defaults, Export, Migrated, PastMessage, Plan, Speaker, apply};
use pscale_blocks::{BlockStore, Provenance, Stamp};

use crate::conversation::{self, Conversation};
use crate::defaults::{CoreBlock, new_memory};
use crate::keeper::Keeper;
use crate::{KernelError, seed_defaults};

/// The head of the block for things that were made.
const STASH_HEAD: &str = "Stash of things made, not things that happened: files and texts of earlier work. Each entry begins \
                          with its old name. Artifacts compact by an index of what is where, memories by synthesis.";
/// Who edits, for the log.
const SOURCE: &str = "an earlier generation";

/// What would become of an export.
pub fn migration_plan(export: &Export) -> Plan {
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

/// Takes an export over: its blocks into a store that nobody has used, its last messages into the data directory if
/// nothing was said there, and the default blocks that are missing.
///
/// # Errors
/// The store or the directory cannot be read or written. The same call goes on where this one stopped.
pub fn migrate(
    export: &Export,
    store: &dyn BlockStore,
    data: Option<&Path>,
    now: Timestamp,
) -> Result<(Plan, Migrated), KernelError> {
    let plan = migration_plan(export);
    let migrated = into_store(&plan, store, now)?;
    if let Migrated::Done { .. } = migrated {
        let file = || KernelError::file(conversation::FILE);
        let keeper = Keeper::new(data, true);
        let (mut conversation, _) = Conversation::open(&keeper).map_err(file())?;
        conversation
            .take_over(&keeper, now, said(&plan.conversation))
            .map_err(file())?;
        seed_defaults(store, now)?;
    }
    Ok((plan, migrated))
}

pub(crate) fn into_store(
    plan: &Plan,
    store: &dyn BlockStore,
    now: Timestamp,
) -> Result<Migrated, KernelError> {
    let stamp = Stamp {
        at: now,
        by: Provenance::Import {
            source: SOURCE.to_owned(),
        },
        note: None,
    };
    Ok(apply(plan, store, &stamp)?)
}

/// The last messages of an earlier generation.
pub(crate) fn said(messages: &[PastMessage]) -> Vec<Message> {
    let messages = messages.iter();
    messages
        .map(|message| match message.role {
            Speaker::User => Message::user(&message.text),
            Speaker::Assistant => Message::assistant(&message.text),
        })
        .collect()
}
