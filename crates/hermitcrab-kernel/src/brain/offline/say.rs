//! Results of tools in words.

use serde_json::Value;

/// The most characters of a clause.
const CLAUSE: usize = 60;

/// The answer where nothing can be called, as when a face asks: there is nothing that a script could do.
pub(super) const NO_MODEL: &str =
    "I am a script, not a model: I have no answer to this. With a key a model answers here.";

/// The first clause of a text.
pub(super) fn clause(text: &str) -> String {
    let end = text
        .find(['.', ';', ',', ':', '!', '?', '\n'])
        .unwrap_or(text.len());
    let clause = text[..end].trim();
    let clause = if clause.is_empty() {
        text.trim()
    } else {
        clause
    };
    clause.chars().take(CLAUSE).collect()
}

/// The rows of a list of blocks.
pub(super) fn blocks(list: &Value) -> String {
    let rows = list.as_array().into_iter().flatten();
    let lines: Vec<String> = rows
        .map(|row| {
            format!(
                "{} ({} nodes): {}",
                row["name"].as_str().unwrap_or("?"),
                row["nodes"],
                row["head"].as_str().unwrap_or("no head")
            )
        })
        .collect();
    if lines.is_empty() {
        return "There is no block.".to_owned();
    }
    lines.join("\n")
}

/// A node with its children.
pub(super) fn node(node: &Value) -> String {
    let path = node["path"].as_str().unwrap_or_default();
    let mut lines = vec![format!(
        "{path} {}",
        node["content"].as_str().unwrap_or("(no text)")
    )];
    for (digit, text) in node["children"].as_object().into_iter().flatten() {
        lines.push(format!(
            "{path}.{digit} {}",
            text.as_str().unwrap_or("(no text)")
        ));
    }
    lines.join("\n")
}

/// Any result: the fields of an object one by one.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let parts = fields.iter();
            let parts: Vec<String> = parts
                .map(|(name, value)| format!("{name}: {}", plain(value)))
                .collect();
            parts.join("; ")
        }
        other => other.to_string(),
    }
}
