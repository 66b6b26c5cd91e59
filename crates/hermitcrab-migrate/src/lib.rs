//! The data that an earlier Hermitcrab left in a browser, as blocks and a conversation.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use hermitcrab_migrate::{Defaults, Export, Migrated, apply};
//! use pscale_blocks::{BlockStore as _, EditAuthor, MemStore, Stamp};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let export = Export::parse(br#"{"hcmem:/memories/M-1.md": "The first evening."}"#)?;
//! let plan = export.plan(&Defaults {
//!     blocks: &BTreeMap::new(),
//!     memory_head: &|name| format!("Memory of {}.", name.unwrap_or("an instance without a name")),
//!     stash_head: "What was made.",
//! });
//! assert_eq!(plan.counts.memory_entries, 1);
//!
//! let store = MemStore::new();
//! let source = "old.json".to_owned();
//! let by = EditAuthor::Import { source };
//! let stamp = Stamp::new("2026-11-22T12:00:00Z".parse()?, by);
//! assert!(matches!(apply(&plan, &store, &stamp)?, Migrated::Done { .. }));
//! let memory = store.load(&"memory".parse()?)?.block;
//! assert!(memory.to_file().contains("The first evening."));
//! # Ok(())
//! # }
//! ```
//!
//! **The one decision.** Reading, planning and writing are three steps, and only the last one changes anything: a plan can be
//! shown before it is applied, and a second run finds that all is done. The export is never changed, and no key of a provider
//! gets into a block or a message.
//!
//! Next: [`Export`], [`Export::plan`], [`check`], [`apply`].

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod apply;
mod conversation;
mod export;
mod identity;
mod memory;
mod pack;
mod plan;

pub use apply::{Migrated, apply, check};
pub use conversation::{MessageRole, PastMessage};
pub use export::{Export, NotAnExport};
pub use plan::{Counts, Defaults, Plan};
