//! The files that a browser gets, as they stand in the tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// The scripts that are part of another script: the first one of a frame, or the one of an MCP app.
const PARTS: [&str; 7] = [
    "hardening.js",
    "report.js",
    "calls.js",
    "bridge.js",
    "loaded_shell.js",
    "inline_shell.js",
    "mcp_app.js",
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/page")
}

fn is_script(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, kind)| kind == "js")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names in `"./name.js"` after `from`, of imports.
fn imports(script: &str) -> BTreeSet<String> {
    let parts = script.split("from './").skip(1);
    parts
        .filter_map(|part| Some(part.split_once('\'')?.0.to_owned()))
        .collect()
}

/// The values of `attribute="` up to the next quote.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let parts = page.split(&*start).skip(1);
    parts
        .filter_map(|part| Some(part.split_once('"')?.0))
        .collect()
}

#[test]
fn pages_hold_no_code_and_no_style_of_their_own() {
    for name in ["index.html", "frame.html"] {
        let page = read(name);
        assert!(!page.contains("<style"), "{name}");
        for bad in [
            " style=",
            " onclick=",
            " onload=",
            " onerror=",
            "javascript:",
        ] {
            assert!(!page.contains(bad), "{name}: {bad}");
        }
        let scripts = page.split("<script").skip(1);
        for script in scripts {
            let (tag, rest) = script.split_once('>').unwrap();
            assert!(tag.contains(" src=\""), "{name}: {tag}");
            assert!(rest.starts_with("</script>"), "{name}: {tag}");
        }
    }
}

#[test]
fn the_frame_loads_two_scripts_and_nothing_else() {
    let frame = read("frame.html");
    assert_eq!(values(&frame, "src"), ["bridge.js", "react.js"]);
    // Without it the lines of errors do not reach an opaque origin.
    assert_eq!(values(&frame, "crossorigin"), ["anonymous", "anonymous"]);
    for bad in ["<link", "<meta", "<base", "href="] {
        assert!(!frame.contains(bad), "{bad}");
    }
}

#[test]
fn the_page_and_its_scripts_load_what_is_there() {
    let index = read("index.html");
    let mut loaded = BTreeSet::new();
    for address in [values(&index, "src"), values(&index, "href")].concat() {
        if address != "data:," {
            let name = address.strip_prefix("/assets/");
            loaded.insert(name.expect(address).to_owned());
        }
    }
    let mut todo: Vec<String> = loaded.iter().cloned().collect();
    while let Some(name) = todo.pop() {
        if !is_script(&name) {
            continue;
        }
        for one in imports(&read(&name)) {
            if loaded.insert(one.clone()) {
                todo.push(one);
            }
        }
    }
    // Every script of the folder is either of the page or of the frame, and is served.
    let list = read("mod.rs") + &read("scripts.rs");
    let entries = fs::read_dir(folder()).unwrap();
    for name in entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        if is_script(&name) && !PARTS.contains(&&*name) {
            assert!(loaded.contains(&name), "{name} is loaded by nothing");
            assert!(
                list.contains(&format!("\"{name}\"")),
                "{name} is not listed"
            );
        }
    }
    assert!(loaded.contains("style.css"));
}

#[test]
fn scripts_make_no_markup_of_texts_and_no_code() {
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !is_script(&name) || name == "hardening.js" {
            continue;
        }
        let script = read(&name);
        for bad in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "localStorage",
            "sessionStorage",
            "allow-same-origin",
        ] {
            assert!(!script.contains(bad), "{name}: {bad}");
        }
    }
}
