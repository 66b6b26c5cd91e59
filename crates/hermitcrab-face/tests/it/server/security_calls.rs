//! S3, the server's side: what a shell, or a page that it misuses, may ask for.

use futures_util::SinkExt as _;
use hermitcrab_kernel::ScriptStep;
use hermitcrab_kernel::faces::{Host as _, HostCall, HostError};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::stand::{GatedBrain, Setting, Stand, face};

#[tokio::test]
async fn a_shell_has_its_props_and_nothing_else() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    for method in [
        "nope",
        "",
        "__proto__",
        "constructor",
        "block_read",
        "Send",
        "send ",
        "shell_use",
        "web_request",
        "key",
        // The bar's.
        "useShell",
        "previousShell",
        "safeFace",
        "boot",
        "undo",
        "redo",
        "offline",
        "shells",
        "log",
        "blockNode",
        "blockSave",
        "review",
        "approveEdit",
        "dropEdit",
        "newWindow",
        "tools",
    ] {
        let error = page.shell(method, json!([1])).await.unwrap_err();
        assert_eq!(error["error"], "unknown_method", "{method}: {error}");
    }
    assert_eq!(stand.kernel.faces().shells().len(), 1);
    assert!(
        !page.has(|message| message["type"] == "safe").await,
        "the safe face is not shown"
    );
    stand.end().await;
}

#[tokio::test]
async fn faces_make_a_few_faces_and_not_one_after_another() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    for rev in 2..=4 {
        let jsx = format!("function App() {{ return <p>{rev}</p>; }}");
        let call = page.start_shell("recompile", json!([jsx])).await;
        let show = page.show_of(rev).await;
        page.mount(&show).await;
        page.reply(call).await.unwrap();
    }
    let jsx = "function App() { return <p>once more</p>; }";
    for (method, args) in [
        ("recompile", json!([jsx])),
        ("patchSource", json!(["4", "5"])),
    ] {
        let error = page.shell(method, args).await.unwrap_err();
        assert_eq!(error["error"], "too_often", "{method}: {error}");
    }
    assert_eq!(stand.kernel.faces().shells().len(), 4);
    // The person's own way stays open.
    let call = page.start(None, "useShell", json!([1])).await;
    let show = page.show_of(1).await;
    page.mount(&show).await;
    page.reply(call).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn arguments_are_checked() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    let before = page.bar("blockList", json!([])).await.unwrap();
    let long = "x".repeat(100_000);
    for (method, args) in [
        ("send", json!([3])),
        ("send", json!([])),
        ("send", json!([{"text": "x"}])),
        ("blockRead", json!([])),
        ("blockRead", json!([3])),
        ("blockRead", json!(["memory", "0", "node", "more"])),
        ("blockRead", json!(["memory", {"x": 1}])),
        ("blockWrite", json!(["memory", "0"])),
        ("blockWrite", json!(["memory", ["0"], "x"])),
        ("blockAppend", json!(["memory", "x", "y", 3])),
        ("blockList", json!(["more"])),
        ("recompile", json!([null])),
        ("recompile", json!([["x"]])),
        ("setTools", json!(["web"])),
        ("idb.put", json!(["key", {"x": 1}])),
        ("fs.read", json!(["r1", 3])),
        ("callLLM", json!([7])),
        ("callAPI", json!([])),
        ("callWithToolLoop", json!([3])),
    ] {
        let error = page.shell(method, args.clone()).await.unwrap_err();
        assert!(error["detail"].is_string(), "{method} {args}: {error}");
        assert_eq!(error["error"], "bad_arguments", "{method} {args}: {error}");
    }
    for (method, args, kind) in [
        ("blockRead", json!(["../x"]), "bad_name"),
        ("blockWrite", json!(["memory", "0..1", "x"]), "bad_path"),
        ("blockWrite", json!(["memory", "0.1", long]), "too_large"),
        ("state.set", json!(["x".repeat((1 << 20) - 1)]), "too_large"),
    ] {
        let error = page.shell(method, args).await.unwrap_err();
        assert_eq!(error["error"], kind, "{method}: {error}");
    }
    let error = page.shell("send", json!([long])).await.unwrap_err();
    assert!(
        error["detail"].as_str().unwrap().contains("60000"),
        "{error}"
    );
    assert_eq!(page.bar("blockList", json!([])).await.unwrap(), before);
    stand.end().await;
}

/// Each call gets an answer, however it is made: a shell waits for it.
#[tokio::test]
async fn what_is_no_call_is_refused_and_the_socket_stays() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    let frame = page.frame.clone().unwrap();
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let large = "x".repeat(2 << 20);
    for (id, rest, kind) in [
        (
            101,
            r#""method": 3, "args": []"#.to_owned(),
            "bad_arguments",
        ),
        (
            102,
            r#""method": "send", "args": "x""#.to_owned(),
            "bad_arguments",
        ),
        (
            103,
            r#""method": "send", "args": {"0": "x"}"#.to_owned(),
            "bad_arguments",
        ),
        (104, r#""args": []"#.to_owned(), "bad_arguments"),
        (
            105,
            format!(r#""method": "state.set", "args": {deep}"#),
            "bad_arguments",
        ),
        (
            106,
            format!(r#""method": "state.set", "args": ["{large}"]"#),
            "too_large",
        ),
    ] {
        let call = format!(r#"{{"type": "call", "id": {id}, "frame": "{frame}", {rest}}}"#);
        page.tell_text(&call).await;
        assert_eq!(page.reply(id).await.unwrap_err()["error"], kind, "{id}");
    }
    for text in [
        "",
        "null",
        "[]",
        "{",
        "7",
        r#"{"type": "call"}"#,
        r#"{"type": "call", "id": -1}"#,
        r#"{"type": "nope"}"#,
        r#"{"type": "mounted", "frame": 3}"#,
        r#"{"type": "host_reply", "id": "x"}"#,
        &deep,
        r#"{"type": "log", "frame": "x", "level": "error", "text": "forged"}"#,
    ] {
        page.tell_text(text).await;
    }
    // Said once is enough, and nobody is asked for the token again.
    page.tell(Stand::hello(&stand.session().await)).await;
    page.tell(json!({"type": "hello", "token": "x", "skills": ["open_tab"]}))
        .await;
    let rest = page.rest().await;
    let welcome = |message: &&Value| message["type"] == "welcome";
    assert_eq!(rest.iter().filter(welcome).count(), 0);
    assert!(!stand.host.offers().0.contains("open_tab"));
    page.shell("usage", json!([])).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn who_sends_bytes_or_far_too_much_is_cut_off() {
    let stand = Stand::script([face("1")]).await;
    let mut other = stand.booted().await;
    let mut bytes = stand.page().await;
    bytes
        .socket
        .send(Message::binary(vec![1, 2, 3]))
        .await
        .unwrap();
    bytes.closed().await;
    let mut large = stand.page().await;
    // The server may close before all of it is written.
    let _ = large.socket.send(Message::text("x".repeat(9 << 20))).await;
    large.closed().await;
    other.shell("usage", json!([])).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn a_thousand_calls_at_once_are_not_answered_and_the_bar_still_works() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    let mut other = stand.page().await;
    other.show_of(1).await;
    let mut calls = Vec::new();
    for _ in 0..1_000 {
        calls.push(page.start_shell("blockList", json!([])).await);
    }
    assert_eq!(page.bar("stop", json!([])).await.unwrap()["stopped"], false);
    let mut answered = 0;
    for call in calls {
        match page.reply(call).await {
            Ok(_) => answered += 1,
            Err(error) => assert_eq!(error["error"], "rate"),
        }
    }
    // The burst of 40, and what the time of the test itself allows.
    assert!(
        (1..=500).contains(&answered),
        "{answered} of 1,000 were answered"
    );
    other.shell("usage", json!([])).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn sixteen_calls_are_under_way_and_stop_ends_them() {
    let brain = GatedBrain::new(1, [face("1")]);
    let stand = Setting::default().open(brain).await;
    let mut page = stand.booted().await;
    let mut calls = Vec::new();
    for _ in 0..20 {
        let messages = json!([[{"role": "user", "content": "Hi."}]]);
        calls.push(page.start_shell("callLLM", messages).await);
    }
    for call in &calls[16..] {
        let error = page.reply(*call).await.unwrap_err();
        assert_eq!(error["error"], "rate", "{error}");
    }
    page.bar("stop", json!([])).await.unwrap();
    for call in &calls[..16] {
        page.reply(*call).await.unwrap_err();
    }
    page.shell("usage", json!([])).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn stop_ends_a_turn_and_the_next_one_works() {
    let brain = GatedBrain::new(1, [face("1"), ScriptStep::text("Here.")]);
    let stand = Setting::default().open(brain.clone()).await;
    let mut page = stand.booted().await;
    let call = page.start_shell("send", json!(["Hello?"])).await;
    page.said("user", "Hello?").await;
    let busy = page.shell("send", json!(["And this?"])).await.unwrap_err();
    assert_eq!(busy["error"], "busy");
    assert_eq!(page.bar("stop", json!([])).await.unwrap()["stopped"], true);
    assert_eq!(page.reply(call).await.unwrap()["stopped"], "stopped");
    brain.gate.add_permits(1);
    let said = page.shell("send", json!(["Again."])).await.unwrap();
    assert_eq!(said["text"], "Here.");
    stand.end().await;
}

#[tokio::test]
async fn a_frame_speaks_for_its_own_page_while_it_lives() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    second.show_of(1).await;
    let own = second.frame.clone();
    let foreign = first.frame.clone();
    for frame in [
        foreign.as_deref(),
        Some("AAAAAAAAAAAAAAAAAAAAAA"),
        Some(""),
        Some("0"),
    ] {
        let call = second.start(frame, "usage", json!([])).await;
        assert_eq!(
            second.reply(call).await.unwrap_err()["error"],
            "no_frame",
            "{frame:?}"
        );
    }
    first
        .shell("recompile", json!(["function App() { return <p>2</p>; }"]))
        .await
        .unwrap();
    second.show_of(2).await;
    let call = second.start(own.as_deref(), "usage", json!([])).await;
    assert_eq!(
        second.reply(call).await.unwrap_err()["error"],
        "no_frame",
        "the old frame is dead"
    );
    second.shell("usage", json!([])).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn only_the_page_that_was_asked_answers() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    let ask = || {
        let host = stand.host.clone();
        let call = HostCall {
            name: "notify".to_owned(),
            args: json!({"title": "Hi"}),
        };
        tokio::spawn(async move { host.ask(call).await })
    };
    let is_ask = |message: &Value| message["type"] == "host_call";
    let reply = |id: &Value, rest: Value| {
        let mut message = json!({"type": "host_reply", "id": id});
        message
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        message
    };
    // The page that came into view last.
    let asked = ask();
    let call = second.wait("host_call", is_ask).await;
    assert_eq!(
        (&call["name"], &call["args"]["title"]),
        (&json!("notify"), &json!("Hi"))
    );
    first
        .tell(reply(&call["id"], json!({"ok": true, "value": "forged"})))
        .await;
    assert!(!first.has(is_ask).await);
    second
        .tell(reply(&json!(999), json!({"ok": true, "value": "forged"})))
        .await;
    second
        .tell(reply(&call["id"], json!({"ok": false, "error": "denied"})))
        .await;
    assert_eq!(asked.await.unwrap(), Err(HostError::Denied));

    first
        .tell(json!({"type": "visible", "visible": true}))
        .await;
    first.rest().await;
    let asked = ask();
    let call = first.wait("host_call", is_ask).await;
    first
        .tell(reply(
            &call["id"],
            json!({"ok": true, "value": {"shown": true}}),
        ))
        .await;
    assert_eq!(asked.await.unwrap(), Ok(json!({"shown": true})));

    // The turn was stopped: the page need not ask the person any longer.
    let asked = ask();
    let call = first.wait("host_call", is_ask).await;
    asked.abort();
    let told = first.event("unanswered").await;
    assert_eq!(told["id"], call["id"]);
    first.tell(reply(&call["id"], json!({"ok": true}))).await;

    // The page goes.
    let asked = ask();
    first.wait("host_call", is_ask).await;
    drop(first);
    assert!(matches!(
        asked.await.unwrap(),
        Err(HostError::Unavailable(_))
    ));
    stand.end().await;
}
