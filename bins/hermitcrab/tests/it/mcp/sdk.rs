//! The MCP server with the protocol's own Python client. `cargo xtask peers mcp` runs these tests.

use std::env;
use std::process::Command;

use serde_json::{Value, json};

use super::{READING, WRITING, yard};
use crate::program::{Place, Ran};

/// Returns the observations of a client that begins with this lifecycle.
fn seen(place: &Place, lifecycle: &str) -> Value {
    let python = env::var("MCP_PYTHON")
        .unwrap_or_else(|_| panic!("MCP_PYTHON is not set; `cargo xtask peers mcp` sets it"));
    let server = place.command(&["mcp", "--write"]);
    let output = Command::new(python)
        .args(["-c", include_str!("sdk.py"), lifecycle])
        .arg(server.get_program())
        .args(server.get_args())
        .current_dir(place.root())
        .output()
        .unwrap();
    let ran = Ran::from(output).exits(0);
    assert_eq!(ran.stderr, "");
    ran.json()
}

/// Checks the observations of a lifecycle. `missing` is the error code for a resource that does not exist.
fn check(lifecycle: &str, protocol: &str, missing: i64) {
    let place = yard();
    let seen = seen(&place, lifecycle);
    assert_eq!(seen["protocol"], protocol);
    assert_eq!(seen["server"], "hermitcrab");
    assert_eq!(seen["tools"], json!([&READING[..], &WRITING].concat()));
    assert_eq!(seen["before"]["said"][0]["name"], "yard");
    let appended = json!({"failed": false, "said": {"name": "yard", "path": "0.4", "rev": 5}});
    assert_eq!(seen["appended"], appended);
    assert_eq!(seen["missing"]["failed"], true);
    assert_eq!(seen["missing"]["said"]["error"], "no_block");
    assert_eq!(seen["undone"]["said"]["undone"], 1);
    assert_eq!(seen["unknown"], -32602);
    assert_eq!(seen["resources"], json!(["pscale://yard"]));
    assert_eq!(
        seen["templates"],
        json!(["pscale://{block}", "pscale://{block}/{path}"])
    );
    let block = seen["block"].as_str().unwrap();
    assert!(
        block.contains("A saw") && !block.contains("A ladder"),
        "{block}"
    );
    assert!(seen["node"].as_str().unwrap().contains("Larch"), "{seen}");
    assert_eq!(seen["nowhere"], missing);
    assert_eq!(seen["prompts"], json!(["orient"]));
    let orient = seen["orient"].as_str().unwrap();
    assert!(
        orient.contains("== block yard (decimal 1)\n0 What the yard holds."),
        "{orient}"
    );
    assert!(
        seen["later"].as_str().unwrap().contains("A second saw"),
        "{seen}"
    );
    let log = place.json(&["block", "log", "yard", "--limit", "1"]);
    assert_eq!(log["entries"][0]["by"]["model"]["id"], "python sdk");
}

#[test]
#[ignore = "needs MCP_PYTHON"]
fn the_python_client_shakes_hands() {
    check("legacy", "2025-11-25", -32002);
}

#[test]
#[ignore = "needs MCP_PYTHON"]
fn the_python_client_asks_first_what_the_server_can() {
    check("auto", "2026-07-28", -32602);
}
