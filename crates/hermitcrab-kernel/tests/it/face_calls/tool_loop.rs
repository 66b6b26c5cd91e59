//! The loop in which a face lets a model call tools.

use super::*;

#[tokio::test]
async fn the_loop_runs_tools_in_the_name_of_the_face_and_ends_with_the_last_reply() {
    let write = json!({"name": "skills", "path": "0.8", "content": "A skill of the face's."});
    let (place, brain) = Setting::page().script([
        call("t1", "block_write", write),
        call("t2", "block_reed", json!({})),
        ScriptStep::text("Done."),
    ]);
    let outcome = tool_loop(&place, json!({ "messages": user("Write it") })).await;
    assert_eq!(
        outcome.content["content"],
        json!([{"type": "text", "text": "Done."}])
    );
    assert_eq!(outcome.content["stop_reason"], "end_turn");
    assert_eq!(
        place.text("skills", "0.8").unwrap(),
        "A skill of the face's."
    );
    let name = pscale_blocks::BlockName::new("skills").unwrap();
    let log = place
        .store
        .log(&name, pscale_blocks::store::LogRange::newest(1))
        .unwrap();
    assert_eq!(log[0].by, by_face());
    let asked = brain.asked();
    // Those of the conversation, because the face did not say.
    assert_eq!(names(&asked[0]), place.kernel.tools());
    assert!(asked[0].system[0].as_text().unwrap().contains("material"));
    assert_eq!(results(&asked[2].messages[4]).len(), 1);
    assert!(results(&asked[2].messages[4])[0].1, "there is no such tool");
    let events = place.events.lock().unwrap().clone();
    assert!(events.contains(&Event::BlockChanged {
        name: "skills".to_owned()
    }));
    assert!(place.kernel.messages().await.is_empty());
}

#[tokio::test]
async fn no_tools_means_none_and_others_than_those_named_are_not_run() {
    let (place, brain) = Setting::page().script([
        call("t1", "block_list", json!({})),
        ScriptStep::text("No."),
        call(
            "t2",
            "block_write",
            json!({"name": "skills", "path": "0.8", "content": "x"}),
        ),
        ScriptStep::text("No."),
    ]);
    tool_loop(&place, json!({ "messages": user("a"), "tools": [] })).await;
    assert!(brain.asked()[0].tools.is_empty());
    tool_loop(
        &place,
        json!({ "messages": user("a"), "tools": ["block_read"] }),
    )
    .await;
    let asked = brain.asked();
    assert_eq!(names(&asked[2]), ["block_read"]);
    for (request, tool) in [(1, "block_list"), (3, "block_write")] {
        let (text, is_error) = results(asked[request].messages.last().unwrap()).remove(0);
        assert!(
            is_error && text.contains(tool) && text.contains("inactive"),
            "{text}"
        );
    }
    assert_eq!(place.text("skills", "0.8"), None);
    // A tool of the face's own cannot be run here.
    let own = json!({"name": "weather", "input_schema": {"type": "object"}});
    let outcome = tool_loop(&place, json!({ "messages": user("a"), "tools": [own] })).await;
    refused(&outcome, "unknown_tool", "weather");
}

#[tokio::test]
async fn the_loop_has_ten_rounds_and_the_last_one_is_without_tools() {
    let steps = (0..9)
        .map(|n| {
            call(
                &format!("t{n}"),
                "block_read",
                json!({"name": "skills", "path": format!("0.{n}")}),
            )
        })
        .chain([ScriptStep::text("That is all.")]);
    let (place, brain) = Setting::page().script(steps);
    let outcome = tool_loop(&place, json!({ "messages": user("a") })).await;
    assert_eq!(outcome.content["content"][0]["text"], "That is all.");
    let asked = brain.asked();
    assert_eq!(asked.len(), 10);
    let off: Vec<_> = asked.iter().map(|asked| asked.tools_off).collect();
    assert_eq!(off, [vec![false; 9], vec![true]].concat());
    // The last message of each request has the results of the calls before.
    assert!(
        asked[1..]
            .iter()
            .all(|asked| !results(asked.messages.last().unwrap()).is_empty())
    );
    // A model that calls all the same gets no further.
    let steps = (0..20).map(|n| {
        call(
            &format!("t{n}"),
            "block_read",
            json!({"name": "skills", "path": format!("0.{n}")}),
        )
    });
    let (place, brain) = Setting::page().script(steps);
    let outcome = tool_loop(&place, json!({ "messages": user("a") })).await;
    assert_eq!(outcome.content["stop_reason"], "tool_use");
    assert_eq!(brain.asked().len(), 10);
}

#[tokio::test]
async fn the_same_call_again_and_again_ends_the_loop() {
    let steps = (0..9).map(|n| call(&format!("t{n}"), "block_list", json!({})));
    let (place, brain) = Setting::page().script(steps);
    let outcome = tool_loop(&place, json!({ "messages": user("a") })).await;
    refused(&outcome, "repeated", "too often");
    assert_eq!(brain.asked().len(), 5);
}

#[tokio::test]
async fn what_is_written_after_a_search_of_the_provider_names_the_search() {
    let found = BlockKind::ServerToolResult {
        kind: "web_search_tool_result".to_owned(),
        tool_use_id: "s1".to_owned(),
        error_code: None,
    };
    let write = json!({"name": "memory", "path": "0.8", "content": "Found."});
    let write = ScriptStep::tool_use("t1", "block_write", &write);
    let (place, _) = Setting::page().script([
        ScriptStep::reply(vec![Block::new(found), write], StopReason::ToolUse),
        ScriptStep::text("Done."),
    ]);
    tool_loop(&place, json!({ "messages": user("Search it") })).await;
    let name = pscale_blocks::BlockName::new("memory").unwrap();
    let newest = pscale_blocks::store::LogRange::newest(1);
    let log = place.store.log(&name, newest).unwrap();
    let by = EditAuthor::Model {
        id: "script (face 3)".to_owned(),
        web: Some("a search of the provider".to_owned()),
    };
    assert_eq!(log[0].by, by);
}

#[tokio::test]
async fn a_reply_without_calls_is_the_answer_whatever_ends_it() {
    let ends = [
        (StopReason::EndTurn, "", "end_turn"),
        (StopReason::MaxTokens, "Half of", "max_tokens"),
        (StopReason::ContentFilter, "A part", "refusal"),
        (StopReason::Refusal, "No.", "refusal"),
        (
            StopReason::ContextWindow,
            "",
            "model_context_window_exceeded",
        ),
        (StopReason::Other("odd".to_owned()), "Yes.", "odd"),
    ];
    for (stop, text, reason) in ends {
        let (place, brain) = Setting::page().script([
            call("t1", "block_list", json!({})),
            ScriptStep::reply(vec![Block::text(text)], stop),
        ]);
        place.kernel.faces().note("the face is red");
        let outcome = tool_loop(&place, json!({ "messages": user("a") })).await;
        assert_eq!(outcome.content["content"][0]["text"], text, "{outcome:?}");
        assert_eq!(outcome.content["stop_reason"], reason);
        let asked = brain.asked();
        assert_eq!(asked.len(), 2, "{reason}: nothing more is asked");
        // Lines about the face are for the conversation.
        assert!(!format!("{asked:?}").contains("the face is red"));
        assert!(place.notices().is_empty(), "{:?}", place.notices());
    }
}

#[tokio::test]
async fn a_pause_is_a_round_and_the_tokens_of_all_rounds_are_the_answers() {
    let mut steps: Vec<_> = (0..7).map(|_| costly("Searching", 10, 1)).collect();
    for step in &mut steps {
        if let ScriptStep::Reply(reply) = step {
            reply.stop = StopReason::PauseTurn;
        }
    }
    steps.extend([call("t1", "block_list", json!({})), costly("Done.", 30, 4)]);
    let (place, brain) = Setting::page().script(steps);
    let outcome = tool_loop(&place, json!({ "messages": user("a") })).await;
    assert_eq!(outcome.content["content"][0]["text"], "Done.");
    let usage = &outcome.content["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&json!(100), &json!(11))
    );
    let asked = brain.asked();
    assert_eq!(asked.len(), 9);
    // The content goes back as it came, as one message.
    assert_eq!(asked[7].messages[1].content.len(), 7);
    // The tenth round would be the last: a pause in it is the answer.
    let (place, brain) = Setting::page().script(
        (0..20).map(|_| ScriptStep::reply(vec![Block::text("Searching")], StopReason::PauseTurn)),
    );
    let outcome = tool_loop(&place, json!({ "messages": user("a") })).await;
    assert_eq!(outcome.content["stop_reason"], "pause_turn");
    assert_eq!(
        (brain.asked().len(), brain.asked()[9].tools_off),
        (10, true)
    );
}
