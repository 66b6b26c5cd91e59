//! A10: what an earlier generation left in a browser.

use std::collections::BTreeMap;

use hermitcrab_migrate::{Defaults, Export, Migrated, Plan, apply};
use pscale_blocks::store::newest_edits;
use pscale_blocks::{Block, BlockName, BlockStore as _, EditAuthor, MemStore, Op, Path, Stamp};
use serde_json::Value;

fn sample() -> Value {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/hermitcrab/vectors/g0_export_sample.json"
    );
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

pub fn name(text: &str) -> BlockName {
    text.parse().unwrap()
}

pub fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn default_blocks() -> BTreeMap<BlockName, Block> {
    let mut constitution = Block::new("The constitution.");
    constitution
        .write(&path("0.5.3"), "How a name is given.")
        .unwrap();
    BTreeMap::from([
        (name("constitution"), constitution),
        (name("memory"), Block::new("Memory of nobody.")),
        (name("skills"), Block::new("Skills.")),
    ])
}

pub fn plan_of(export: &Export) -> Plan {
    export.plan(&Defaults {
        blocks: &default_blocks(),
        memory_head: &|name| format!("Memory of {}.", name.unwrap_or("nobody")),
        stash_head: "The stash.",
    })
}

pub fn plan(input: &Value) -> Plan {
    plan_of(&Export::parse(input.to_string().as_bytes()).unwrap())
}

pub fn text(plan: &Plan, block: &str, at: &str) -> String {
    let text = plan.blocks[&name(block)].text(&path(at));
    text.unwrap_or_else(|error| panic!("{block} {at}: {error}"))
        .unwrap_or_default()
        .to_owned()
}

/// The block as the sample expects it, with our head.
fn expected(key: &str, slot: &str, head: &str) -> Value {
    let mut block = sample()["expected"][key].clone();
    assert_eq!(block["tree"]["0"]["_"], slot);
    block["tree"]["0"]["_"] = head.into();
    block
}

fn check_blocks(plan: &Plan) {
    let block = |key: &str| serde_json::to_value(&plan.blocks[&name(key)]).unwrap();
    assert_eq!(
        block("memory"),
        expected("memory", "{{memory.head}}", "Memory of Kelp.")
    );
    for (at, added) in sample()["expected"]["constitution_adds"]
        .as_object()
        .unwrap()
    {
        assert_eq!(text(plan, "constitution", at), added.as_str().unwrap());
    }
    assert_eq!(text(plan, "constitution", "0.5.3"), "How a name is given.");
    assert_eq!(
        plan.instance_name.as_deref(),
        sample()["expected"]["instance_name"].as_str()
    );
}

#[test]
fn browser_dump_becomes_what_the_sample_says() {
    let plan = plan(&sample());
    check_blocks(&plan);
    let stash = serde_json::to_value(&plan.blocks[&name("stash")]).unwrap();
    assert_eq!(stash, expected("stash", "{{stash.head}}", "The stash."));
    let found = serde_json::to_value(&plan).unwrap();
    for key in ["conversation", "counts", "never_imported", "instance_name"] {
        assert_eq!(found[key], sample()["expected"][key], "{key}");
    }
}

#[test]
fn map_of_get_memory_becomes_the_same_memory() {
    let plan = plan(&sample()["g0_surface_getMemory"]);
    check_blocks(&plan);
    assert!(plan.conversation.is_empty() && !plan.counts.conversation_unreadable);
    // Neither the file outside of /memories nor the database's value is in it.
    assert_eq!(plan.counts.stash_items, 11);
}

#[test]
fn local_storage_alone_and_a_folder_of_files_do_as_well() {
    check_blocks(&plan(&sample()["localStorage"]));
    let map = sample()["g0_surface_getMemory"].clone();
    let folder = map.as_object().unwrap().iter().map(|(path, text)| {
        let path = path.strip_prefix('/').unwrap().to_owned();
        (path, text.as_str().unwrap().as_bytes().to_vec())
    });
    let picture = ("memories/boat.png".to_owned(), b"\x89PNG\r\n\xff".to_vec());
    let export = Export::of_files(folder.chain([picture])).unwrap();
    let found = plan_of(&export);
    assert_eq!(found.blocks, plan(&map).blocks);
    assert_eq!(found.never_imported, ["boat.png"]);
}

fn stamp(by: EditAuthor) -> Stamp {
    Stamp::new(jiff::Timestamp::UNIX_EPOCH, by)
}

fn import() -> Stamp {
    stamp(EditAuthor::Import {
        source: "g0.json".to_owned(),
    })
}

#[test]
fn second_run_does_nothing_and_says_so() {
    let (store, plan) = (MemStore::new(), plan(&sample()));
    for (name, block) in default_blocks() {
        store
            .create(&name, &block, &stamp(EditAuthor::Kernel))
            .unwrap();
    }
    let written = ["constitution", "memory", "stash"].map(name).to_vec();
    assert_eq!(
        apply(&plan, &store, &import()).unwrap(),
        Migrated::Done { written }
    );
    for (name, block) in &plan.blocks {
        assert_eq!(*store.load(name).unwrap().block, *block);
    }
    let log = || newest_edits(&store, usize::MAX).unwrap();
    let before = log();
    assert_eq!(apply(&plan, &store, &import()).unwrap(), Migrated::Already);
    assert_eq!(log(), before);

    // Nor does it when life has gone on.
    let op = Op::Append {
        text: "A new day.".to_owned(),
        summary: None,
    };
    store
        .edit(&name("memory"), None, &op, &stamp(EditAuthor::Person))
        .unwrap();
    let blocks = vec![name("memory")];
    assert_eq!(
        apply(&plan, &store, &import()).unwrap(),
        Migrated::InUse { blocks }
    );
}

#[test]
fn run_that_was_interrupted_goes_on() {
    let (store, plan) = (MemStore::new(), plan(&sample()));
    let memory = name("memory");
    store
        .create(&memory, &plan.blocks[&memory], &import())
        .unwrap();
    let written = ["constitution", "stash"].map(name).to_vec();
    assert_eq!(
        apply(&plan, &store, &import()).unwrap(),
        Migrated::Done { written }
    );
}

#[test]
fn store_that_somebody_uses_is_left_alone() {
    for by in [
        EditAuthor::Person,
        EditAuthor::Import {
            source: "other".to_owned(),
        },
    ] {
        let store = MemStore::new();
        store
            .create(&name("recipes"), &Block::new("Recipes."), &stamp(by))
            .unwrap();
        let blocks = vec![name("recipes")];
        assert_eq!(
            apply(&plan(&sample()), &store, &import()).unwrap(),
            Migrated::InUse { blocks }
        );
        assert_eq!(store.names().unwrap().len(), 1);
    }
    let store = MemStore::new();
    let (memory, block) = (name("memory"), Block::new("Memory of nobody."));
    store
        .create(&memory, &block, &stamp(EditAuthor::Kernel))
        .unwrap();
    let op = Op::Write {
        path: path("0.1"),
        text: "edited".to_owned(),
    };
    store
        .edit(&memory, None, &op, &stamp(EditAuthor::Person))
        .unwrap();
    assert!(matches!(
        apply(&plan(&sample()), &store, &import()).unwrap(),
        Migrated::InUse { .. }
    ));
}

#[test]
fn what_is_no_export_is_refused() {
    let reason = |bytes: &[u8]| {
        let error = Export::parse(bytes).unwrap_err().to_string();
        error
            .strip_prefix("not an export of an earlier Hermitcrab: ")
            .unwrap()
            .to_owned()
    };
    assert_eq!(reason(b""), "the file is empty");
    assert_eq!(reason(b" \n"), "the file is empty");
    assert!(reason(b"\x89PNG\r\n\x1a\n\0\0").starts_with("no JSON"));
    assert!(reason(br#"{"localStorage":"#).starts_with("no JSON"));
    assert_eq!(reason(b"[1,2]"), "the JSON is not an object");
    for foreign in [
        "{}",
        r#"{"name":"x","version":1}"#,
        r#"{"localStorage":{"theme":"dark"}}"#,
    ] {
        assert_eq!(
            reason(foreign.as_bytes()),
            "no key of it is known",
            "{foreign}"
        );
    }
    let folder = Export::of_files([("boat.png", &b"\x89PNG"[..]), ("notes.md", b"notes")]);
    assert!(
        folder
            .unwrap_err()
            .to_string()
            .contains("no file such as M-1.md")
    );
}

#[test]
fn what_an_import_takes_is_sent_there() {
    let newer = r#"{"tuning":"0.1","tree":{"_":"The harbour.","1":"Fog."}}"#;
    let is_block = "this is a block of the newer format: use import";
    for (text, reason) in [
        (newer, is_block),
        (r#"{"_":"The harbour.","10":"Fog."}"#, is_block),
        (
            r#"{"decimal":1,"tree":{"0":"a"}}"#,
            "this is a block: use import",
        ),
        (
            r#"{"blocks":{"harbour":{"_":"The harbour."}}}"#,
            "this is a bundle of blocks: use import",
        ),
    ] {
        let error = Export::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error.reason, reason, "{text}");
        let error = Export::of_files([("notes.md", "notes"), ("harbour.json", text)]).unwrap_err();
        assert_eq!(error.reason, reason, "{text}");
    }
}
