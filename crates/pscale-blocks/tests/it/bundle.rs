use std::fs;

use pscale_blocks::bundle::{
    BundleError, Export, ImportBatch, ImportOutcome, ImportRules, MAX_BUNDLE, OnConflict, export,
};
use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::store::{KEY_REMOVED, Origin, Origins, StoreCall, StoreWatch, WatchedStore};
use pscale_blocks::{
    Block, BlockName, BlockStore, DirStore, EditAuthor, MemStore, Stamp, StoreError,
};

fn furnished() -> MemStore {
    let store = MemStore::new();
    for block in ["memory", "notes", "stash"] {
        store
            .create(&name(block), &Block::new(format!("the {block}")), &stamp(0))
            .unwrap();
    }
    store
        .edit(
            &name("notes"),
            None,
            &write("0.1", "a \"quote\"\nand é"),
            &stamp(1),
        )
        .unwrap();
    store
}

fn bundle(store: &dyn BlockStore) -> String {
    let how = Export::new(stamp(5).at).keystone_version(Some("1"));
    export(store, None, &how).unwrap()
}

fn import(
    store: &dyn BlockStore,
    text: &str,
    on_conflict: OnConflict,
) -> Vec<(String, ImportOutcome)> {
    let parcel = ImportBatch::read(text, None, false).unwrap();
    let report = parcel
        .import(
            store,
            ImportRules::new(on_conflict),
            "a bundle",
            stamp(9).at,
        )
        .unwrap();
    let rows = report.into_iter();
    rows.map(|row| (row.name.to_string(), row.outcome))
        .collect()
}

fn files(store: &dyn BlockStore) -> Vec<(String, String)> {
    let rows = store.names().unwrap().into_iter();
    rows.map(|row| {
        (
            row.name.to_string(),
            store.load(&row.name).unwrap().block.to_file(),
        )
    })
    .collect()
}

#[test]
fn what_is_exported_and_imported_is_the_same_byte_for_byte() {
    let from = furnished();
    let text = bundle(&from);
    let folder = tempfile::tempdir().unwrap();
    let to = DirStore::open(folder.path()).unwrap().without_fsync();
    let report = import(&to, &text, OnConflict::Skip);
    assert!(
        report
            .iter()
            .all(|(_, outcome)| *outcome == ImportOutcome::Created)
    );
    assert_eq!(files(&to), files(&from));
    for (block, file) in files(&from) {
        let path = folder.path().join(format!("blocks/{block}.json"));
        assert_eq!(fs::read_to_string(path).unwrap(), file);
    }
    let entry = log(&to, &name("notes")).remove(0);
    assert_eq!(
        entry.by,
        EditAuthor::Import {
            source: "a bundle".to_owned()
        }
    );
    assert_eq!(entry.at, stamp(9).at);
    // Nothing is new the second time.
    let again = import(&to, &text, OnConflict::Replace);
    assert!(
        again
            .iter()
            .all(|(_, outcome)| *outcome == ImportOutcome::Same),
        "{again:?}"
    );
    assert_eq!(to.load(&name("notes")).unwrap().rev, 1);
}

#[test]
fn imported_texts_have_labels() {
    let folder = tempfile::tempdir().unwrap();
    let to = DirStore::open(folder.path()).unwrap().without_fsync();
    import(&to, &bundle(&furnished()), OnConflict::Skip);
    let notes = name("notes");
    let source = "a bundle".to_owned();
    let from = Origins::from(Origin::Import { source });
    let block = to.load(&notes).unwrap().block;
    let nodes = block.subtree(&pscale_blocks::Path::root(), None).unwrap();
    let texts = nodes.iter().filter(|node| node.text.is_some()).count();
    let labels = to.labels(&notes).unwrap();
    assert_eq!(labels.nodes().len(), texts);
    assert!(labels.nodes().values().all(|origins| *origins == from));
    // A block that comes back from the trash is one that is imported.
    to.delete(&notes, &stamp(10)).unwrap();
    import(&to, &bundle(&furnished()), OnConflict::Skip);
    assert_eq!(to.labels(&notes).unwrap().nodes().len(), texts);
    assert_eq!(log(&to, &notes).pop().unwrap().from, from);
}

#[test]
fn a_bundle_as_it_is_written() {
    let store = MemStore::new();
    store
        .create(&name("notes"), &Block::new("n"), &stamp(0))
        .unwrap();
    let how = Export::new(stamp(5).at)
        .keystone_version(Some("1"))
        .with_log(true);
    insta::assert_snapshot!(export(&store, Some(&[name("notes")]), &how).unwrap());
    let missing = export(&store, Some(&[name("nots")]), &how).unwrap_err();
    assert_eq!(missing.kind(), "no_block");
}

#[test]
fn a_name_that_is_taken() {
    let text = bundle(&furnished());
    let taken = || {
        let store = MemStore::new();
        store
            .create(&name("notes"), &Block::new("mine"), &stamp(0))
            .unwrap();
        store
            .create(&name("notes-2"), &Block::new("mine, too"), &stamp(0))
            .unwrap();
        store
    };
    let notes = |store: &MemStore| {
        let block = store.load(&name("notes")).unwrap().block;
        block.head_text().unwrap().to_owned()
    };

    let store = taken();
    let report = import(&store, &text, OnConflict::Skip);
    assert_eq!(report[1], ("notes".to_owned(), ImportOutcome::Skipped));
    assert_eq!(
        (notes(&store), store.names().unwrap().len()),
        ("mine".to_owned(), 4)
    );

    let store = taken();
    let report = import(&store, &text, OnConflict::Replace);
    assert_eq!(report[1], ("notes".to_owned(), ImportOutcome::Replaced));
    assert_eq!(notes(&store), "the notes");
    store.undo(&name("notes"), 1, &stamp(10)).unwrap();
    assert_eq!(notes(&store), "mine");

    let store = taken();
    let report = import(&store, &text, OnConflict::Rename);
    assert_eq!(
        report[1],
        (
            "notes".to_owned(),
            ImportOutcome::Renamed {
                to: name("notes-3")
            }
        )
    );
    let renamed = store.load(&name("notes-3")).unwrap().block;
    assert_eq!(
        (notes(&store), renamed.head_text()),
        ("mine".to_owned(), Some("the notes"))
    );
}

#[test]
fn the_longest_name_gets_a_number_as_well() {
    let long = name(&"a".repeat(64));
    let store = MemStore::new();
    store.create(&long, &Block::new("mine"), &stamp(0)).unwrap();
    let parcel = ImportBatch::read(&Block::new("other").to_file(), Some(&long), false).unwrap();
    for ending in ["2", "3"] {
        let report = parcel
            .import(
                &store,
                ImportRules::new(OnConflict::Rename),
                "x",
                stamp(1).at,
            )
            .unwrap();
        let to = name(&format!("{}-{ending}", "a".repeat(62)));
        assert_eq!(report[0].outcome, ImportOutcome::Renamed { to });
    }
}

#[test]
fn a_bare_block_and_a_folder_of_them() {
    let file = Block::new("bare").to_file();
    assert_eq!(
        ImportBatch::read(&file, None, false).unwrap_err().kind(),
        "bad_name"
    );
    let parcel = ImportBatch::read(&file, Some(&name("bare")), false).unwrap();
    let store = MemStore::new();
    parcel
        .import(&store, ImportRules::new(OnConflict::Skip), "x", stamp(0).at)
        .unwrap();
    assert_eq!(store.load(&name("bare")).unwrap().block.to_file(), file);

    let folder = tempfile::tempdir().unwrap();
    for path in ["one.json", "two.json", "notes.txt"] {
        fs::write(folder.path().join(path), &file).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        folder.path().join("one.json"),
        folder.path().join("link.json"),
    )
    .unwrap();
    let parcel = ImportBatch::read_folder(folder.path(), false).unwrap();
    assert!(parcel.names().eq(&[name("one"), name("two")]));
    for bad in ["Upper.json", "con.json", ".json"] {
        fs::write(folder.path().join(bad), &file).unwrap();
    }
    fs::write(folder.path().join("half.json"), &file[..9]).unwrap();
    let parcel = ImportBatch::read_folder(folder.path(), true).unwrap();
    assert!(parcel.names().eq(&[name("one"), name("two")]));
    let faults = parcel.problems().iter();
    let names: Vec<_> = faults.map(|fault| &*fault.name).collect();
    assert_eq!(names, ["Upper", "con", "half"]);
    assert_eq!(
        ImportBatch::read_folder(&folder.path().join("no"), false)
            .unwrap_err()
            .kind(),
        "io"
    );
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let five = format!("{}{}", Block::new("x").to_file(), " ".repeat(5 << 20));
    let error = ImportBatch::read(&five, Some(&name("x")), true).unwrap_err();
    assert_eq!(error.kind(), "too_large");
    assert!(error.to_string().contains("4194304"), "{error}");
    let huge = " ".repeat(MAX_BUNDLE + 1);
    assert_eq!(
        ImportBatch::read(&huge, None, true).unwrap_err().kind(),
        "too_large"
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.json"), five).unwrap();
    let error = ImportBatch::read_folder(folder.path(), true).unwrap_err();
    assert!(error.to_string().contains("more bytes than"), "{error}");
}

#[test]
fn one_fault_refuses_the_whole_bundle_and_all_are_named() {
    let good = bundle(&furnished());
    let twice = good.replace("\"stash\"", "\"notes\"");
    for (text, part) in [
        (good.replace("the notes", "the motes"), "changed or damaged"),
        (
            good.replace("\"stash\"", "\"../x\""),
            "\"../x\" is not a block name",
        ),
        (twice, "is there twice"),
        (good.replace("\"1\": ", "\"11\": "), "single digits"),
        (
            good.replace("\"decimal\": 1", "\"decimal\": 33"),
            "decimal is",
        ),
        (
            good.replace("\"block\":", "\"blob\":"),
            "missing field `block`",
        ),
        (
            good.replace("\"schema_version\": 1", "\"schema_version\": 2"),
            "schema version 2",
        ),
        (good.replace("\"schema_version\": 1,", ""), "schema_version"),
        (
            good.replace("\"blocks\":", "\"bricks\":"),
            "expected \"blocks\"",
        ),
        (good[..good.len() / 2].to_owned(), "EOF"),
        ("[]".to_owned(), "neither"),
        (String::new(), "neither"),
    ] {
        let error = ImportBatch::read(&text, None, false).unwrap_err();
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    let all = good.replace("\"decimal\": 1", "\"decimal\": 33");
    let Err(BundleError::Faulty { faults }) = ImportBatch::read(&all, None, false) else {
        panic!()
    };
    assert_eq!(faults.len(), 3);
}

#[test]
fn repair_leaves_out_what_is_faulty_and_says_so() {
    let text = bundle(&furnished()).replace("\"1\": ", "\"11\": ");
    let store = MemStore::new();
    let parcel = ImportBatch::read(&text, None, true).unwrap();
    let report = parcel
        .import(&store, ImportRules::new(OnConflict::Skip), "x", stamp(0).at)
        .unwrap();
    let [memory, notes, _] = &report[..] else {
        panic!("{report:?}")
    };
    assert_eq!(memory.repairs, [""; 0]);
    assert!(
        notes.repairs[0].contains("single digits"),
        "{:?}",
        notes.repairs
    );
    assert!(
        notes.repairs[1].contains("changed or damaged"),
        "{:?}",
        notes.repairs
    );
    assert_eq!(
        *store.load(&name("notes")).unwrap().block,
        Block::new("the notes")
    );
}

#[test]
fn no_key_comes_in() {
    let block = Block::new("with sk-or-v1-0123456789 in it");
    let parcel = ImportBatch::read(&block.to_file(), Some(&name("notes")), false).unwrap();
    let store = MemStore::new();
    let report = parcel
        .import(&store, ImportRules::new(OnConflict::Skip), "x", stamp(0).at)
        .unwrap();
    assert_eq!(report[0].keys_removed, 1);
    let found = store.load(&name("notes")).unwrap().block;
    assert_eq!(
        found.head_text(),
        Some(&*format!("with {KEY_REMOVED} in it"))
    );
}

#[test]
fn a_report_as_it_is_written() {
    let store = MemStore::new();
    store
        .create(&name("notes"), &Block::new("n"), &stamp(0))
        .unwrap();
    let text = bundle(&store);
    store
        .edit(&name("notes"), None, &write("0", "other"), &stamp(1))
        .unwrap();
    let rows = ImportBatch::read(&text, None, false)
        .unwrap()
        .import(
            &store,
            ImportRules::new(OnConflict::Rename),
            "a bundle",
            stamp(9).at,
        )
        .unwrap();
    insta::assert_snapshot!(serde_json::to_string(&rows[0]).unwrap());
}

/// An observer that lets `left` calls change something, and then none.
struct Failing {
    left: std::sync::atomic::AtomicI32,
    /// Also nothing can be taken back.
    for_good: bool,
}

impl StoreWatch for Failing {
    fn before(&self, _name: &BlockName, call: StoreCall) -> Result<(), StoreError> {
        if !call.writes() {
            return Ok(());
        }
        let left = self.left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        if left == 0 || (left < 0 && self.for_good) {
            return Err(StoreError::Full {
                path: "disk".into(),
            });
        }
        Ok(())
    }
}

#[test]
fn an_import_that_breaks_off_is_taken_back() {
    let parcel = ImportBatch::read(&bundle(&furnished()), None, false).unwrap();
    for on_conflict in [OnConflict::Replace, OnConflict::Rename] {
        for left in 0..3 {
            for for_good in [false, true] {
                let inner = MemStore::new();
                inner
                    .create(&name("memory"), &Block::new("mine"), &stamp(0))
                    .unwrap();
                let before = files(&inner);
                let watch = Failing {
                    left: left.into(),
                    for_good,
                };
                let store = WatchedStore { inner, watch };
                let error = parcel
                    .import(&store, ImportRules::new(on_conflict), "x", stamp(1).at)
                    .unwrap_err();
                assert_eq!(error.kind(), "full");
                match error {
                    BundleError::Left { left: names, .. } => {
                        assert!(for_good);
                        assert_eq!(names.len(), left as usize);
                        assert_ne!(files(&store), before);
                    }
                    _ => assert_eq!(files(&store), before, "{on_conflict:?} {left}"),
                }
            }
        }
    }
}

/// T3: labels go with an export, and hold where the person says that it is their own backup.
#[test]
fn labels_come_back_with_trust_and_an_import_is_labelled_without() {
    let page = Origins::from(Origin::Web {
        url: "https://example.org".to_owned(),
    });
    let store = furnished();
    let from_page = Stamp::new(stamp(2).at, EditAuthor::Kernel).with_from(page);
    let read = write("0.2", "what a page said");
    store.edit(&name("notes"), None, &read, &from_page).unwrap();
    let labels = |store: &dyn BlockStore| store.labels(&name("notes")).unwrap().nodes().clone();
    let expected = labels(&store);
    assert_eq!(expected.len(), 1);
    let import = |text: &str, rules: ImportRules<'_>| {
        let other = MemStore::new();
        let batch = ImportBatch::read(text, None, false).unwrap();
        batch
            .import(&other, rules, "backup.json", stamp(9).at)
            .unwrap();
        other
    };
    for with_log in [false, true] {
        let text = export(&store, None, &Export::new(stamp(5).at).with_log(with_log)).unwrap();
        let trusted = import(&text, ImportRules::default().trust(true));
        assert_eq!(labels(&trusted), expected);
        let foreign = import(&text, ImportRules::default());
        let source = "backup.json".to_owned();
        let origin = Origins::from(Origin::Import { source });
        assert_eq!(labels(&foreign).len(), 3);
        assert!(labels(&foreign).values().all(|label| *label == origin));
    }
}

/// A text that was there already may be the one of the bundle: it has the bundle's label, too.
#[test]
fn a_label_of_a_trusted_bundle_holds_for_an_equal_text() {
    let (from, to) = (MemStore::new(), MemStore::new());
    let notes: BlockName = "notes".parse().unwrap();
    let page = Origin::Web {
        url: "a".to_owned(),
    };
    let read =
        Stamp::new(stamp(2).at, crate::labels::by_model(None).by).with_from(page.clone().into());
    for (store, by) in [(&from, &read), (&to, &stamp(2))] {
        store.create(&notes, &Block::new("n"), &stamp(1)).unwrap();
        let op = write("0.1", "equal");
        store.edit(&notes, None, &op, by).unwrap();
    }
    to.edit(&notes, None, &write("0.2", "mine"), &stamp(3))
        .unwrap();
    let text = export(&from, None, &Export::new(stamp(5).at)).unwrap();
    let rules = ImportRules::new(OnConflict::Replace).trust(true);
    let batch = ImportBatch::read(&text, None, false).unwrap();
    batch
        .import(&to, rules, "backup.json", stamp(9).at)
        .unwrap();
    let labels = to.labels(&notes).unwrap();
    let found: Vec<_> = labels
        .nodes()
        .iter()
        .map(|(path, from)| (path.to_string(), from.clone()))
        .collect();
    assert_eq!(found, [("0.1".to_owned(), Origins::from(page))]);
}

#[test]
fn some_blocks_are_only_replaced_with_trust() {
    let text = bundle(&furnished());
    let kept = [name("memory")];
    for (trust, outcome) in [
        (false, ImportOutcome::Skipped),
        (true, ImportOutcome::Replaced),
    ] {
        let store = MemStore::new();
        for block in ["memory", "notes"] {
            store
                .create(&name(block), &Block::new("mine"), &stamp(0))
                .unwrap();
        }
        let rules = ImportRules::new(OnConflict::Replace)
            .trust(trust)
            .keeping(&kept);
        let batch = ImportBatch::read(&text, None, false).unwrap();
        let rows = batch.import(&store, rules, "x", stamp(1).at).unwrap();
        assert_eq!(
            (&rows[0].outcome, rows[0].notices.is_empty()),
            (&outcome, trust)
        );
        assert_eq!(rows[1].outcome, ImportOutcome::Replaced);
        // A missing one is taken.
        assert_eq!(rows[2].outcome, ImportOutcome::Created);
    }
}
