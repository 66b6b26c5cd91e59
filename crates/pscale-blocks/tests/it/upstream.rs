//! Import of the newer upstream format, which has no `decimal`: each form, each fault, and hostile texts.

use std::fs;

use proptest::prelude::*;
use pscale_blocks::bundle::{
    BundleError, Export, ImportBatch, ImportProblem, ImportRules, Imported, MAX_BUNDLE, OnConflict,
    export,
};
use pscale_blocks::store::conformance::{log, name, stamp};
use pscale_blocks::{Block, BlockStore, MAX_DEPTH, MAX_FILE, MemStore, render_json};

const NEWER: &str = "read as the newer upstream format: the root is the head";
const OLDER: &str = "read as the older upstream format: node 0 is the head";

/// Imports a text under the name `harbour`, or under its own names.
fn import(json: &str, repair: bool) -> Result<(MemStore, Vec<Imported>), BundleError> {
    let store = MemStore::new();
    let batch = ImportBatch::read(json, Some(&name("harbour")), repair)?;
    let rows = batch.import(
        &store,
        ImportRules::new(OnConflict::Skip),
        "a file",
        stamp(1).at,
    )?;
    Ok((store, rows))
}

/// The block of a text that is imported without repair, and the notices.
#[track_caller]
fn taken(json: &str) -> (String, Vec<String>) {
    let (store, mut rows) = import(json, false).unwrap();
    assert_eq!(rows.len(), 1);
    let row = rows.remove(0);
    assert_eq!(row.repairs, [""; 0]);
    let block = store.load(&row.name).unwrap().block;
    (render_json(&block), row.notices)
}

/// The problem of a text that is refused.
#[track_caller]
fn refused(json: &str, repair: bool) -> ImportProblem {
    match import(json, repair) {
        Err(BundleError::Faulty { mut faults }) if faults.len() == 1 => faults.remove(0),
        other => panic!("{other:?}"),
    }
}

/// The block of a text that is imported with repair, and the repairs.
#[track_caller]
fn repaired(json: &str) -> (String, Vec<String>) {
    let problem = refused(json, false);
    assert!(problem.repair.is_some(), "{problem}");
    let (store, rows) = import(json, true).unwrap();
    let block = store.load(&name("harbour")).unwrap().block;
    (render_json(&block), rows[0].repairs.clone())
}

#[test]
fn a_tree_without_decimal_is_taken_unchanged_and_its_root_is_the_head() {
    let tree =
        r#"{"_":"The harbour.","1":{"_":"Piers.","1":"North pier.","4":"Old pier."},"9":"Fog."}"#;
    let block = format!(r#"{{"decimal":0,"tree":{tree}}}"#);
    let notices = vec![NEWER.to_owned()];
    for json in [
        format!(r#"{{"tree":{tree}}}"#),
        format!(r#"{{"tuning":"0.11","tree":{tree}}}"#),
        tree.to_owned(),
        format!("\u{feff} {tree} "),
    ] {
        assert_eq!(taken(&json), (block.clone(), notices.clone()), "{json}");
    }
    // A root without a text has no head text.
    let (block, _) = taken(r#"{"tree":{"1":"North pier.","2":"South pier."}}"#);
    assert_eq!(
        block,
        r#"{"decimal":0,"tree":{"1":"North pier.","2":"South pier."}}"#
    );
}

#[test]
fn a_tree_of_node_0_alone_is_the_older_form() {
    let tree = r#"{"0":{"_":"The harbour.","1":"North pier."}}"#;
    let block = format!(r#"{{"decimal":1,"tree":{tree}}}"#);
    for json in [
        format!(r#"{{"tree":{tree}}}"#),
        tree.to_owned(),
        // One level down is where pscale 0 is.
        format!(r#"{{"tuning":"1.1","tree":{tree}}}"#),
    ] {
        let notices = vec![OLDER.to_owned()];
        assert_eq!(taken(&json), (block.clone(), notices), "{json}");
    }
    let (block, notices) = taken(r#"{"tree":{"0":"Fog.","1":"North pier."}}"#);
    assert_eq!(
        block,
        r#"{"decimal":0,"tree":{"0":"Fog.","1":"North pier."}}"#
    );
    assert_eq!(notices, [NEWER]);
}

#[test]
fn the_tuning_is_in_the_note_of_the_log() {
    for (tuning, note, level) in [
        (r#""0.62""#, Some("tuning 0.62"), None),
        (r#""0""#, Some("tuning 0"), None),
        ("0.62", Some("tuning 0.62"), None),
        (r#""111.111""#, Some("tuning 111.111"), Some(3)),
        (r#""111""#, Some("tuning 111"), Some(3)),
        (r#""2.3""#, Some("tuning 2.3"), Some(1)),
        (r#""by ear""#, Some("tuning by ear"), None),
        (r#""""#, Some("tuning "), None),
    ] {
        let json = format!(r#"{{"tuning":{tuning},"tree":{{"_":"The harbour."}}}}"#);
        let (store, rows) = import(&json, false).unwrap();
        let entry = log(&store, &name("harbour")).remove(0);
        assert_eq!(entry.note.as_deref(), note, "{tuning}");
        let mut notices = vec![NEWER.to_owned()];
        notices.extend(level.map(|level| {
            format!("its tuning puts pscale 0 at level {level}; here the root has pscale 0")
        }));
        assert_eq!(rows[0].notices, notices, "{tuning}");
    }
    let long = format!(
        r#"{{"tuning":"{}\n","tree":{{"_":"x"}}}}"#,
        "1".repeat(5000)
    );
    let (store, _) = import(&long, false).unwrap();
    let note = log(&store, &name("harbour")).remove(0).note.unwrap();
    assert_eq!(note.chars().count(), "tuning ".len() + 81);

    let list = r#"{"tuning":[1],"tree":{"_":"The harbour."}}"#;
    let reason = refused(list, false).to_string();
    assert!(reason.ends_with("tuning is a text such as \"111.111\", here it is a list"));
    let twice = r#"{"tuning":"1","tuning":"2","tree":{"_":"The harbour."}}"#;
    assert_eq!(repaired(twice).1, ["not part of a block: tuning"]);
}

#[test]
fn keys_that_upstream_derives_are_left_out_with_one_notice() {
    let json = r#"{"place":1,"mask_tuning":"1","mask_at":{},"mask":[],"skeleton_at":"x","skeleton":{"_":"s"},"mask":1,
        "tree":{"_":"The harbour."}}"#;
    let (block, notices) = taken(json);
    assert_eq!(block, r#"{"decimal":0,"tree":{"_":"The harbour."}}"#);
    assert_eq!(
        notices,
        [
            NEWER,
            "left out, since upstream derives it: skeleton, skeleton_at, mask, mask_at, mask_tuning, place"
        ]
    );
}

#[test]
fn another_key_is_no_part_of_a_block() {
    let json = r#"{"tree":{"_":"The harbour."},"colour":"grey","_":"Fog."}"#;
    let problem = refused(json, false);
    assert_eq!(
        problem.to_string(),
        "block \"harbour\": not a block: not part of a block: colour; not part of a block: _"
    );
    assert_eq!(problem.repair, Some("leaves faulty parts out"));
    let (block, repairs) = repaired(json);
    assert_eq!(block, r#"{"decimal":0,"tree":{"_":"The harbour."}}"#);
    assert_eq!(
        repairs,
        ["not part of a block: colour", "not part of a block: _"]
    );
    let long = format!(r#"{{"tree":{{"_":"x"}},"{}\u001b":1}}"#, "k".repeat(5000));
    let reason = refused(&long, false).to_string();
    assert!(reason.len() < 200, "{reason}");
}

#[test]
fn a_set_has_its_blocks_by_their_names() {
    let json = r#"{"blocks":{
        "Harbour":{"tuning":"0.1","tree":{"_":"The harbour."}},
        "fog":{"_":"Fog.","1":"Thick."},
        "log":{"decimal":1,"tree":{"0":"The log."}}}}"#;
    let (store, rows) = import(json, false).unwrap();
    let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["harbour", "fog", "log"]);
    assert_eq!(rows[0].notices, [NEWER, "its name there is Harbour"]);
    assert_eq!(rows[2].notices, [""; 0]);
    let log = store.load(&name("log")).unwrap().block;
    assert_eq!(*log, Block::new("The log."));

    let fog = r#"{"_":"Fog."}"#;
    for (json, part) in [
        (
            format!(r#"{{"blocks":{{"fog":{fog},"../fog":{fog}}}}}"#),
            "\"../fog\" is not a block name",
        ),
        (
            format!(r#"{{"blocks":{{"fog":{fog},"CON":{fog}}}}}"#),
            "some systems keep this name",
        ),
        (
            format!(r#"{{"blocks":{{"fog":{fog},"Fog":{fog}}}}}"#),
            "the name is there twice",
        ),
        (
            format!(r#"{{"blocks":{{"fog":{fog},"rain":"wet"}}}}"#),
            "a block is an object, this is a text",
        ),
        (
            format!(r#"{{"blocks":{{"fog":{fog},"rain":{{"blocks":{{"a":{fog}}}}}}}}}"#),
            "its key is blocks",
        ),
        (
            format!(r#"{{"blocks":{{"fog":{fog}}},"colour":1}}"#),
            "\"blocks\" and no other key; remove \"colour\"",
        ),
        (
            format!(r#"{{"kind":"other","blocks":{{"fog":{fog}}}}}"#),
            "remove \"kind\"",
        ),
        (
            format!(r#"{{"blocks":{{"fog":{fog}}},"blocks":{{}}}}"#),
            "\"blocks\" is there twice",
        ),
    ] {
        for repair in [false, true] {
            let error = import(&json, repair).unwrap_err();
            assert!(error.to_string().contains(part), "{json}: {error}");
        }
    }
}

#[test]
fn a_tree_in_the_place_of_a_text_is_refused_and_a_repair_keeps_its_text() {
    let json = r#"{"tree":{"_":"The harbour.","1":{"_":{"_":"Piers.","1":"Hidden.","2":"Too."},"1":"North pier."}}}"#;
    let problem = refused(json, false);
    assert_eq!(
        problem.reason.to_string(),
        "not a block: at 1: \"_\" holds a tree (a hidden level of the newer format); this format has no place for it"
    );
    assert_eq!(problem.repair, Some("keeps its text"));
    let (block, repairs) = repaired(json);
    assert_eq!(
        block,
        r#"{"decimal":0,"tree":{"_":"The harbour.","1":{"_":"Piers.","1":"North pier."}}}"#
    );
    assert_eq!(
        repairs,
        ["at 1: of the tree in \"_\": 1, 2; its text is kept"]
    );

    // Levels in levels, at the root, without a text, and with a text alone.
    let deep = r#"{"_":{"_":{"_":"The harbour.","3":"a"},"4":"b"},"1":{"_":{"1":"x"},"2":"y"},"5":{"_":{"_":"z"}}}"#;
    let problem = refused(deep, false);
    assert!(
        problem
            .reason
            .to_string()
            .contains("at the root: \"_\" holds a tree"),
        "{problem}"
    );
    assert_eq!(problem.repair, Some("leaves faulty parts out"));
    let (block, repairs) = repaired(deep);
    assert_eq!(
        block,
        r#"{"decimal":0,"tree":{"_":"The harbour.","1":{"2":"y"},"5":"z"}}"#
    );
    assert_eq!(
        repairs,
        [
            "at the root: of the tree in \"_\": _.3, 4; its text is kept",
            "at 1: the tree in \"_\", which has no text",
            "at 5: the level in \"_\"; its text is kept",
        ]
    );
    // A block of this format has no place for it either.
    let ours = r#"{"decimal":1,"tree":{"0":{"_":{"_":"Head."},"1":"Entry."}}}"#;
    assert_eq!(refused(ours, false).repair, Some("keeps its text"));
    assert_eq!(
        repaired(ours).0,
        r#"{"decimal":1,"tree":{"0":{"_":"Head.","1":"Entry."}}}"#
    );
}

#[test]
fn what_is_no_node_is_named_with_its_path_and_left_out_by_a_repair() {
    for (json, reason) in [
        (
            r#"{"tree":{"_":"a","2":{"10":"b","1":"c"}}}"#,
            "at 2: a node has `_` and single digits, not \"10\"",
        ),
        (
            r#"{"_":"a","2":{"+":"b","1":"c"}}"#,
            "at 2: a node has `_` and single digits, not \"+\"",
        ),
        (
            r#"{"_":"a","2":{"_":"b","1":7}}"#,
            "at 2.1: a node is a text or an object, this is a number",
        ),
        (
            r#"{"_":"a","2":{"_":true,"1":"c"}}"#,
            "at 2: `_` is a text, here it is a boolean",
        ),
        (
            r#"{"_":"a","10":"b"}"#,
            "a node has `_` and single digits, not \"10\"",
        ),
        (
            r#"{"_":"a","2":"b","2":"c"}"#,
            "at 2: this digit is there twice",
        ),
        (r#"{"_":"a","_":"b"}"#, "`_` is there twice"),
        (
            r#"{"tree":{"_":"a"},"tree":{"_":"b"}}"#,
            "tree is there twice",
        ),
        (
            "{\"_\":\"a\",\"1\":\"b\\u0000\"}",
            "at 1: a text holds the character U+0000, which no block may",
        ),
    ] {
        let problem = refused(json, false);
        let told = problem.reason.to_string();
        assert_eq!(told, format!("not a block: {reason}"));
        assert_eq!(problem.repair, Some("leaves faulty parts out"));
        let (_, repairs) = repaired(json);
        assert_eq!(repairs, [reason]);
    }
}

#[test]
fn what_is_no_block_says_what_a_block_has_and_no_repair_is_advised() {
    let end = "a block has \"tree\", or only \"_\" and the digits 0-9";
    let many: Vec<_> = (10..30).map(|key| format!("\"{key}\":1")).collect();
    for (json, found) in [
        (
            r#"{"subject":"Fog","content":"Thick.","from":"a boat"}"#.to_owned(),
            "its keys are content, from, subject",
        ),
        ("{}".to_owned(), "it is empty"),
        (r#"{"blocks":[1]}"#.to_owned(), "its key is blocks"),
        (
            format!("{{{}}}", many.join(",")),
            "its keys are 10, 11, 12, 13, 14, 15, 16, 17 and 12 more",
        ),
    ] {
        for repair in [false, true] {
            let problem = refused(&json, repair);
            let told = problem.reason.to_string();
            assert_eq!(told, format!("not a block: {found}; {end}"));
            assert_eq!(problem.repair, None);
        }
    }
    // A tree without a node, half a text, and another decimal.
    for json in [
        r#"{"tree":{}}"#,
        r#"{"tree":"a text"}"#,
        r#"{"tree":{"1":7}}"#,
        r#"{"tree":{"_":{"1":"x"}}}"#,
        r#"{"_":"a""#,
        r#"{"decimal":33,"tree":{"0":"a"}}"#,
    ] {
        for repair in [false, true] {
            match import(json, repair) {
                Err(BundleError::Faulty { faults }) => assert_eq!(faults[0].repair, None, "{json}"),
                Err(BundleError::Format { .. }) => {}
                other => panic!("{json}: {other:?}"),
            }
        }
    }
}

/// A tree of the newer format whose lowest node is this deep.
fn deep(levels: usize) -> String {
    format!(
        "{{\"_\":\"a\",\"1\":{}\"end\"{}}}",
        "{\"1\":".repeat(levels - 1),
        "}".repeat(levels - 1)
    )
}

/// Trees in the place of a text, one in the other.
fn hidden(levels: usize) -> String {
    format!(
        "{{\"_\":{}\"end\"{}}}",
        "{\"_\":".repeat(levels),
        "}".repeat(levels)
    )
}

#[test]
fn what_is_too_deep_or_too_long_says_where() {
    assert!(import(&deep(MAX_DEPTH), false).is_ok());
    let told = refused(&deep(MAX_DEPTH + 1), false).to_string();
    assert!(
        told.contains("at 1.1.1") && told.contains("below depth 32"),
        "{told}"
    );
    for levels in [200, 1000, 100_000] {
        for json in [deep(levels), format!(r#"{{"tree":{}}}"#, deep(levels))] {
            let told = refused(&json, true).to_string();
            assert!(told.contains("nested too deep at line 1 column"), "{told}");
        }
        assert!(import(&hidden(levels), true).is_err());
    }
    let (store, _) = import(&hidden(100), true).unwrap();
    let block = store.load(&name("harbour")).unwrap().block;
    assert_eq!(block.head_text(), Some("end"));
    let text = format!(r#"{{"_":"a","1":"{}"}}"#, "x".repeat((64 << 10) + 1));
    assert_eq!(repaired(&text).0, r#"{"decimal":0,"tree":{"_":"a"}}"#);
    let long = format!("{{\"_\":\"a\"}}{}", " ".repeat(MAX_FILE));
    assert_eq!(import(&long, true).unwrap_err().kind(), "too_large");
    let longer = " ".repeat(MAX_BUNDLE + 1);
    assert_eq!(import(&longer, true).unwrap_err().kind(), "too_large");
    let names: Vec<_> = (0..=100_000)
        .map(|number| format!("\"b{number}\":0"))
        .collect();
    let many = format!("{{\"blocks\":{{{}}}}}", names.join(","));
    let told = import(&many, true).unwrap_err().to_string();
    assert!(told.contains("more than 100000 blocks"), "{told}");
}

#[test]
fn a_bundle_with_many_faults_names_the_first_ones() {
    let blocks: Vec<_> = (0..25).map(|number| format!("\"b{number}\":0")).collect();
    let json = format!("{{\"blocks\":{{{}}}}}", blocks.join(","));
    let told = import(&json, false).unwrap_err().to_string();
    assert!(
        told.contains("\"b19\"") && !told.contains("\"b20\""),
        "{told}"
    );
    assert!(told.ends_with("; and 5 more"), "{told}");
}

#[test]
fn a_folder_is_taken_file_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for number in 0..60 {
        file(&format!("b{number}.json"), r#"{"tree":{"_":"Fog."}}"#);
    }
    file("cut.json", r#"{"tree":{"_":"Fo"#);
    file("letter.json", r#"{"from":"a boat"}"#);
    file("Loud.json", r#"{"_":"Fog."}"#);
    file("long.json", &" ".repeat(MAX_FILE + 1));
    fs::write(folder.path().join("picture.json"), b"\x89PNG\xff").unwrap();
    let batch = ImportBatch::read_folder(folder.path(), false).unwrap();
    assert_eq!(batch.names().count(), 60);
    let problems = batch.problems().iter();
    let problems: Vec<_> = problems
        .map(|problem| (&*problem.name, problem.kind()))
        .collect();
    assert_eq!(
        problems,
        [
            ("Loud", "bad_name"),
            ("cut", "format"),
            ("letter", "format"),
            ("long", "format"),
            ("picture", "format")
        ]
    );
    let store = MemStore::new();
    batch
        .import(
            &store,
            ImportRules::new(OnConflict::Skip),
            "a folder",
            stamp(0).at,
        )
        .unwrap();
    assert_eq!(store.names().unwrap().len(), 60);
    // Of such a folder more than a bundle may have is not read.
    for number in 0..16 {
        file(&format!("z{number}.json"), &" ".repeat(MAX_FILE));
    }
    let error = ImportBatch::read_folder(folder.path(), false).unwrap_err();
    assert_eq!(error.kind(), "too_large");
}

/// A tree of the newer format with some of its faults.
fn tree() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        r#""a""#,
        r#""é\n""#,
        r#""""#,
        "7",
        "true",
        "[]",
        "null",
        "{}",
    ]);
    text.prop_map(str::to_owned)
        .prop_recursive(4, 40, 5, |below| {
            let key = prop::sample::select(vec![
                "_", "_", "0", "1", "2", "9", "10", "+", "tree", "tuning",
            ]);
            proptest::collection::vec((key, below), 0..5).prop_map(|entries| {
                let entries = entries.into_iter();
                let entries: Vec<_> = entries
                    .map(|(key, value)| format!("\"{key}\":{value}"))
                    .collect();
                format!("{{{}}}", entries.join(","))
            })
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A repair helps where a problem says so and nowhere else, and what is taken is exported and imported unchanged.
    #[test]
    fn what_is_taken_moves_on_unchanged(tree in tree(), form in 0..4) {
        let json = match form {
            0 => tree,
            1 => format!(r#"{{"tree":{tree}}}"#),
            2 => format!(r#"{{"tree":{tree},"tuning":"11.1","mask":1}}"#),
            _ => format!(r#"{{"blocks":{{"harbour":{tree}}}}}"#),
        };
        let strict = import(&json, false);
        let lenient = import(&json, true);
        if let Err(BundleError::Faulty { faults }) = &strict {
            prop_assert_eq!(faults[0].repair.is_some(), lenient.is_ok(), "{}", faults[0]);
        }
        if let Ok((_, rows)) = &strict {
            prop_assert!(rows[0].repairs.is_empty());
            prop_assert_eq!(rows, &lenient.as_ref().unwrap().1);
        }
        for (store, rows) in [strict, lenient].into_iter().flatten() {
            let block = store.load(&rows[0].name).unwrap().block;
            let bundle = export(&store, None, &Export::new(stamp(2).at)).unwrap();
            for text in [bundle, block.to_file()] {
                let (again, rows) = import(&text, false).unwrap();
                prop_assert_eq!(&rows[0].notices, &[""; 0]);
                prop_assert_eq!(&again.load(&name("harbour")).unwrap().block, &block);
            }
        }
    }
}
