//! Blocks of a directory with edits that stay in memory.

use std::sync::Arc;

use pscale_blocks::store::{
    BlockInfo, BlockPresence, Edited, KeyFilter, Labels, LogEntry, LogRange, Versioned,
};
use pscale_blocks::{Block, BlockName, BlockStore, EditAuthor, MemStore, Op, Stamp, StoreError};

/// A store that reads the blocks of another one and never writes to it. A block is copied when it is edited, without its
/// log and its labels.
pub struct DraftStore {
    kept: Box<dyn BlockStore>,
    drafts: MemStore,
}

impl DraftStore {
    pub fn new(kept: Box<dyn BlockStore>) -> Self {
        let drafts = MemStore::new();
        Self { kept, drafts }
    }

    /// Whether the block was edited here.
    fn is_draft(&self, name: &BlockName) -> Result<bool, StoreError> {
        Ok(!self.drafts.log(name, LogRange::newest(1))?.is_empty())
    }

    /// The store that has the block as it is here.
    fn store_of(&self, name: &BlockName) -> Result<&dyn BlockStore, StoreError> {
        Ok(if self.is_draft(name)? {
            &self.drafts
        } else {
            &*self.kept
        })
    }

    /// The store of drafts, with this block in it.
    fn draft(&self, name: &BlockName, stamp: &Stamp) -> Result<&MemStore, StoreError> {
        if !self.is_draft(name)? {
            let copied = Stamp::new(stamp.at, EditAuthor::Kernel);
            let block = self.load(name)?.block;
            match self.drafts.create(name, &block, &copied) {
                // Another thread was first.
                Ok(_) | Err(StoreError::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.drafts)
    }
}

impl BlockStore for DraftStore {
    fn names(&self) -> Result<Vec<BlockInfo>, StoreError> {
        let mut rows = self.drafts.names()?;
        for row in self.kept.names()? {
            if !self.is_draft(&row.name)? {
                rows.push(row);
            }
        }
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(rows)
    }

    fn load(&self, name: &BlockName) -> Result<Versioned, StoreError> {
        match self.store_of(name)?.load(name) {
            // A draft may have a name like it.
            Err(StoreError::NoBlock { near: None, .. }) => self.drafts.load(name),
            found => found,
        }
    }

    fn presence(&self, name: &BlockName) -> Result<BlockPresence, StoreError> {
        self.store_of(name)?.presence(name)
    }

    fn create(&self, name: &BlockName, block: &Block, stamp: &Stamp) -> Result<u64, StoreError> {
        match self.load(name) {
            Err(StoreError::NoBlock { .. }) => self.drafts.create(name, block, stamp),
            Ok(_) => Err(StoreError::Exists { name: name.clone() }),
            Err(error) => Err(error),
        }
    }

    fn edit(
        &self,
        name: &BlockName,
        expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        let expected = match expected {
            Some(expected) if !self.is_draft(name)? => {
                let actual = self.load(name)?.rev;
                if expected != actual {
                    let name = name.clone();
                    return Err(StoreError::Revision {
                        name,
                        expected,
                        actual,
                    });
                }
                // The revisions of a draft begin at 1.
                Some(1)
            }
            expected => expected,
        };
        self.draft(name, stamp)?.edit(name, expected, op, stamp)
    }

    fn delete(&self, name: &BlockName, stamp: &Stamp) -> Result<(), StoreError> {
        self.draft(name, stamp)?.delete(name, stamp)
    }

    fn log(&self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        self.store_of(name)?.log(name, range)
    }

    fn labels(&self, name: &BlockName) -> Result<Arc<Labels>, StoreError> {
        self.store_of(name)?.labels(name)
    }

    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.draft(name, stamp)?.undo(name, count, stamp)
    }

    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.draft(name, stamp)?.redo(name, count, stamp)
    }

    fn add_filter(&self, filter: Arc<dyn KeyFilter>) {
        self.drafts.add_filter(filter);
    }
}

#[cfg(test)]
mod tests {
    use pscale_blocks::store::conformance::{self, name, stamp, write};

    use super::*;

    #[test]
    fn it_is_a_store_and_leaves_the_other_one_alone() {
        conformance::check(|| Box::new(DraftStore::new(Box::new(MemStore::new()))));

        let kept = MemStore::new();
        let notes = name("notes");
        for block in ["notes", "other"] {
            (kept.create(&name(block), &Block::new(block), &stamp(0))).unwrap();
            (kept.edit(&name(block), None, &write("0.2", "two"), &stamp(0))).unwrap();
        }
        let draft = DraftStore::new(Box::new(kept));
        let kept = |name| draft.kept.load(name).unwrap();
        let before = kept(&notes);
        let edit = |expected| draft.edit(&notes, Some(expected), &write("0.1", "one"), &stamp(1));
        assert_eq!(edit(1).unwrap_err().kind(), "revision");
        let edited = edit(2).unwrap().rev;
        assert_eq!(draft.load(&notes).unwrap().rev, edited);
        draft.delete(&name("other"), &stamp(2)).unwrap();
        draft
            .create(&name("new"), &Block::new("n"), &stamp(3))
            .unwrap();
        let rows = draft.names().unwrap();
        assert!(
            rows.iter()
                .map(|row| row.name.as_str())
                .eq(["new", "notes"])
        );
        assert_eq!(kept(&notes), before);
        assert_eq!(draft.kept.names().unwrap().len(), 2);
    }
}
