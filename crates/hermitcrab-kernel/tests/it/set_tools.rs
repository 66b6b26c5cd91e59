//! The tools of the model: row 24 of the acceptance list.

use std::collections::BTreeSet;

use hermitcrab_kernel::ScriptStep;
use hermitcrab_kernel::table::tool_groups;
use llm_client::ToolSpec;
use serde_json::{Value, json};

use crate::place::{Place, Setting, call, results};

const KEPT: [&str; 3] = ["block_read", "block_list", "set_tools"];

async fn set(place: &Place, names: &[&str]) -> hermitcrab_kernel::table::ToolResult {
    place.tool("set_tools", json!({ "names": names })).await
}

fn names(tools: &[ToolSpec]) -> Vec<String> {
    let names = tools.iter().map(|tool| tool.name().unwrap().to_owned());
    names.collect()
}

#[tokio::test]
async fn ten_tools_before_anybody_chooses() {
    let (place, brain) = Setting::default().script([ScriptStep::text("Hi.")]);
    place.say("Hello").await;
    let sent = names(&brain.asked()[0].tools);
    assert_eq!(sent.len(), 10);
    assert_eq!(sent, place.kernel.tools());
    assert_eq!(sent[7..], ["set_tools", "block_append", "patch_source"]);
}

#[tokio::test]
async fn a_choice_by_name_and_group_holds_from_the_next_request_on() {
    let choice = json!({"names": ["files", "get_datetime", "get_datetime"]});
    let (place, brain) =
        Setting::default().script([call("a", "set_tools", choice), ScriptStep::text("Chosen.")]);
    place.say("Choose").await;
    let asked = brain.asked();
    assert_eq!(names(&asked[0].tools).len(), 10);
    let sent = names(&asked[1].tools);
    let unique: BTreeSet<_> = sent.iter().collect();
    assert_eq!(unique.len(), sent.len());
    let expected: BTreeSet<&str> = KEPT
        .into_iter()
        .chain([
            "get_datetime",
            "fs_pick_directory",
            "fs_list",
            "fs_read",
            "fs_write",
            "fs_mkdir",
            "fs_delete",
        ])
        .collect();
    assert_eq!(
        sent.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        expected
    );
    let (text, is_error) = results(&asked[1].messages[2]).remove(0);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert!(!is_error);
    assert_eq!(answer["tools"], json!(sent));
    assert!(answer["tokens"].as_u64().unwrap() > 100);
}

#[tokio::test]
async fn an_unknown_name_changes_nothing_and_gets_near_names() {
    let (place, _) = Setting::default().script([]);
    set(&place, &["web"]).await;
    let before = place.kernel.tools();
    let outcome = set(&place, &["files", "web_fech", "quantum"]).await;
    assert!(outcome.is_error);
    let detail = outcome.content["detail"].as_str().unwrap();
    assert!(
        detail.contains("web_fech") && detail.contains("quantum"),
        "{detail}"
    );
    assert!(
        outcome.content["hint"]
            .as_str()
            .unwrap()
            .contains("web_fetch")
    );
    assert_eq!(place.kernel.tools(), before);
}

#[tokio::test]
async fn nobody_is_locked_out() {
    let (place, _) = Setting::default().script([]);
    assert!(!set(&place, &[]).await.is_error);
    assert_eq!(place.kernel.tools(), KEPT);
    set(&place, &["notify"]).await;
    let tools = place.kernel.tools();
    assert!(
        KEPT.iter()
            .all(|kept| tools.iter().any(|tool| tool == kept))
    );
    set(&place, &["base"]).await;
    assert_eq!(place.kernel.tools().len(), 10);
}

#[tokio::test]
async fn at_most_twenty_four() {
    let (place, _) = Setting::default().script([]);
    let all: Vec<&str> = tool_groups()
        .iter()
        .flat_map(|group| &group.tools)
        .map(|tool| tool.name.as_str())
        .filter(|name| !KEPT.contains(name))
        .collect();
    assert!(all.len() > 24);
    let outcome = set(&place, &all[..22]).await;
    assert!(outcome.is_error);
    assert!(outcome.content["detail"].as_str().unwrap().contains("24"));
    assert_eq!(place.kernel.tools().len(), 10, "nothing was changed");
    assert!(!set(&place, &all[..21]).await.is_error);
    assert_eq!(place.kernel.tools().len(), 24);
    // All groups at once are too many, too.
    let groups: Vec<_> = tool_groups()
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert!(set(&place, &groups).await.is_error);
}

#[tokio::test]
async fn the_choice_outlives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = Setting::default().in_dir(dir.path()).script([]);
    set(&place, &["web", "usage"]).await;
    let chosen = place.kernel.tools();
    let setting = Setting::default().after(&place, dir.path());
    let (place, brain) = setting.script([ScriptStep::text("Hi.")]);
    place.say("Hello").await;
    assert_eq!(place.kernel.tools(), chosen);
    assert_eq!(names(&brain.asked()[0].tools), chosen);
}

#[tokio::test]
async fn a_tool_that_is_not_chosen_is_refused_with_a_hint() {
    let (place, brain) = Setting::default().script([
        call("a", "web_fetch", json!({"url": "https://example.org"})),
        call("b", "block_grow", json!({"name": "memory", "summary": "x"})),
        ScriptStep::text("I may not."),
    ]);
    place.say("Fetch it").await;
    for (request, message) in [(1, 2), (2, 4)] {
        let (text, is_error) = results(&brain.asked()[request].messages[message]).remove(0);
        let fault: Value = serde_json::from_str(&text).unwrap();
        assert!(is_error);
        assert_eq!(fault["error"], "inactive");
        assert!(fault["hint"].as_str().unwrap().contains("set_tools"));
    }
    // In a boot only the seven are there.
    let (place, brain) = Setting::page().script([
        call("a", "set_tools", json!({"names": ["web"]})),
        ScriptStep::Hang,
    ]);
    let cancel = tokio_util::sync::CancellationToken::new();
    let stop = async {
        while brain.asked().len() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (report, ()) = tokio::join!(place.kernel.boot(place.sink(), cancel.clone()), stop);
    report.unwrap();
    assert!(results(&brain.asked()[1].messages[2])[0].1);
    assert_eq!(place.kernel.tools().len(), 10);
}

#[tokio::test]
async fn a_face_may_choose_as_well_and_arguments_are_checked() {
    let (place, _) = Setting::default().script([]);
    for wrong in [
        json!({}),
        json!({"names": "web"}),
        json!({"names": [1]}),
        json!([]),
    ] {
        let outcome = place.tool("set_tools", wrong).await;
        assert!(outcome.is_error);
        assert_eq!(outcome.content["error"], "bad_arguments");
    }
    assert_eq!(place.kernel.tools().len(), 10);
}
