//! The page that links the pages of all programs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::demo_result::DemoResult;
use crate::Error;
use crate::workspace::{Workspace, works};

/// Like a report, the page loads nothing. It has neither style nor script.
const HEAD: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Orrery: results of the demo</title>
<h1>Results of the demo</h1>
"#;

/// Writes `index.html` into the folder of the demo.
pub fn write(workspace: &Workspace, results: &[DemoResult]) -> Result<PathBuf, Error> {
    let folder = workspace.target.join("demo");
    let path = folder.join("index.html");
    let from = format!("{}/", workspace.relative(&folder).display());
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, page(results, &from)));
    match written {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::File { path, source }),
    }
}

/// A heading, the line and the link of each program; links begin after `from`.
fn page(results: &[DemoResult], from: &str) -> String {
    let mut page = HEAD.to_owned();
    for result in results {
        let (program, line) = (escaped(&result.program), escaped(&result.line()));
        // Writing to a string does not fail.
        let _ = writeln!(page, "<h2>{program}</h2>\n<p>{line}</p>");
        if let Some(link) = result.page() {
            let link = escaped(link.strip_prefix(from).unwrap_or(link));
            let _ = writeln!(page, "<p><a href=\"{link}\">{link}</a></p>");
        }
    }
    page
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// Opens the page; where nothing can show it, the path is printed.
pub fn open(path: &Path) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/c", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let displays = ["DISPLAY", "WAYLAND_DISPLAY"];
    let has_display = !cfg!(target_os = "linux") || displays.into_iter().any(is_set);
    if !(has_display && works(command.arg(path))) {
        eprintln!(
            "xtask: no browser can be opened here; the page is {}",
            path.display()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::demo_result::DemoOutcome;

    #[test]
    fn a_page_links_each_result_and_escapes_it() {
        let result = |program: &str, outcome| DemoResult {
            program: program.to_owned(),
            outcome,
        };
        let shown = DemoOutcome {
            line: "1 < 2".to_owned(),
            page: "target/demo/a/report.html".to_owned(),
        };
        let reason = "x".to_owned();
        let results = [
            result("a", Ok(shown)),
            result("b", Err(Error::Program { reason })),
        ];
        let page = page(&results, "target/demo/");
        let expected = "<h2>a</h2>\n<p>1 &lt; 2</p>\n<p><a href=\"a/report.html\">a/report.html</a></p>\n<h2>b</h2>\n<p>failed: x</p>\n";
        assert!(page.ends_with(expected), "{page}");
        assert!(page.contains("default-src 'none'"));
    }
}
