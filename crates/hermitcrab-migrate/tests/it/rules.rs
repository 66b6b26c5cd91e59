//! Files, texts and messages that the sample does not have.

use hermitcrab_migrate::Export;
use pscale_blocks::{Block, BlockName, MAX_FILE, MAX_TEXT, render_json};
use serde_json::{Map, Value, json};

use crate::migrate::{name, path, plan, plan_of, text};

/// A dump with these files and nothing else.
fn files(files: &[(&str, &str)]) -> Value {
    let files: Map<_, _> = files
        .iter()
        .map(|(name, text)| (format!("/memories/{name}"), (*text).into()))
        .collect();
    files.into()
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
    assert_eq!(plan.counts.keys_redacted, 6);
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
            "S-2.json\nsecond of two",
            "M-1.txt\nfirst to go",
            "M-1.csv\nlast to go",
            "free.md\nfree"
        ]
    );
    assert_eq!(
        (plan.counts.duplicate_numbers, plan.counts.empty_files),
        (2, 1)
    );
}

#[test]
fn files_of_one_number_stay_side_by_side_in_the_stash() {
    let plan = plan(&files(&[
        ("M-2.md", "kept"),
        ("M-2.txt", "one"),
        ("M-2.json", "two"),
        ("S-3.md", "three"),
        ("S-3.jsx", "four"),
        ("S-4.md", "five"),
    ]));
    let stash: Vec<_> = plan.blocks[&name("stash")]
        .level(-1)
        .into_iter()
        .filter_map(|step| step.text)
        .collect();
    let expected = [
        "S-3.md\nthree",
        "S-3.jsx\nfour",
        "S-4.md\nfive",
        "M-2.txt\none",
        "M-2.json\ntwo",
    ];
    assert_eq!(stash, expected);
    assert_eq!(plan.counts.duplicate_numbers, 2);
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
