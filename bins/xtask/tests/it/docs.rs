//! `cargo xtask docs` finds what is wrong with a page or a help: with programs that are scripts, and pages that were damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::gate::program;
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
        // The packages are `orrery-hidden` and `popper`: a folder may have another name.
        scene.page("crates/hidden/Cargo.toml", "");
        scene.page("bins/popper/Cargo.toml", "");
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
        program(&self.path().join(path), text);
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
    let packages = r#"[{"name": "popper"}, {"name": "orrery-hidden"}]"#;
    let folders = format!(
        r#"{{"workspace_root": "{root}", "target_directory": "{target}", "packages": {packages}}}"#
    );
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

const GOOD: &str = "# Title\n\n```json law.json\n{}\n```\n\n```console\n$ export X=1\n$ cd ..\n$ cat work/law.json && echo $X\n{}\n1\n$ popper check\nPASS in [PATH]\npopper: 1 law\n$ popper check --fail\nFAIL\n? 4\n```\n\n```sh needs-key\nKEY=x popper check --json | cat\ncargo test -p popper\ncargo test -p orrery-hidden\n```\n\n[here](#title)\n";

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
        ("```console", "```bash", "damaged.md:7: unknown fence"),
        (
            "```console",
            "```text",
            "damaged.md:13: block is not walked; use console or sh",
        ),
        (
            "(#title)",
            "(title.md)",
            "damaged.md:27: broken link: title.md",
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
            "law.json\n{}",
            "law.json\n{\n\"a\": }",
            "damaged.md:5: not JSON: expected value",
        ),
        (
            "```\n\n[here]",
            "\n[here]",
            "damaged.md:21: fence without an end\n",
        ),
        (
            "| cat",
            "| cargo test -p hidden",
            "damaged.md:22: no package \"hidden\": $ KEY=x popper check",
        ),
        (
            "| cat",
            "| cargo test --package orrery-popper",
            "damaged.md:22: no package \"orrery-popper\": $ KEY=x popper check",
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
fn bless_writes_nothing_that_is_read_in_another_way() {
    let scene = Scene::new();
    for output in ["$ ls", "? 3", "```", "> more", "[NUM]"] {
        let page = format!("```console\n$ echo '{output}'\nold\n```\n");
        scene.page("page.md", &page);
        let (code, said) = scene.docs(&["page.md", "--bless"]);
        let problem = "page.md:2: a page cannot have this output; leave a line open with `...`";
        assert!(code == Some(1) && said.starts_with(problem), "{said}");
        let written = fs::read_to_string(scene.path().join("page.md")).unwrap();
        assert_eq!(written, page);
    }
}

#[test]
fn an_exit_code_is_the_last_line_alone() {
    let scene = Scene::new();
    let page = "```console\n$ printf '? 3\\nend\\n'\n? 3\nend\n\n$ popper check --fail\nFAIL\n? 4\n\n```\n";
    scene.page("page.md", page);
    assert_eq!(scene.docs(&["page.md"]), (Some(0), String::new()));
}

#[test]
fn a_page_changes_neither_the_repository_nor_leaves_processes() {
    let scene = Scene::new();
    scene.page("fixtures/law.json", "{}");
    let fifo = scene.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // A reader receives the end of the file when no process has it open for writing any more.
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read_to_string(fifo).unwrap()
    });
    let left = format!(
        "exec 3> {}; (sleep 20; echo survived >&3) &",
        fifo.display()
    );
    let page = format!("```sh\necho x > fixtures/law.json\n{left}\n```\n");
    scene.page("page.md", &page);
    assert_eq!(scene.docs(&["page.md"]), (Some(0), String::new()));
    assert_eq!(reader.join().unwrap(), "");
    let law = fs::read_to_string(scene.path().join("fixtures/law.json")).unwrap();
    assert_eq!(law, "{}");
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
    let wide = wide.replace(
        "Options:\\n",
        &format!("Options:\\n{}", "  x\\n".repeat(40)),
    );
    let failing = wide.replace("check --json\\n'", "check --fail\\n'");
    scene.program("target/debug/popper", &failing);
    let (code, said) = scene.docs(&[]);
    assert_eq!(code, Some(1));
    let wide = "popper check --help: wider than 80 columns:";
    let fails = "popper check --help: exit code 4, expected 0: $ popper check --fail";
    let tall = "popper check --help: -h has 47 lines, at most 40";
    assert!(
        [wide, fails, tall].iter().all(|line| said.contains(line)),
        "{said}"
    );
}

#[test]
fn contributing_is_walked_and_prose_names_commands_that_exist() {
    let scene = Scene::new();
    for name in ["popper", "zer0gravity", "hermitcrab", "logosphere"] {
        scene.page(
            &format!("crates/{name}/README.md"),
            "`popper new`, `popper frobnicate x`\n",
        );
    }
    scene.page(
        "CONTRIBUTING.md",
        "```sh\nfalse\n```\n`NAME check`, `NAME new`, `popper\nchekc`\n",
    );
    scene.page("CHANGELOG.md", "`popper span`\n");
    let (code, said) = scene.docs(&["CONTRIBUTING.md", "CHANGELOG.md"]);
    let expected = "CONTRIBUTING.md:4: no command `popper chekc`\nCONTRIBUTING.md:2: exit code 1, expected 0: $ false\n    \n";
    assert_eq!((code, said.as_str()), (Some(1), expected));
    let (_, said) = scene.docs(&[]);
    assert!(said.contains("CONTRIBUTING.md:2: exit code 1"), "{said}");
    let expected = "crates/hermitcrab/README.md:1: no command `popper frobnicate`\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn the_examples_of_a_group_are_run_like_those_of_a_command() {
    let scene = Scene::new();
    let group = PROGRAM.replace("echo \"$name new\"", "echo \"$name new law\"");
    let failing = group.replace(
        "  *--help|*-h)",
        "  'new --help') printf 'Make it\\n\\nExamples:\\n  popper check --fail\\n' ;;\n  *--help|*-h)",
    );
    scene.program("target/debug/popper", &failing);
    let (_, said) = scene.docs(&[]);
    let expected = "popper new --help: exit code 4, expected 0: $ popper check --fail";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_program_that_names_no_commands_ends_the_check() {
    let scene = Scene::new();
    scene.program(
        "target/debug/logosphere",
        "#!/bin/sh\necho broken; exit 2\n",
    );
    let (code, said) = scene.docs(&["--lint"]);
    let expected = "xtask: `logosphere help --tree` failed: broken\n";
    assert_eq!((code, said.as_str()), (Some(1), expected));
}

/// The folder of the four programs. nextest has built them; otherwise cargo does it first.
pub fn programs() -> PathBuf {
    if std::env::var_os("NEXTEST").is_none() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--locked", "--workspace", "--bins"]);
        // With the variables about this package some dependencies would be built again.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["CARGO_MANIFEST_", "CARGO_PKG_"]
                .iter()
                .any(|part| text.starts_with(part))
            {
                build.env_remove(&name);
            }
        }
        assert!(build.current_dir(root()).status().unwrap().success());
    }
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    xtask.parent().unwrap().to_owned()
}

/// Runs `cargo xtask docs` on this repository.
pub fn here(arguments: &[&str]) -> (Option<i32>, String) {
    programs();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cargo");
    let cargo = env!("CARGO");
    let text = format!("#!/bin/sh\n[ \"$1\" = metadata ] && exec '{cargo}' \"$@\"\nexit 0\n");
    program(&path, &text);
    ended(&docs(&root().canonicalize().unwrap(), &path, arguments))
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
