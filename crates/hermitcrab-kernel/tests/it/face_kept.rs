//! The values that a face keeps, the folders of its page, and the events about blocks.

use hermitcrab_kernel::Event;
use hermitcrab_kernel::faces::HostSkills;
use pscale_blocks::EditAuthor;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::Setting;

#[tokio::test]
async fn a_block_that_a_tool_changed_is_told_and_one_that_was_only_read_is_not() {
    let (place, _) = Setting::page().script([]);
    let run = async |name: &str, input: Value| {
        let (by, cancel) = (EditAuthor::Person, CancellationToken::new());
        (place
            .kernel
            .call_tool(name, input, by, place.sink(), cancel))
        .await
    };
    run("block_read", json!({"name": "skills"})).await;
    run("block_list", json!({})).await;
    run(
        "block_write",
        json!({"name": "skills", "path": "x", "content": "x"}),
    )
    .await;
    run(
        "block_create",
        json!({"name": "yard", "pscale0": "A yard."}),
    )
    .await;
    for n in 1..=10 {
        run(
            "block_append",
            json!({"name": "yard", "content": format!("entry {n}")}),
        )
        .await;
    }
    run("block_undo", json!({"name": "yard"})).await;
    let events = place.events.lock().unwrap();
    let changed: Vec<_> = events
        .iter()
        .map(|event| match event {
            Event::BlockChanged { name } => name.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    // The tenth entry only asked for a summary.
    assert_eq!(changed, ["yard"; 11]);
}

#[tokio::test]
async fn folders_of_a_page_are_the_hosts() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.md"), "of the disk").unwrap();
    let mut setting = Setting::page();
    setting.config.grants = vec![hermitcrab_kernel::config::Grant {
        dir: dir.path().to_owned(),
        write: false,
        delete: false,
    }];
    let (place, _) = setting.script([]);
    let read = |root: &str| place.tool("fs_read", json!({"root": root, "path": "a.md"}));
    assert!(read("b1").await.is_error);
    let skills = ["fs_read", "fs_list"].map(str::to_owned);
    *place.host.skills.lock().unwrap() = HostSkills(skills.into());
    assert_eq!(read("r1").await.content["text"], "of the disk");
    assert_eq!(read("b1").await.content, "done");
    let asked = place.host.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].args, json!({"root": "b1", "path": "a.md"}));
    drop(asked);
    // What the page does not offer, it is not asked for.
    let outcome = place
        .tool(
            "fs_write",
            json!({"root": "b1", "path": "a", "content": "x"}),
        )
        .await;
    assert!(outcome.is_error);
    assert_eq!(place.host.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn what_a_face_displays_is_kept_beside_its_state() {
    let dir = tempfile::tempdir().unwrap();
    // A file of an earlier version of this program knows no display.
    let old = json!({"schema_version": 1, "tools": null, "shell": null, "must_wake": false, "face": {"a": 1}});
    std::fs::write(dir.path().join("state.json"), old.to_string()).unwrap();
    let (place, _) = Setting::page().in_dir(dir.path()).script([]);
    assert_eq!(place.kernel.faces().face_state(), Some(json!({"a": 1})));
    assert_eq!(place.kernel.faces().saved_display(), None);
    assert!(
        !place
            .kernel
            .faces()
            .save_display(json!({"folded": [1, 2]}))
            .is_error
    );
    let big = place
        .kernel
        .faces()
        .save_display(json!("x".repeat(1 << 20)));
    assert!(
        big.is_error && big.content["error"] == "too_large",
        "{big:?}"
    );
    let (place, _) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(
        place.kernel.faces().saved_display(),
        Some(json!({"folded": [1, 2]}))
    );
    assert_eq!(place.kernel.faces().face_state(), Some(json!({"a": 1})));
    assert!(!place.kernel.faces().save_display(Value::Null).is_error);
    assert_eq!(place.kernel.faces().saved_display(), None);
}
