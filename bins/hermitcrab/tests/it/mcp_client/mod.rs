//! Tools of other programs, which may do anything: rows M1 and M2.

mod faults;
mod grants;
mod server;

use std::process::Command;

use serde_json::{Value, json};

use crate::model::Talk;
use crate::program::{DATA, Place, Ran, finish, start};

/// Returns a command on the servers of a place.
fn mcp(place: &Place, arguments: &[&str]) -> Command {
    place.bare(&[&["--data", DATA, "mcp"], arguments].concat())
}

/// Adds a server without faults, with these tools.
#[track_caller]
fn add(place: &Place, allowed: &[&str], flags: &[&str]) -> Ran {
    let mut words = vec!["add", "faulty"];
    words.extend(flags);
    words.extend(allowed.iter().flat_map(|tool| ["--allow", tool]));
    let command = server::command("none");
    words.push("--");
    words.extend(command.iter().map(String::as_str));
    finish(start(&mut mcp(place, &words))).exits(0)
}

/// Gives the server of a place another fault.
fn set_fault(place: &Place, fault: &str) {
    let file = place.read("data/servers.json");
    let (before, rest) = file.split_once("\"fault:").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    place.file(
        "data/servers.json",
        format!("{before}\"fault:{fault}\"{after}"),
    );
}

/// Returns a talk with a server that has this fault, of which `find` is allowed.
fn with_fault(talk: Talk, fault: &str) -> Talk {
    add(&talk.place, &["find"], &[]);
    set_fault(&talk.place, fault);
    talk
}

/// The text of a tool's result, and whether it is an error.
fn result(talk: &Talk, id: &str) -> (String, bool) {
    let bodies = talk.asked();
    let messages = bodies.iter().filter_map(|body| body["messages"].as_array());
    let blocks = messages
        .flatten()
        .filter_map(|message| message["content"].as_array());
    let mut blocks = blocks.flatten();
    let found = blocks.find(|block| block["tool_use_id"] == id);
    let found = found.unwrap_or_else(|| panic!("no result {id}: {bodies:#?}"));
    let content = &found["content"];
    let text = content.as_str().map_or_else(
        || content[0]["text"].as_str().unwrap().to_owned(),
        str::to_owned,
    );
    (text, found["is_error"] == true)
}

/// Returns the names of the tools of a request.
fn tools(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

fn choice() -> Value {
    json!({"names": ["mcp:faulty"]})
}
