//! The server with the protocol's own Python client. `cargo xtask peers mcp` runs this test.

use serde_json::{Value, json};
use test_support::mcp::answers_to_python;

use super::{LAWS, checked, laws};
use crate::process::command;

#[test]
#[ignore = "needs MCP_PYTHON"]
fn the_python_client_gets_the_verdicts_of_the_command() {
    let check = |name| json!(["check", {"laws": laws(name), "detail": "full"}]);
    let mut calls: Vec<Value> = LAWS.map(check).into();
    calls.push(json!(["span", {"width": 5}]));
    for seen in answers_to_python(&command(&["mcp"]), &calls.into()) {
        let tools = json!(["check", "simulate", "explain", "span"]);
        assert_eq!(seen["tools"], tools);
        for (name, result) in LAWS.iter().zip(seen["results"].as_array().unwrap()) {
            assert_eq!(result["text"], checked(name), "{name}");
        }
        assert_eq!(seen["results"][LAWS.len()]["failed"], true, "{seen}");
    }
}
