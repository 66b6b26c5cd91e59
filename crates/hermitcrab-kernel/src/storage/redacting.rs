use std::borrow::Cow;
use std::sync::Arc;

use llm_client::Redactor;
use pscale_blocks::store::{BlockInfo, BlockPresence, Edited, LogEntry, LogRange, Versioned};
use pscale_blocks::{Block, BlockName, BlockStore, Op, Stamp, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A block store into which no key in use is written. Stores themselves take
/// out what looks like a key; of one without a form only the redactor knows.
pub(crate) struct RedactingStore {
    pub store: Arc<dyn BlockStore>,
    pub redactor: Redactor,
}

impl RedactingStore {
    fn clean<'a, T: Serialize + DeserializeOwned + Clone>(&self, value: &'a T) -> Cow<'a, T> {
        let Ok(text) = serde_json::to_string(value) else {
            return Cow::Borrowed(value);
        };
        let clean = self.redactor.redact_exact(text.clone());
        if clean == text {
            return Cow::Borrowed(value);
        }
        // A key that is a word of the form itself is none that anybody has.
        serde_json::from_str(&clean).map_or(Cow::Borrowed(value), Cow::Owned)
    }
}

impl BlockStore for RedactingStore {
    fn names(&self) -> Result<Vec<BlockInfo>, StoreError> {
        self.store.names()
    }

    fn load(&self, name: &BlockName) -> Result<Versioned, StoreError> {
        self.store.load(name)
    }

    fn presence(&self, name: &BlockName) -> Result<BlockPresence, StoreError> {
        self.store.presence(name)
    }

    fn create(&self, name: &BlockName, block: &Block, stamp: &Stamp) -> Result<u64, StoreError> {
        self.store.create(name, &self.clean(block), stamp)
    }

    fn edit(
        &self,
        name: &BlockName,
        expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        self.store.edit(name, expected, &self.clean(op), stamp)
    }

    fn delete(&self, name: &BlockName, stamp: &Stamp) -> Result<(), StoreError> {
        self.store.delete(name, stamp)
    }

    fn log(&self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        self.store.log(name, range)
    }

    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.store.undo(name, count, stamp)
    }

    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.store.redo(name, count, stamp)
    }
}
