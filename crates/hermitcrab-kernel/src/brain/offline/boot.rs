use serde_json::{Value, json};

use super::view::ConversationView;
use super::{Move, SHELL};

/// The number of attempts to compile the script's shell.
const TRIES: usize = 2;

/// Orients itself, writes a face where there is a page, and greets.
pub(super) fn next(view: &ConversationView<'_>) -> Move {
    let Some(memory) = view.last("block_read") else {
        let calls = vec![
            (
                "block_read",
                json!({"name": "constitution", "path": "0.6", "view": "subtree"}),
            ),
            ("block_read", json!({"name": "capabilities", "path": "0"})),
            ("block_list", json!({})),
            ("block_read", json!({"name": "memory", "path": "0"})),
        ];
        return Move::Call(String::new(), calls);
    };
    let blocks = view
        .last("block_list")
        .and_then(|list| list.result.as_array().map(Vec::len));
    let greeting = greeting(&memory.result, blocks);
    if view.terminal || !view.has("recompile") {
        return Move::Say(greeting);
    }
    let tries: Vec<_> = view
        .calls
        .iter()
        .filter(|call| call.name == "recompile")
        .collect();
    match tries.last() {
        None => Move::Call(greeting, vec![("recompile", json!({"jsx": SHELL}))]),
        Some(last) if !last.is_error => Move::Say("The face is up.".to_owned()),
        Some(_) if tries.len() < TRIES => Move::call("recompile", json!({"jsx": SHELL})),
        Some(last) => Move::Say(format!("My face does not compile: {}", last.failure())),
    }
}

/// Words by what memory holds.
fn greeting(memory: &Value, blocks: Option<usize>) -> String {
    let entries: Vec<&str> = memory["children"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(digit, _)| *digit != "0")
        .filter_map(|(_, text)| text.as_str())
        .collect();
    let blocks = match blocks {
        Some(n) => format!("{n} blocks are here."),
        None => "The blocks are here.".to_owned(),
    };
    let known = match entries.last() {
        None => "My memory is empty: this is a first meeting.".to_owned(),
        Some(last) => format!(
            "Welcome back. Memory has {} {} on its first level, the last one: {}.",
            entries.len(),
            if entries.len() == 1 {
                "entry"
            } else {
                "entries"
            },
            super::say::clause(last),
        ),
    };
    format!(
        "Hello. I am the offline script of this hermitcrab, not a model. {blocks} {known} Say \"help\" for what I do."
    )
}
