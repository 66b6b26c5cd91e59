//! L1: a row of the table of tools and props is all that a new prop and a new tool need.

use std::sync::Arc;

use hermitcrab_kernel::table::{self, Effect, PropArg};
use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use serde_json::{Value, json};

use super::stand::{Setting, Stand, face};

/// A tool that the host runs.
pub const ROW: &str = r#"{
    "tool": "look_out", "prop": "look.out", "args": ["harbour", "hours?"], "group": "sea",
    "description": "The next tides at a harbour.",
    "input_schema": {
        "type": "object",
        "properties": {"harbour": {"type": "string"}, "hours": {"type": "integer"}},
        "required": ["harbour"]
    },
    "effect": "host", "who": "face"
}"#;

#[tokio::test]
async fn a_row_makes_a_prop_and_a_tool_with_no_other_edit() {
    table::add_row(ROW).unwrap();
    assert_eq!(table::tool_group("sea").len(), 1);
    let call = json!({"harbour": "Husum"});
    let steps = [
        face("1"),
        ScriptStep::tools(&[("2", "set_tools", json!({"names": ["sea"]}))]),
        ScriptStep::tools(&[("3", "look_out", call)]),
        ScriptStep::text("High at noon."),
    ];
    let brain = Arc::new(ScriptBrain::new(steps));
    let stand = Setting::default().open(brain.clone()).await;
    let mut page = stand.knock().await;
    let token = stand.session().await.token;
    let hello = json!({"type": "hello", "token": token, "skills": ["look_out"], "visible": true});
    page.tell(hello).await;
    page.event_of("busy", |data| data["busy"] == false).await;

    // The page lets the call through, and the frame has the prop.
    let methods = stand.get("/assets/methods.js").await.body;
    let frame = page.frame.clone().unwrap();
    let bridge = stand.get(&format!("/face/{frame}/bridge.js")).await.body;
    for script in [methods, bridge] {
        let (_, rows) = script.split_once("const PROPS = ").unwrap();
        let rows = rows.split_once(";\n").unwrap().0;
        let rows: Vec<Value> = serde_json::from_str(rows).unwrap();
        let row = rows.iter().find(|row| row["name"] == "look.out").unwrap();
        assert_eq!(row["args"], json!(["harbour", "hours"]));
        assert_eq!(row["types"], json!(["string", "number?"]));
    }

    // A face calls it.
    let asked = page.start_shell("look.out", json!(["Husum", 6])).await;
    let is_ask = |message: &Value| message["type"] == "host_call";
    let ask = page.wait("host_call", is_ask).await;
    assert_eq!(ask["name"], "look_out");
    assert_eq!(ask["args"], json!({"harbour": "Husum", "hours": 6}));
    let told =
        |ask: &Value| json!({"type": "host_reply", "id": ask["id"], "ok": true, "value": "12:00"});
    page.tell(told(&ask)).await;
    assert_eq!(page.reply(asked).await.unwrap(), "12:00");
    for (args, named) in [
        (json!([]), "harbour is missing"),
        (json!([3]), "harbour is a text, here it is a number"),
        (
            json!(["Husum", 6, "more"]),
            "3 arguments, at most 2 are taken",
        ),
    ] {
        let fault = page.shell("look.out", args).await.unwrap_err();
        assert_eq!(fault["detail"], named, "{fault}");
    }

    // The model chooses its group, is sent its schema, and calls it.
    let turn = page
        .start_shell("send", json!(["When is high water?"]))
        .await;
    let ask = page.wait("host_call", is_ask).await;
    assert_eq!(ask["args"], json!({"harbour": "Husum"}));
    page.tell(told(&ask)).await;
    assert_eq!(page.reply(turn).await.unwrap()["text"], "High at noon.");
    let last = brain.asked().pop().unwrap();
    let is_sent = (last.tools.iter()).any(|tool| tool.name() == Some("look_out"));
    assert!(is_sent, "{:?}", last.tools);
    stand.end().await;
}

/// The bar and a face call what the table says, and the program has an answer for each.
#[tokio::test]
async fn every_row_is_answered() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    for prop in table::props() {
        // The browser does these by itself.
        if prop.effect == Effect::Host {
            continue;
        }
        let argument = |arg: &PropArg| match prop.schema["properties"][&arg.name]["type"].as_str() {
            Some("integer" | "number") => json!(99),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("x"),
        };
        // Without arguments no model is asked.
        let args: Vec<_> = if prop.effect == Effect::Model {
            Vec::new()
        } else {
            prop.args.iter().map(argument).collect()
        };
        let call = page.start(None, &prop.name, json!(args)).await;
        if prop.name == "boot" {
            continue;
        }
        let answer = page.reply(call).await;
        let is_known = answer.as_ref().err().map(|fault| &fault["error"]);
        assert_ne!(is_known, Some(&json!("unknown_method")), "{}", prop.name);
    }
    stand.end().await;
}
