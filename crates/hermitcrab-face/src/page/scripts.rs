//! The scripts that begin with the table of props.

use hermitcrab_kernel::table::{self, Prop};
use serde_json::{Value, json};

/// The name of the script below `/assets/` that holds the table for the page.
pub(crate) const METHODS: &str = "methods.js";

/// Scripts that a server writes when it starts.
pub(crate) struct TableScripts {
    /// The props, the names of protected files, and the check of calls.
    pub methods: String,
    /// The first script of a frame: one closure, so that nothing of it is global.
    pub bridge: String,
}

impl TableScripts {
    pub fn new() -> Self {
        let props = props();
        let protected = json!(table::protected_names());
        let methods = format!(
            "export const PROPS = {props};\nexport const PROTECTED = {protected};\n\n{}",
            include_str!("methods.js")
        );
        let bridge = bridge(include_str!("loaded_shell.js"));
        Self { methods, bridge }
    }
}

/// The first script of a frame that gets its shell as `load` says.
pub(super) fn bridge(load: &str) -> String {
    let parts = concat!(
        include_str!("hardening.js"),
        include_str!("report.js"),
        include_str!("calls.js"),
        include_str!("bridge.js"),
    );
    let props = props();
    closure(&[&format!("const PROPS = {props};\n"), load, parts])
}

/// Scripts as one closure. Modules among them lose their imports and exports.
pub(super) fn closure(scripts: &[&str]) -> String {
    let lines = scripts.iter().flat_map(|script| script.lines());
    let lines = lines.filter(|line| !line.starts_with("import "));
    let mut text = "(() => {\n'use strict';\n".to_owned();
    for line in lines {
        text.push_str(line.strip_prefix("export ").unwrap_or(line));
        text.push('\n');
    }
    text.push_str("})();\n");
    text
}

/// The rows of the table.
fn props() -> Value {
    table::props().iter().map(row).collect()
}

/// A row as the scripts read it.
fn row(prop: &Prop) -> Value {
    let names: Vec<_> = prop.args.iter().map(|arg| &arg.name).collect();
    json!({
        "name": prop.name,
        "tool": prop.tool,
        "args": names,
        "types": types(prop),
        "effect": prop.effect,
        "who": prop.who,
    })
}

/// The type of each argument as the page checks it: `string`, or `string?` for one that may be left out.
fn types(prop: &Prop) -> Vec<String> {
    let of = |name: &str| match prop.schema["properties"][name]["type"].as_str() {
        Some("integer") => "number",
        Some(kind) => kind,
        // A choice is one of some words.
        None if prop.schema["properties"][name].get("enum").is_some() => "string",
        None => "any",
    };
    let typed = prop.args.iter().map(|arg| {
        let mark = if arg.is_optional { "?" } else { "" };
        format!("{}{mark}", of(&arg.name))
    });
    typed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bridge_is_one_closure() {
        let TableScripts { bridge, .. } = TableScripts::new();
        assert!(bridge.starts_with("(() => {\n'use strict';"));
        assert!(bridge.ends_with("})();\n"));
        assert!(bridge.find("function disarm()") < bridge.find("= disarm();"));
    }

    #[test]
    fn types_are_those_of_the_schema() {
        for (name, expected) in [
            ("send", &["string"][..]),
            ("stop", &[]),
            ("callLLM", &["array", "object?"]),
            ("blockRead", &["string", "string?", "string?"]),
            ("setTools", &["array"]),
            ("state.set", &["any"]),
            ("browser.speak", &["string", "number?"]),
            ("fs.read", &["string", "string", "number?"]),
            ("log", &["string?", "number?"]),
            ("useShell", &["number"]),
        ] {
            assert_eq!(types(table::prop(name).unwrap()), expected, "{name}");
        }
    }
}
