//! The server with the protocol's own Python client. `cargo xtask peers mcp` runs this test.

use std::env;
use std::process::Command;

use serde_json::{Value, json};

use super::{LAWS, checked, laws};
use crate::process::{Ran, command};

#[test]
#[ignore = "needs MCP_PYTHON"]
fn the_python_client_gets_the_verdicts_of_the_command() {
    let python = env::var("MCP_PYTHON")
        .unwrap_or_else(|_| panic!("MCP_PYTHON is not set; `cargo xtask peers mcp` sets it"));
    for lifecycle in ["legacy", "auto"] {
        for name in LAWS {
            let file = crate::process::file(&format!("sdk.{name}.json"), laws(name).to_string());
            let server = command(&["mcp"]);
            let output = Command::new(&python)
                .args(["-c", include_str!("sdk.py"), lifecycle, &file])
                .arg(server.get_program())
                .args(server.get_args())
                .output();
            let ran = Ran::from(output.unwrap()).exits(0);
            let seen: Value = ran.json();
            assert_eq!(
                seen["tools"],
                json!(["check", "simulate", "explain", "span"])
            );
            assert_eq!(seen["check"]["text"], checked(name), "{lifecycle} {name}");
            assert_eq!(seen["wrong"]["failed"], true, "{seen}");
        }
    }
}
