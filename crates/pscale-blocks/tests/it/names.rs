use std::fs;

use pscale_blocks::store::conformance::{name, stamp};
use pscale_blocks::{Block, BlockName, BlockStore, DirStore, StoreError};

#[test]
fn what_is_no_name_is_refused_before_any_file_is_made() {
    let long = "a".repeat(65);
    let refused = [
        "../x",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "..",
        ".",
        "CON",
        "con",
        "nul",
        "com1",
        "lpt9",
        &long,
        "Upper",
        "",
        " ",
        "a b",
        "a.json",
        "9a",
        "_a",
        "-a",
        "ä",
        "a\0",
        "a\n",
    ];
    for text in refused {
        let error = StoreError::from(BlockName::new(text).unwrap_err());
        assert_eq!(error.kind(), "bad_name", "{text:?}");
    }
    // A store takes nothing but names, and names from a file are checked as well.
    for text in refused {
        let json = serde_json::to_string(text).unwrap();
        assert!(
            serde_json::from_str::<BlockName>(&json).is_err(),
            "{text:?}"
        );
    }
}

#[test]
fn every_name_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let longest = "a".repeat(64);
    let names = ["a", "com", "com10", "console", "a-1", "a_b-c", &longest].map(name);
    let store = DirStore::open(folder.path()).unwrap().without_fsync();
    for name in &names {
        store
            .create(name, &Block::new(name.as_str()), &stamp(0))
            .unwrap();
    }
    drop(store);
    let store = DirStore::open(folder.path()).unwrap();
    assert_eq!(store.notices(), [""; 0]);
    for name in &names {
        assert_eq!(
            store.load(name).unwrap().block.head_text(),
            Some(name.as_str())
        );
    }
    assert_eq!(
        fs::read_dir(folder.path().join("blocks")).unwrap().count(),
        names.len()
    );
}

#[test]
fn files_that_have_no_name_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(DirStore::open(folder.path()).unwrap());
    let block = Block::new("x").to_file();
    for file in ["Upper.json", "con.json", "notes.txt", "two words.json"] {
        fs::write(folder.path().join("blocks").join(file), &block).unwrap();
    }
    let store = DirStore::open(folder.path()).unwrap();
    assert_eq!(store.names().unwrap(), []);
    assert_eq!(store.notices().len(), 4);
    assert_eq!(
        fs::read_dir(folder.path().join("blocks")).unwrap().count(),
        4
    );
}
