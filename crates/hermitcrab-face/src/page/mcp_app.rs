//! The document of a face in an MCP host: everything is inline, and no request leaves it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermitcrab_kernel::faces::Shell;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::scripts::{TableScripts, bridge, closure};
use super::{PERMISSIONS, TRUSTED_TYPES, face_policy};
use crate::runtime::Runtime;

/// The props that a tool of the MCP server answers; the last three only if it writes.
const PROPS: [&str; 5] = [
    "blockRead",
    "blockList",
    "blockWrite",
    "blockCreate",
    "blockAppend",
];
const READING: usize = 2;

/// Makes the document of an MCP app (`text/html;profile=mcp-app`) that shows a shell.
///
/// The shell runs in a sandboxed frame in the document, so it has an opaque origin in every host. Only these scripts run,
/// by their hashes. `version` is that of the program. The props of blocks call the tools of the MCP server, those that write
/// only if `can_write`; `send` gives a message to the host; every other prop rejects with `unavailable`.
pub fn mcp_app_document(
    shell: &Shell,
    runtime: &Runtime,
    version: &str,
    can_write: bool,
) -> String {
    let bridge = inline(&bridge(include_str!("inline_shell.js")));
    let react = inline(runtime.script());
    let component = inline(&shell.compiled.script);
    let hashes = [&bridge, &react, &component].map(|script| source(script));
    let policy = face_policy(&hashes.join(" "));
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; {TRUSTED_TYPES}\">\n\
         <meta http-equiv=\"x-dns-prefetch-control\" content=\"off\">\n<title>face</title>\n\
         <script>{bridge}</script>\n<script>{react}</script>\n<script>{component}</script>\n\
         </head>\n<body><div id=\"root\"></div></body>\n</html>\n"
    );
    let props = if can_write {
        &PROPS[..]
    } else {
        &PROPS[..READING]
    };
    let app = json!({
        "html": html,
        "rev": shell.rev,
        "props": props,
        "allow": PERMISSIONS.replace(", ", "; ").replace("=()", " 'none'"),
        "given": {"version": version, "model": "", "fastModel": "", "offline": true},
    });
    // The document of the frame has ends of scripts in it.
    let app = app.to_string().replace('<', "\\u003c");
    let outer = inline(&closure(&[
        &TableScripts::new().methods,
        include_str!("frame.js"),
        &format!("const APP = {app};\n"),
        include_str!("mcp_app.js"),
    ]));
    // A frame without an address has the policy of its parent, too.
    let policy = face_policy(&[&hashes[..], &[source(&outer)]].concat().join(" "));
    let style = include_str!("mcp_app.css");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<title>Hermitcrab</title>\n<style>{style}</style>\n\
         </head>\n<body><script>{outer}</script></body>\n</html>\n"
    )
}

/// A script as the content of its element, and as its hash is made. In strings and regular expressions `\x3c` is `<`.
fn inline(script: &str) -> String {
    // A parser of HTML changes these.
    let script = script.replace("\r\n", "\n").replace('\r', "\n");
    let script = script.replace('\0', "\u{fffd}");
    let mut safe = String::with_capacity(script.len());
    for (at, part) in script.split('<').enumerate() {
        if at > 0 {
            let start = part.get(..7).unwrap_or_default();
            let ends = start.eq_ignore_ascii_case("/script") || part.starts_with("!--");
            safe.push_str(if ends { "\\x3c" } else { "<" });
        }
        safe.push_str(part);
    }
    safe
}

/// The source of an inline script in a policy.
fn source(script: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)))
}

#[cfg(test)]
mod tests {
    use hermitcrab_kernel::table::{self, Access};

    use super::*;
    use crate::jsx::compile_shell;

    fn document(jsx: &str) -> String {
        let compiled = compile_shell(jsx).unwrap();
        let shell = Shell { rev: 3, compiled };
        mcp_app_document(&shell, &Runtime::builtin(), "1.2.3", false)
    }

    #[test]
    fn no_text_of_a_shell_ends_its_script() {
        let plain = document("function App() { return <p>x</p>; }");
        for text in [
            "</script><img src=x>",
            "</SCRIPT >",
            "<!--<script>",
            "a\\u0000b",
        ] {
            let held = document(&format!("function App() {{ return <p>{{`{text}`}}</p>; }}"));
            for mark in ["<script", "</script", "<!--"] {
                let count = |html: &str| html.to_ascii_lowercase().matches(mark).count();
                assert_eq!(count(&held), count(&plain), "{text}: {mark}");
            }
        }
        assert_eq!(plain.matches("<script>").count(), 1);
        assert_eq!(
            inline("a<b</scripT>\r\n<!--\r"),
            "a<b\\x3c/scripT>\n\\x3c!--\n"
        );
    }

    #[test]
    fn every_script_runs_by_its_hash_alone() {
        let html = document("function App() { return <p>x</p>; }");
        let script = html.split("<script>").nth(1).unwrap();
        let script = script.split("</script>").next().unwrap();
        let policy = html.split("content=\"").nth(1).unwrap();
        let policy = policy.split('"').next().unwrap();
        assert!(policy.contains(&source(script)));
        assert!(policy.contains("connect-src 'none'") && policy.contains("frame-src 'none'"));
        assert!(!policy.contains("script-src 'unsafe"), "{policy}");
        assert!(script.contains(TRUSTED_TYPES));
    }

    #[test]
    fn the_props_are_a_tools_and_for_faces() {
        for name in PROPS {
            let prop = table::prop(name).unwrap();
            assert!(prop.tool.is_some() && prop.who == Access::Face, "{name}");
        }
    }
}
