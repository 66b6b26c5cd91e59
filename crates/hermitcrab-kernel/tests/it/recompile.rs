//! Faces: compile errors, repairs, patches, and the last ten that are kept.

use std::fs;

use hermitcrab_kernel::{Event, ScriptStep};
use serde_json::{Value, json};

use crate::place::{BROKEN, Place, SHELL, Setting, call, crash, results};

fn jsx(n: u32) -> String {
    format!("function App() {{ return <p>face {n}</p>; }}")
}

/// With a page and `SHELL` on it.
async fn with_face(
    steps: Vec<ScriptStep>,
) -> (Place, std::sync::Arc<hermitcrab_kernel::ScriptBrain>) {
    let (place, brain) = Setting::page().script(steps);
    assert!(!place.kernel.recompile(SHELL).await.is_error);
    (place, brain)
}

fn fault(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn a_compile_error_has_line_and_column_and_is_mended_in_the_same_turn() {
    let (place, brain) = with_face(vec![
        call("a", "recompile", json!({ "jsx": BROKEN })),
        call("b", "recompile", json!({ "jsx": jsx(2) })),
        ScriptStep::text("A new face."),
    ])
    .await;
    let report = place.say("Break it").await;
    assert_eq!(report.text, "A new face.");
    assert_eq!(report.safe_face, None);
    let (text, is_error) = results(&brain.asked()[1].messages[2]).remove(0);
    assert!(is_error);
    let fault = fault(&text);
    assert_eq!(fault["error"], "compile");
    assert_eq!(fault["errors"][0]["line"], 2);
    assert_eq!(fault["errors"][0]["column"], 23);
    assert!(
        fault["detail"]
            .as_str()
            .unwrap()
            .contains("line 2, column 23")
    );
    assert!(fault["hint"].is_string());
    // The shell before stayed until the new one came.
    let shown: Vec<_> = (place.host.shown.lock().unwrap().iter())
        .map(|shell| shell.compiled.source.clone())
        .collect();
    assert_eq!(shown, [SHELL.to_owned(), jsx(2)]);
    let (text, is_error) = results(&brain.asked()[2].messages[4]).remove(0);
    assert!(!is_error);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&answer["rev"], &answer["component"], &answer["mounted"]),
        (&json!(2), &json!("App"), &json!(true))
    );
    assert!(answer["warnings"].is_array());
}

#[tokio::test]
async fn a_turn_has_five_repairs_and_then_the_safe_jsx() {
    let steps = (0..9).map(|n| {
        let jsx = format!("function App() {{ return ({n}]; }}");
        call(&format!("a{n}"), "recompile", json!({ "jsx": jsx }))
    });
    let (place, brain) = with_face(steps.chain([ScriptStep::text("Hm.")]).collect()).await;
    let report = place.say("Break it").await;
    assert_eq!(brain.asked().len(), 6, "one attempt and five repairs");
    assert_eq!(report.safe_face.unwrap()[0].line, Some(1));
    assert!(report.stopped.is_some());
    // The good shell is still kept, and the conversation is whole.
    assert_eq!(place.kernel.faces().shells().len(), 1);
    let said = place.kernel.messages().await;
    assert_eq!(results(said.last().unwrap()).len(), 1);
}

#[tokio::test]
async fn a_shell_that_does_not_mount_answers_with_its_phase_and_place() {
    let (place, brain) = with_face(vec![
        call("a", "recompile", json!({ "jsx": jsx(2) })),
        call("b", "get_source", json!({})),
        ScriptStep::text("The old one stays."),
    ])
    .await;
    place.host.mounts.lock().unwrap().push_back(crash());
    place.say("A new face").await;
    let (text, is_error) = results(&brain.asked()[1].messages[2]).remove(0);
    let fault = fault(&text);
    assert!(is_error);
    assert_eq!(fault["error"], "render");
    assert_eq!((&fault["line"], &fault["column"]), (&json!(3), &json!(7)));
    let (source, _) = results(&brain.asked()[2].messages[4]).remove(0);
    assert_eq!(source, SHELL, "the running shell is the one before");
    let events = place.events.lock().unwrap();
    let failed = events
        .iter()
        .any(|event| matches!(event, Event::ShellFailed { rev: Some(2), .. }));
    assert!(failed);
}

#[tokio::test]
async fn a_third_face_in_one_turn_is_refused() {
    let steps = (2..5)
        .map(|n| call(&format!("a{n}"), "recompile", json!({ "jsx": jsx(n) })))
        .chain([
            ScriptStep::text("Done."),
            call("z", "recompile", json!({ "jsx": jsx(9) })),
            ScriptStep::text("Again."),
        ]);
    let (place, brain) = with_face(steps.collect()).await;
    let report = place.say("Three faces").await;
    assert_eq!(report.text, "Done.");
    let asked = brain.asked();
    let (text, is_error) = results(asked[3].messages.last().unwrap()).remove(0);
    assert!(
        is_error && text.contains("the face is already new; answer the person"),
        "{text}"
    );
    assert_eq!(place.host.shown.lock().unwrap().len(), 3);
    // A refused face is no failed attempt, and the next turn may have a new one.
    assert_eq!(report.safe_face, None);
    place.say("And now").await;
    assert_eq!(place.host.shown.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn a_patch_replaces_what_occurs_exactly_once() {
    let (place, _) = with_face(vec![]).await;
    let patch = |old: &str, new: &str| json!({ "old": old, "new": new });
    let outcome = place.tool("patch_source", patch("hello", "good day")).await;
    assert!(!outcome.is_error, "{outcome:?}");
    let source = place.tool("get_source", json!({})).await.content;
    assert_eq!(source, SHELL.replace("hello", "good day"));

    let none = place.tool("patch_source", patch("<p>hello</p>", "x")).await;
    assert!(none.is_error);
    assert!(
        none.content["detail"].as_str().unwrap().contains("0 times"),
        "{none:?}"
    );
    let outcome = place
        .tool("patch_source", patch("return <p> good", "x"))
        .await;
    let hint = outcome.content["hint"].as_str().unwrap().to_owned();
    assert!(
        hint.contains("line is 1") || hint.contains("line 1"),
        "{hint}"
    );
    for (old, count) in [("<", 2), ("p", 4), ("", 0)] {
        let outcome = place.tool("patch_source", patch(old, "x")).await;
        assert!(outcome.is_error);
        let detail = outcome.content["detail"].as_str().unwrap();
        assert!(
            detail.contains(&format!("{count} times")),
            "{old}: {detail}"
        );
    }
    // A result that does not compile leaves the shell as it is.
    let outcome = place.tool("patch_source", patch("</p>;", "</p>];")).await;
    assert_eq!(outcome.content["errors"][0]["line"], 1);
    assert_eq!(place.tool("get_source", json!({})).await.content, source);
}

#[tokio::test]
async fn a_patch_of_what_overlaps_itself_is_not_once() {
    let (place, _) = Setting::page().script([]);
    place
        .kernel
        .recompile("function App() { return \"aaa\"; }")
        .await;
    let outcome = place
        .tool("patch_source", json!({"old": "aa", "new": "b"}))
        .await;
    assert!(outcome.is_error);
    assert!(
        outcome.content["detail"]
            .as_str()
            .unwrap()
            .contains("2 times")
    );
}

#[tokio::test]
async fn without_a_shell_there_is_no_source() {
    let (place, _) = Setting::page().script([]);
    for (tool, input) in [
        ("get_source", json!({})),
        ("patch_source", json!({"old": "a", "new": "b"})),
    ] {
        let outcome = place.tool(tool, input).await;
        assert!(
            outcome.is_error && outcome.content["hint"].is_string(),
            "{outcome:?}"
        );
    }
    let outcome = place.kernel.use_shell(7).await;
    assert!(outcome.is_error && outcome.content["error"] == "not_found");
}

#[tokio::test]
async fn the_last_ten_are_kept_with_author_and_time() {
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = Setting::page().in_dir(dir.path()).script([
        call("a", "recompile", json!({ "jsx": jsx(13) })),
        ScriptStep::text("ok"),
    ]);
    for n in 1..=12 {
        place.clock.advance(std::time::Duration::from_mins(1));
        place.kernel.recompile(&jsx(n)).await;
    }
    place.say("One more").await;
    let shells = place.kernel.faces().shells();
    let revs: Vec<_> = shells.iter().map(|shell| shell.rev).collect();
    assert_eq!(revs, (4..=13).collect::<Vec<_>>());
    assert_eq!(
        (shells[0].by.as_str(), shells[9].by.as_str()),
        ("person", "script")
    );
    assert_eq!(shells[0].at.to_string(), "2026-11-22T00:04:00Z");
    assert!(shells.iter().all(|shell| shell.mounted == Some(true)));
    assert_eq!(fs::read_dir(dir.path().join("shells")).unwrap().count(), 10);
    assert_eq!(place.kernel.faces().source(4).unwrap().unwrap(), jsx(4));
    assert_eq!(place.kernel.faces().source(3).unwrap(), None);

    let outcome = place.kernel.use_shell(4).await;
    assert_eq!(outcome.content["rev"], 4);
    assert_eq!(place.tool("get_source", json!({})).await.content, jsx(4));
    // Over a restart, too.
    let (place, _) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(place.boot().await.restored, Some(4));
    assert_eq!(place.kernel.faces().shells().len(), 10);
}

#[tokio::test]
async fn shells_that_fail_never_take_the_place_of_good_ones() {
    let (place, _) = Setting::page().script([]);
    for n in 1..=3 {
        place.kernel.recompile(&jsx(n)).await;
    }
    for n in 0..25 {
        place.host.mounts.lock().unwrap().push_back(crash());
        assert!(place.kernel.recompile(&jsx(100 + n)).await.is_error);
    }
    let shells = place.kernel.faces().shells();
    let good: Vec<_> = shells
        .iter()
        .filter(|shell| shell.mounted == Some(true))
        .map(|shell| shell.rev)
        .collect();
    assert_eq!(good, [1, 2, 3]);
    assert!(shells.len() <= 13, "{}", shells.len());
    assert_eq!(place.tool("get_source", json!({})).await.content, jsx(3));
}

#[tokio::test]
async fn going_back_to_a_shell_that_fails_leaves_the_running_one() {
    let (place, _) = Setting::page().script([]);
    place.kernel.recompile(&jsx(1)).await;
    place.kernel.recompile(&jsx(2)).await;
    place.host.mounts.lock().unwrap().push_back(crash());
    assert!(place.kernel.use_shell(1).await.is_error);
    assert_eq!(place.tool("get_source", json!({})).await.content, jsx(2));
    let rows = place.tool("shell_list", json!({})).await.content;
    assert_eq!(
        (&rows[0]["running"], &rows[1]["running"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(rows[0]["mounted"], false);
}
