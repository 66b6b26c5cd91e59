//! `cargo xtask docs` finds what is wrong with a page or a help: with programs that are scripts, and pages that were damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::packages::root;

/// A program in the place of the four: it checks, and it knows its commands.
const PROGRAM: &str = r#"#!/bin/sh
name=$(basename "$0")
case "$*" in
  "help --tree") echo "$name check"; echo "$name new" ;;
  *--help|*-h)
    case "$*" in *--wrong*) echo "error: unexpected argument"; exit 2 ;; esac
    printf 'Check laws\n\nOptions:\n      --json  As JSON\n\nExamples:\n  %s check --json\n' "$name" ;;
  "check --fail") echo FAIL; exit 4 ;;
  check*) echo "PASS in $PWD"; echo "$name: 1 law" >&2 ;;
  *) exit 2 ;;
esac
"#;

/// A repository with scripts as programs.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for name in ["popper", "zer0gravity", "hermitcrab", "logosphere"] {
            scene.program(&format!("target/debug/{name}"), PROGRAM);
            scene.page(&format!("fixtures/examples/{name}.md"), "# Files\n");
        }
        let target = scene.path().join("target");
        let cargo = metadata(scene.path(), &target);
        scene.program("cargo", &cargo);
        scene
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self, path: &str, text: &str) {
        self.page(path, text);
        let path = self.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn page(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs `cargo xtask docs`; returns the exit code and stderr.
    fn docs(&self, arguments: &[&str]) -> (Option<i32>, String) {
        ended(&docs(self.path(), &self.path().join("cargo"), arguments))
    }
}

/// A `cargo` that names the folders of a workspace, and builds nothing.
fn metadata(root: &Path, target: &Path) -> String {
    let (root, target) = (root.display(), target.display());
    let folders = format!(r#"{{"workspace_root": "{root}", "target_directory": "{target}"}}"#);
    format!("#!/bin/sh\n[ \"$1\" = metadata ] && echo '{folders}'\nexit 0\n")
}

fn docs(root: &Path, cargo: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("docs").args(arguments).current_dir(root);
    command.env("CARGO", cargo).output().unwrap()
}

fn ended(output: &Output) -> (Option<i32>, String) {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    (output.status.code(), said)
}

const GOOD: &str = "# Title\n\n```json law.json\n{}\n```\n\n```console\n$ export X=1\n$ cd ..\n$ cat work/law.json && echo $X\n{}\n1\n$ popper check\nPASS in [PATH]\npopper: 1 law\n$ popper check --fail\nFAIL\n? 4\n```\n\n```sh needs-key\nKEY=x popper check --json | cat\n```\n\n[here](#title)\n";

#[test]
fn a_good_page_holds_and_a_damaged_one_is_found() {
    let scene = Scene::new();
    scene.page("good.md", GOOD);
    assert_eq!(scene.docs(&["good.md"]), (Some(0), String::new()));
    for (found, replacement, problem) in [
        (
            "\n1\n$",
            "\n2\n$",
            "damaged.md:10: other output: $ cat work/law.json && echo $X\n    {}\n  - 2\n  + 1\n",
        ),
        (
            "? 4",
            "? 3",
            "damaged.md:16: exit code 4, expected 3: $ popper check --fail\n    FAIL",
        ),
        (
            "```console",
            "```bash",
            "damaged.md:13: block is not walked; use console or sh",
        ),
        (
            "(#title)",
            "(title.md)",
            "damaged.md:25: broken link: title.md",
        ),
        (
            "```sh needs-key",
            "```sh needs-a-key",
            "damaged.md:21: unknown fence",
        ),
        (
            "check --json |",
            "check --wrong |",
            "damaged.md:22: $ KEY=x popper check --wrong",
        ),
        (
            "law.json\n{}",
            "../law.json\n{}",
            "damaged.md:4: \"../law.json\" is not inside",
        ),
        (
            "$ export X=1\n",
            "",
            "damaged.md:9: exit code 2, expected 0: $ cat",
        ),
    ] {
        assert_eq!(GOOD.matches(found).count(), 1, "{found}");
        scene.page("damaged.md", &GOOD.replace(found, replacement));
        let (code, said) = scene.docs(&["good.md", "damaged.md"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.starts_with(problem), "{said}");
    }
}

#[test]
fn bless_writes_output_and_no_exit_code() {
    let scene = Scene::new();
    let page = "```console\n$ popper check\nPASS in [PATH]\nold\n\n$ popper check --fail\nold\n? 4\n$ popper check --fail\nold\n```\n";
    scene.page("page.md", page);
    let (code, said) = scene.docs(&["page.md", "--bless"]);
    let problem = "page.md:9: exit code 4, expected 0";
    assert!(code == Some(1) && said.starts_with(problem), "{said}");
    let blessed = "```console\n$ popper check\nPASS in [PATH]\npopper: 1 law\n$ popper check --fail\nFAIL\n? 4\n$ popper check --fail\nold\n```\n";
    let written = fs::read_to_string(scene.path().join("page.md")).unwrap();
    assert_eq!(written, blessed);
}

#[test]
fn keys_and_other_machines_are_out_of_reach() {
    let scene = Scene::new();
    let page = "```console\n$ env | grep -c KEY || true\n0\n$ echo $https_proxy\nhttp://127.0.0.1:1\n$ ls\nfixtures\n```\n";
    scene.page("page.md", page);
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["docs", "page.md"]).current_dir(scene.path());
    command.env("CARGO", scene.path().join("cargo"));
    let output = command.env("ANTHROPIC_API_KEY", "x").output().unwrap();
    assert_eq!(ended(&output), (Some(0), String::new()));
}

#[test]
fn helps_and_guides_know_of_each_other() {
    let scene = Scene::new();
    let guide = |name: &str| format!("# {name}\n\n`check`, `new`, `--json`\n");
    let names = ["popper", "zer0gravity", "hermitcrab", "logosphere"];
    for name in names {
        let padding = "\n".repeat(217);
        scene.page(&format!("docs/{name}.md"), &(guide(name) + &padding));
    }
    assert_eq!(scene.docs(&["--lint"]), (Some(0), String::new()));
    assert_eq!(scene.docs(&[]), (Some(0), String::new()));

    let wrong = "# popper\n\n`check`, `--jsn`\n".to_owned() + &"\n".repeat(218);
    scene.page("docs/popper.md", &wrong);
    let long = "x\n".repeat(151);
    scene.page("README.md", &long);
    let (code, said) = scene.docs(&["--lint"]);
    let expected = "README.md: 151 lines, at most 150\ndocs/popper.md: 221 lines, at most 220\ndocs/popper.md:3: no help has --jsn\npopper new: no guide names this command\n";
    assert_eq!((code, said.as_str()), (Some(1), expected));

    let wide = PROGRAM.replace("As JSON", &format!("As {}", "x".repeat(90)));
    let failing = wide.replace("check --json\\n'", "check --fail\\n'");
    scene.program("target/debug/popper", &failing);
    let (code, said) = scene.docs(&[]);
    assert_eq!(code, Some(1));
    let wide = "popper check --help: wider than 80 columns:";
    let fails = "popper check --help: exit code 4, expected 0: $ popper check --fail";
    assert!(said.contains(wide) && said.contains(fails), "{said}");
}

/// Runs `cargo xtask docs` on this repository. nextest has built the programs; otherwise cargo does it first.
pub fn here(arguments: &[&str]) -> (Option<i32>, String) {
    let root = root().canonicalize().unwrap();
    if std::env::var_os("NEXTEST").is_none() {
        return ended(&docs(&root, Path::new(env!("CARGO")), arguments));
    }
    let folder = tempfile::tempdir().unwrap();
    let target = Path::new(env!("CARGO_BIN_EXE_xtask")).ancestors().nth(2);
    let cargo = folder.path().join("cargo");
    fs::write(&cargo, metadata(&root, target.unwrap())).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    ended(&docs(&root, &cargo, arguments))
}

#[test]
fn first_tries_are_answered_as_wanted() {
    let tries = fs::read_dir(root().join("fixtures/newcomer")).unwrap();
    let tries = tries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: Vec<_> = tries
        .map(|name| format!("fixtures/newcomer/{name}"))
        .collect();
    assert!(pages.len() >= 12, "{pages:?}");
    let arguments: Vec<_> = pages.iter().map(String::as_str).collect();
    let (code, said) = here(&arguments);
    assert_eq!(code, Some(0), "{said}");
}
