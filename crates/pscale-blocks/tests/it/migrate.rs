//! A10: what an earlier generation left in a browser.

use std::collections::BTreeMap;

use pscale_blocks::migrate::{Defaults, Export, Migrated, Plan, apply};
use pscale_blocks::{
    Block, BlockName, BlockStore as _, MAX_FILE, MAX_TEXT, MemStore, Op, Path, Provenance, Stamp,
    render_json,
};
use serde_json::{Map, Value, json};

fn sample() -> Value {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/hermitcrab/vectors/g0_export_sample.json"
    );
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn name(text: &str) -> BlockName {
    text.parse().unwrap()
}

fn path(text: &str) -> Path {
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

fn plan_of(export: &Export) -> Plan {
    export.plan(&Defaults {
        blocks: &default_blocks(),
        memory_head: &|name| format!("Memory of {}.", name.unwrap_or("nobody")),
        stash_head: "The stash.",
    })
}

fn plan(input: &Value) -> Plan {
    plan_of(&Export::parse(input.to_string().as_bytes()).unwrap())
}

/// A dump with these files and nothing else.
fn files(files: &[(&str, &str)]) -> Value {
    let files: Map<_, _> = files
        .iter()
        .map(|(name, text)| (format!("/memories/{name}"), (*text).into()))
        .collect();
    files.into()
}

fn text(plan: &Plan, block: &str, at: &str) -> String {
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

fn stamp(by: Provenance) -> Stamp {
    Stamp {
        at: jiff::Timestamp::UNIX_EPOCH,
        by,
        note: None,
    }
}

fn import() -> Stamp {
    stamp(Provenance::Import {
        source: "g0.json".to_owned(),
    })
}

#[test]
fn second_run_does_nothing_and_says_so() {
    let (store, plan) = (MemStore::new(), plan(&sample()));
    for (name, block) in default_blocks() {
        store
            .create(&name, &block, &stamp(Provenance::Kernel))
            .unwrap();
    }
    let written = ["constitution", "memory", "stash"].map(name).to_vec();
    assert_eq!(
        apply(&plan, &store, &import()).unwrap(),
        Migrated::Done { written }
    );
    for (name, block) in &plan.blocks {
        assert_eq!(store.load(name).unwrap().block, *block);
    }
    let log = store.log(None, 0).unwrap();
    assert_eq!(apply(&plan, &store, &import()).unwrap(), Migrated::Already);
    assert_eq!(store.log(None, 0).unwrap(), log);

    // Nor does it when life has gone on.
    let op = Op::Append {
        text: "A new day.".to_owned(),
        summary: None,
    };
    store
        .edit(&name("memory"), None, &op, &stamp(Provenance::Person))
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
        Provenance::Person,
        Provenance::Import {
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
        .create(&memory, &block, &stamp(Provenance::Kernel))
        .unwrap();
    let op = Op::Write {
        path: path("0.1"),
        text: "edited".to_owned(),
    };
    store
        .edit(&memory, None, &op, &stamp(Provenance::Person))
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
    assert_eq!(reason(b"[1,2]"), "the JSON is no object");
    for foreign in [
        "{}",
        r#"{"name":"x","version":1}"#,
        r#"{"localStorage":{"theme":"dark"}}"#,
        r#"{"decimal":1,"tree":{"0":"a"}}"#,
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

/// A key of the right form that opens nothing.
const KEY: &str = "sk-or-v1-0123456789abcdef0123456789abcdef";

#[test]
fn keys_come_out_nowhere() {
    let message = format!("first\n{KEY}");
    let block = json!({"decimal": 1, "tree": {"0": format!("head\n{KEY}")}});
    let input = json!({
        "localStorage": {
            "hermitcrab_api_key": "an-unusual-key",
            "OTHER_API_KEY": "another-unusual-key",
            "hcmem:/memories/M-1.md": format!("the key is {KEY}."),
            (format!("hcmem:/memories/{KEY}.md")): "in a name",
            "hc_conversation": json!([{"role": "user", "content": message}]).to_string(),
            "hc:notes": block.to_string(),
            (format!("x {KEY}")): 1,
        },
        "indexedDB": {"hermitcrab": {"stores": {"stash": {"list": [message], "my_api_key": "a-third-unusual-key"}}}},
    });
    let bytes = input.to_string().into_bytes();
    let export = Export::parse(&bytes).unwrap();
    let plan = plan_of(&export);
    let shown = format!(
        "{export:?} {plan:?} {}",
        serde_json::to_string(&plan).unwrap()
    );
    for secret in ["0123456789abcdef", "unusual-key"] {
        assert!(!shown.contains(secret));
    }
    assert_eq!(plan.counts.keys_redacted, 5);
    assert_eq!(text(&plan, "memory", "0.1"), "the key is [key removed].");
    assert_eq!(text(&plan, "notes", "0"), "head\n[key removed]");
    assert_eq!(plan.conversation[0].text, "first\n[key removed]");
    assert_eq!(
        plan.never_imported[..2],
        ["OTHER_API_KEY", "hermitcrab_api_key"]
    );
    // The input is as it was.
    assert_eq!(bytes, input.to_string().into_bytes());
}

#[test]
fn numbers_make_decades_and_lose_nothing() {
    let small = plan(&files(&[("M-3.md", "three"), ("M-01.txt", "one")]));
    assert_eq!(
        render_json(&small.blocks[&name("memory")]),
        r#"{"decimal":1,"tree":{"0":{"_":"Memory of nobody.","1":"one","3":"three"}}}"#
    );

    let names: Vec<_> = (1..=120)
        .map(|number| (format!("M-{number}.md"), format!("text {number}")))
        .collect();
    let rows: Vec<_> = names
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let large = plan(&files(&rows));
    let memory = &large.blocks[&name("memory")];
    assert_eq!(memory.decimal(), 3);
    for (number, at) in [
        (1, "0.1.1.1"),
        (10, "0.1.1"),
        (90, "0.1.9"),
        (91, "0.2.1.1"),
        (100, "0.1"),
        (101, "0.2.2.1"),
        (110, "0.2.2"),
        (120, "0.2.3"),
    ] {
        assert_eq!(text(&large, "memory", at), format!("text {number}"));
    }
    let entries: Vec<_> = memory
        .level(-1)
        .into_iter()
        .filter_map(|step| step.text)
        .collect();
    let expected: Vec<_> = (1..=120)
        .filter(|number| number % 10 > 0)
        .map(|number| format!("text {number}"))
        .collect();
    assert_eq!(entries, expected);
    assert_eq!(
        (large.counts.memory_entries, large.counts.memory_summaries),
        (108, 12)
    );
}

#[test]
fn second_file_of_a_number_goes_to_the_stash() {
    let plan = plan(&files(&[
        ("M-1.md", "kept"),
        ("M-1.txt", "first to go"),
        ("M-1.csv", "last to go"),
        ("S-2.json", "second of two"),
        ("S-2.md", "first of two"),
        ("M-2.md", "  \n"),
        ("free.md", "free"),
    ]));
    assert_eq!(text(&plan, "memory", "0.1"), "kept");
    let stash: Vec<_> = plan.blocks[&name("stash")]
        .level(-1)
        .into_iter()
        .filter_map(|step| step.text)
        .collect();
    assert_eq!(
        stash,
        [
            "S-2.md\nfirst of two",
            "M-1.txt\nfirst to go",
            "M-1.csv\nlast to go",
            "S-2.json\nsecond of two",
            "free.md\nfree"
        ]
    );
    assert_eq!(
        (plan.counts.duplicate_numbers, plan.counts.empty_files),
        (3, 1)
    );
}

#[test]
fn long_texts_are_parts_and_large_stashes_are_several_blocks() {
    let line = "a line of some length\n";
    let long = line.repeat(3 * MAX_TEXT / line.len());
    let rows: Vec<_> = (1..=40)
        .map(|number| (format!("S-{number}.md"), long.clone()))
        .collect();
    let mut rows: Vec<_> = rows.iter().map(|(name, text)| (&**name, &**text)).collect();
    let huge = "x".repeat(MAX_FILE);
    rows.push(("M-1.md", &long));
    rows.push(("huge.md", &huge));
    let plan = plan(&files(&rows));
    for (block, at) in [("memory", "0.1"), ("stash", "0.1.1")] {
        let block = &plan.blocks[&name(block)];
        let parts = block.subtree(&path(at), None).unwrap();
        let whole: String = parts[1..]
            .iter()
            .filter_map(|step| step.text.as_deref())
            .collect();
        assert_eq!(whole, long);
        assert!(parts[1].text.as_deref().unwrap().ends_with('\n'));
    }
    assert_eq!(text(&plan, "stash", "0.1.1"), "S-1.md");
    let count = |block: &str| plan.blocks[&name(block)].level(-1).len();
    assert_eq!(count("stash") + count("stash-2") + count("stash-3"), 40);
    for block in plan.blocks.values() {
        assert!(Block::parse(&block.to_file()).is_ok());
    }
    assert_eq!(plan.never_imported, ["huge.md"]);
}

#[test]
fn conversation_is_its_last_texts() {
    let said = |json: Value| {
        let plan = plan(&json!({"hc_conversation": json.to_string()}));
        let messages = plan
            .conversation
            .iter()
            .map(|message| format!("{:?}: {}", message.role, message.text));
        (
            messages.collect::<Vec<_>>(),
            plan.counts.conversation_unreadable,
        )
    };
    let tools = json!([
        {"role": "assistant", "content": "before the person"},
        {"role": "user", "content": "look it up"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "1", "name": "x", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "found"}]},
        {"role": "assistant", "content": "Found."},
        {"role": "system", "content": "no part of it"},
        7,
    ]);
    assert_eq!(
        said(tools),
        (
            vec![
                "User: look it up".to_owned(),
                "Assistant: I look.\n\nFound.".to_owned()
            ],
            false
        )
    );
    let many: Vec<_> = (0..30).map(|number| json!({"role": if number % 2 == 0 { "user" } else { "assistant" }, "content": number.to_string()})).collect();
    let (kept, _) = said(many.into());
    assert_eq!(
        (kept.len(), &*kept[0], &*kept[19]),
        (20, "User: 10", "Assistant: 29")
    );
    assert_eq!(said(json!({"no": "list"})), (Vec::new(), true));
    assert!(
        plan(&json!({"hc_conversation": "[{"}))
            .counts
            .conversation_unreadable
    );
}

#[test]
fn later_blocks_keep_their_names() {
    let block = |head: &str| json!({"decimal": 1, "tree": {"0": head}}).to_string();
    let found = plan(&json!({
        "hc:memory": block("a memory"),
        "hc:constitution": block("a constitution"),
        "hc:_tools": block("no block"),
        "hc:Bad Name": block("a name that cannot be"),
        "hc:broken": "{",
        "hcmem:/memories/identity.md": "Name: Kelp",
        "hcmem:/memories/M-1.md": "older",
    }));
    assert_eq!(text(&found, "memory", "0"), "a memory");
    assert_eq!(text(&found, "memory-2", "0.1"), "older");
    // Its constitution may have a name in it: the file is kept beside it.
    assert_eq!(text(&found, "constitution", "0"), "a constitution");
    assert_eq!(text(&found, "stash", "0.1"), "identity.md\nName: Kelp");
    assert_eq!(found.instance_name.as_deref(), Some("Kelp"));
    assert_eq!(
        found.never_imported,
        ["hc:Bad Name", "hc:_tools", "hc:broken"]
    );
    let alone = plan(&json!({"hc:memory": block("a memory")}));
    assert_eq!(
        alone
            .blocks
            .keys()
            .map(BlockName::as_str)
            .collect::<Vec<_>>(),
        ["memory"]
    );
}
