//! A data directory with a past, to be damaged.

use std::fs;
use std::path::PathBuf;

use pscale_blocks::store::conformance::{name, stamp, write};
use pscale_blocks::{Block, BlockStore, DirStore};
use tempfile::TempDir;

/// In the seconds of stamps.
pub const HOUR: i64 = 60 * 60;

/// A store with the block `notes` at revision 3 and `other` at 1, closed again.
pub struct Store {
    pub folder: TempDir,
}

impl Store {
    pub fn new() -> Self {
        let store = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let open = store.open();
        open.create(&name("notes"), &Block::new("n"), &stamp(0))
            .unwrap();
        open.edit(&name("notes"), None, &write("0.1", "one"), &stamp(1))
            .unwrap();
        open.edit(&name("notes"), None, &write("0.2", "two"), &stamp(2))
            .unwrap();
        open.create(&name("other"), &Block::new("o"), &stamp(3))
            .unwrap();
        store
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(path), bytes).unwrap();
    }

    /// The store, with every block brought together with its log.
    pub fn open(&self) -> DirStore {
        let open = DirStore::open(self.folder.path()).unwrap().without_fsync();
        open.names().unwrap();
        open
    }

    pub fn list(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

/// A text of `notes`.
pub fn text(store: &DirStore, path: &str) -> Option<String> {
    let block = store.load(&name("notes")).unwrap().block;
    block
        .text(&path.parse().unwrap())
        .ok()
        .flatten()
        .map(str::to_owned)
}
