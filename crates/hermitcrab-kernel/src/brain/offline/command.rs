use serde_json::{Value, json};

use super::view::{ConversationView, OfflineToolCall};
use super::{Move, SHELL, say};

const HELP: &str = "I am a script, not a model. I understand:\n\
    list\n\
    read BLOCK [PATH]\n\
    write BLOCK PATH: text\n\
    create BLOCK: what it is for\n\
    remember: text\n\
    tools NAME NAME …\n\
    bigger text\n\
    colour #223344\n\
    break (writes a faulty face, reads the error, repairs it)\n\
    time\n\
    help";
/// The lines of the shell that it knows how to change.
const SIZE: &str = "const SIZE = ";
const GROUND: &str = "const GROUND = ";
/// More summaries than any block asks for at once.
const SUMMARIES: usize = 8;

/// A command of the person.
enum Command<'a> {
    List,
    Read {
        name: &'a str,
        path: &'a str,
    },
    Write {
        name: &'a str,
        path: &'a str,
        text: &'a str,
    },
    Create {
        name: &'a str,
        text: &'a str,
    },
    Remember(&'a str),
    Tools(Vec<&'a str>),
    Bigger,
    Colour(&'a str),
    Break,
    Time,
    Help,
}

/// Does what the person asks, one step after another.
pub(super) fn next(view: &ConversationView<'_>) -> Move {
    let Some(command) = parse(view.words) else {
        return Move::Say("That is not in my script; try `help`.".to_owned());
    };
    match command {
        Command::Help => Move::Say(HELP.to_owned()),
        Command::Remember(text) => remember(view, text),
        Command::Bigger => change(view, SIZE, bigger),
        Command::Colour(colour) => change(view, GROUND, |_| Some(format!("'{colour}'"))),
        Command::Break => break_and_repair(view),
        Command::List => once(view, "block_list", json!({}), say::blocks),
        Command::Read { name, path } => {
            let input = json!({"name": name, "path": path});
            once(view, "block_read", input, say::node)
        }
        Command::Write { name, path, text } => {
            let input = json!({"name": name, "path": path, "content": text});
            once(view, "block_write", input, |result| {
                waits(result).unwrap_or_else(|| format!("Written to {name} {path}."))
            })
        }
        Command::Create { name, text } => {
            let input = json!({"name": name, "pscale0": text});
            once(view, "block_create", input, |result| {
                waits(result).unwrap_or_else(|| format!("Block {name} is made."))
            })
        }
        Command::Tools(names) => once(view, "set_tools", json!({"names": names}), |result| {
            format!("The tools of the next calls: {}", say::plain(result))
        }),
        Command::Time => once(view, "get_datetime", json!({}), say::plain),
    }
}

fn parse(words: &str) -> Option<Command<'_>> {
    let (head, text) = match words.split_once(':') {
        Some((head, text)) => (head, Some(text.trim()).filter(|text| !text.is_empty())),
        None => (words, None),
    };
    let parts: Vec<&str> = head.split_whitespace().collect();
    Some(match (parts.as_slice(), text) {
        (["list"], None) => Command::List,
        (["read", name], None) => Command::Read { name, path: "0" },
        (["read", name, path], None) => Command::Read { name, path },
        (["write", name, path], Some(text)) => Command::Write { name, path, text },
        (["create", name], Some(text)) => Command::Create { name, text },
        (["remember"], Some(text)) => Command::Remember(text),
        (["tools", names @ ..], None) if !names.is_empty() => Command::Tools(names.to_vec()),
        (["bigger", "text"], None) => Command::Bigger,
        (["colour" | "color", colour], None) if is_colour(colour) => Command::Colour(colour),
        (["break"], None) => Command::Break,
        (["time"], None) => Command::Time,
        (["help"], None) => Command::Help,
        _ => return None,
    })
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        [3, 6].contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit())
    })
}

/// Calls a tool and reports its result.
fn once(
    view: &ConversationView<'_>,
    tool: &'static str,
    input: Value,
    say: impl Fn(&Value) -> String,
) -> Move {
    match view.last(tool) {
        None => Move::call(tool, input),
        Some(call) => Move::Say(told(call, say)),
    }
}

/// The words for an edit that waits for the person.
fn waits(result: &Value) -> Option<String> {
    let id = result["queued"].as_str()?;
    let why = result["why"].as_str().unwrap_or_default();
    Some(format!("It waits for you as {id}: {why}."))
}

fn told(call: &OfflineToolCall<'_>, say: impl Fn(&Value) -> String) -> String {
    match &call.result {
        _ if call.is_error => format!("It did not work: {}", call.failure()),
        // A result that was cut is no JSON any longer.
        Value::String(text) => text.clone(),
        result => say(result),
    }
}

/// Appends to memory. When nine are full, their first clauses are the summary.
fn remember(view: &ConversationView<'_>, text: &str) -> Move {
    let mut input = json!({"name": "memory", "content": text});
    let Some(last) = view.last("block_append") else {
        return Move::call("block_append", input);
    };
    // A question about the summary is answered by sending it again.
    let questioned = last.result["written"] == false;
    let asks = !last.is_error && (questioned || !last.result["needs_summary"].is_null());
    if !asks {
        let done = |result: &Value| {
            let path = result["path"].as_str().unwrap_or("memory");
            format!("Remembered at {path}.")
        };
        return Move::Say(told(last, done));
    }
    if view.calls.len() > SUMMARIES {
        return Move::Say("Memory asks for one summary after another; I stop here.".to_owned());
    }
    let asked = view
        .calls
        .iter()
        .rev()
        .find(|call| !call.result["entries"].is_null());
    let entries = asked.and_then(|call| call.result["entries"].as_array());
    let entries = entries.into_iter().flatten();
    let clauses: Vec<String> = entries
        .filter_map(|entry| entry.as_str().or(entry["text"].as_str()))
        .map(say::clause)
        .collect();
    input["summary"] = clauses.join("; ").into();
    input["kind"] = "summary".into();
    Move::call("block_append", input)
}

/// Puts another value after `mark` in the running shell.
fn change(view: &ConversationView<'_>, mark: &str, new: impl Fn(&str) -> Option<String>) -> Move {
    if let Some(patched) = view.last("patch_source") {
        return Move::Say(told(patched, |_| "The face is changed.".to_owned()));
    }
    let Some(got) = view.last("get_source") else {
        return Move::call("get_source", json!({}));
    };
    if got.is_error {
        return Move::Say(told(got, |_| String::new()));
    }
    let source = got.source().unwrap_or_default();
    let lines = source.lines().map(str::trim_end);
    let patch = lines
        .filter_map(|line| Some((line, line.strip_prefix(mark)?.strip_suffix(';')?)))
        .find_map(|(line, old)| Some((line, format!("{mark}{};", new(old)?))));
    match patch {
        Some((old, new)) => Move::call("patch_source", json!({"old": old, "new": new})),
        None => Move::Say(format!(
            "The face has no line \"{mark}…\", and I know no other way to change it."
        )),
    }
}

fn bigger(size: &str) -> Option<String> {
    let size: u32 = size.parse().ok()?;
    Some(size.saturating_add(2).min(40).to_string())
}

/// Sends a face with a fault, reads the error, and sends the face without it.
fn break_and_repair(view: &ConversationView<'_>) -> Move {
    let tries: Vec<_> = view
        .calls
        .iter()
        .filter(|call| call.name == "recompile")
        .collect();
    match tries.as_slice() {
        [] => {
            // Also a compiler that only looks at brackets finds it.
            let faulty = SHELL.replacen("</main>", "</man>}", 1);
            Move::call("recompile", json!({"jsx": faulty}))
        }
        [first] if first.is_error => {
            let word = format!("The compiler says: {}. I repair it.", first.failure());
            Move::Call(word, vec![("recompile", json!({"jsx": SHELL}))])
        }
        [_] => Move::Say("The faulty face was taken: something is wrong.".to_owned()),
        [.., last] => Move::Say(told(last, |_| "The face is repaired.".to_owned())),
    }
}
