use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Error;
use crate::workspace::{Workspace, output};

/// The numbers of the workspace's tests, from the lists that the test programs print.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestList {
    /// The tests that run.
    pub run: usize,
    pub ignored: usize,
    /// The tests that need a browser, among those that run.
    pub browser: usize,
}

impl TestList {
    /// Builds the test programs and asks each for its list.
    pub fn build(workspace: &Workspace) -> Result<Self, Error> {
        let mut build = workspace.cargo(&["test", "--locked", "--no-run"]);
        build.args(super::KINDS);
        build.args(["--message-format", "json-render-diagnostics"]);
        let messages = output(&mut build)?;
        let mut list = Self::default();
        for (package, program) in programs(&messages) {
            let names = |more: &[&str]| {
                let mut command = Command::new(&program);
                output(command.args(["--list", "--format", "terse"]).args(more))
            };
            list.add(&package, &names(&[])?, &names(&["--ignored"])?);
        }
        Ok(list)
    }

    /// Adds the tests of one program: lines `NAME: test`, of all and of the ignored ones.
    fn add(&mut self, package: &str, all: &str, ignored: &str) {
        let names = |text| str::lines(text).filter_map(|line| line.strip_suffix(": test"));
        let ignored: Vec<_> = names(ignored).collect();
        for name in names(all).filter(|name| !ignored.contains(name)) {
            self.run += 1;
            self.browser += usize::from(needs_browser(package, name));
        }
        self.ignored += ignored.len();
    }
}

/// Whether a test is in the group `browser` of `.config/nextest.toml`.
fn needs_browser(package: &str, name: &str) -> bool {
    let begins = |module: &str| name.starts_with(module);
    let in_module = |module: &str| begins(module) || name.contains(&format!("::{module}"));
    package == "hermitcrab-face" && begins("face::")
        || in_module("layout::")
        || in_module("findings::")
        || package == "popper-discovery" && begins("browser::")
}

/// The test programs that cargo has built, each with the name of its package.
fn programs(messages: &str) -> Vec<(String, String)> {
    let messages = messages.lines().map(serde_json::from_str::<Value>);
    let programs = messages.map_while(Result::ok).filter_map(|message| {
        let manifest = Path::new(message["manifest_path"].as_str()?);
        let package = manifest.parent()?.file_name()?.to_str()?.to_owned();
        let is_test = message["profile"]["test"] == true;
        let program = message["executable"].as_str().filter(|_| is_test)?;
        Some((package, program.to_owned()))
    });
    programs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_by_what_they_need() {
        let mut list = TestList::default();
        let all = "face::a: test\nface::b: test\nother: test\nbench: benchmark\n";
        list.add("hermitcrab-face", all, "face::b: test\n");
        list.add("report-kit", "page::layout::x: test\nface::c: test\n", "");
        let expected = TestList {
            run: 4,
            ignored: 1,
            browser: 2,
        };
        assert_eq!(list, expected);
    }

    #[test]
    fn tests_with_a_browser_are_those_of_the_group() {
        let group = "package(orrery-hermitcrab-face) & test(/^face::/) | test(/(^|::)(layout|findings)::/) | package(orrery-popper-discovery) & test(/^browser::/)";
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.config/nextest.toml");
        let config = std::fs::read_to_string(config).unwrap();
        assert!(config.contains(&format!("filter = '{group}'\ntest-group = \"browser\"")));
    }

    #[test]
    fn test_programs_are_found_in_the_messages_of_cargo() {
        let messages = r#"{"reason": "compiler-artifact", "manifest_path": "/w/crates/a/Cargo.toml", "profile": {"test": true}, "executable": "/t/a-1"}
{"reason": "compiler-artifact", "manifest_path": "/w/crates/b/Cargo.toml", "profile": {"test": false}, "executable": "/t/b"}
{"reason": "build-finished", "success": true}
"#;
        assert_eq!(programs(messages), [("a".to_owned(), "/t/a-1".to_owned())]);
    }
}
