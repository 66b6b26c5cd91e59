use std::borrow::Cow;
use std::sync::Arc;

use llm_client::Redactor;
use pscale_blocks::store::{
    BlockInfo, BlockPresence, Edited, Labels, LogEntry, LogRange, Versioned,
};
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

    /// The stamp with clean origins: an address may have a key in it.
    fn clean_stamp<'a>(&self, stamp: &'a Stamp) -> Cow<'a, Stamp> {
        if stamp.from.is_empty() && stamp.labels.is_empty() {
            return Cow::Borrowed(stamp);
        }
        let from = self.clean(&stamp.from).into_owned();
        let labels = self.clean(&stamp.labels).into_owned();
        Cow::Owned(stamp.clone().with_from(from).with_labels(labels))
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
        self.store
            .create(name, &self.clean(block), &self.clean_stamp(stamp))
    }

    fn edit(
        &self,
        name: &BlockName,
        expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        let stamp = &self.clean_stamp(stamp);
        self.store.edit(name, expected, &self.clean(op), stamp)
    }

    fn delete(&self, name: &BlockName, stamp: &Stamp) -> Result<(), StoreError> {
        self.store.delete(name, &self.clean_stamp(stamp))
    }

    fn log(&self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        self.store.log(name, range)
    }

    fn labels(&self, name: &BlockName) -> Result<Arc<Labels>, StoreError> {
        self.store.labels(name)
    }

    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.store.undo(name, count, &self.clean_stamp(stamp))
    }

    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.store.redo(name, count, &self.clean_stamp(stamp))
    }
}

#[cfg(test)]
mod tests {
    use pscale_blocks::store::{Origin, Origins};
    use pscale_blocks::{EditAuthor, MemStore};

    use super::*;

    #[test]
    fn no_key_in_use_is_kept_as_an_origin() {
        let redactor = Redactor::new(Some("a-key-without-a-form".to_owned().into()));
        let store = Arc::new(MemStore::new());
        let redacting = RedactingStore {
            store: store.clone(),
            redactor,
        };
        let origins = |url: &str| {
            let url = url.to_owned();
            Origins::from(Origin::Web { url })
        };
        let name = BlockName::new("notes").unwrap();
        let from = origins("https://example.org/?k=a-key-without-a-form");
        let labels = [(pscale_blocks::Path::root(), from.clone())].into();
        let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Kernel);
        let stamp = stamp.with_from(from).with_labels(labels);
        redacting.create(&name, &Block::new("n"), &stamp).unwrap();
        let entry = store.log(&name, LogRange::newest(1)).unwrap().remove(0);
        let kept = entry.from.listed()[0].to_string();
        assert!(!kept.contains("a-key") && kept.starts_with("web https://example.org/?k="));
        assert_eq!(entry.labels[&pscale_blocks::Path::root()], entry.from);
    }
}
