//! The protocol's own Python client. `cargo xtask peers mcp` runs the tests that use it.

use std::process::Command;

use serde_json::Value;

use crate::program::ProgramRun;
use crate::skip::variable;

/// Makes calls, an array of `[tool, arguments]`, in both lifecycles of the client named by `MCP_PYTHON`. Returns for each the names of the
/// tools and the results, each with `failed` and `text`.
pub fn answers_to_python(server: &Command, calls: &Value) -> [Value; 2] {
    let python =
        variable("MCP_PYTHON").expect("MCP_PYTHON is not set; `cargo xtask peers mcp` sets it");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    std::fs::write(&file, calls.to_string()).unwrap();
    ["legacy", "auto"].map(|lifecycle| {
        let output = Command::new(&python)
            .args(["-c", include_str!("client.py"), lifecycle])
            .arg(&file)
            .arg(server.get_program())
            .args(server.get_args())
            .output();
        ProgramRun::from(output.unwrap()).exits(0).json()
    })
}
