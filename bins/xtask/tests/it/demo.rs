//! `cargo xtask demo`: its order, its width and its pages, with programs that are scripts.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::gate::program;

const NAMES: [&str; 4] = ["popper", "zer0gravity", "hermitcrab", "logosphere"];

/// Writes down what is built, and fails for the program in the file `fail`.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
  metadata*) echo "{\"workspace_root\": \"$PLACE\", \"target_directory\": \"$PLACE/target\"}" ;;
  *) echo "cargo $*" >> "$PLACE/calls"
    [ -e "$PLACE/fail" ] && case "$*" in *"--bin $(cat "$PLACE/fail")") exit 101 ;; esac ;;
esac
exit 0
"#;

/// Writes a page; a program named in the file `broken` ends with an error.
const PROGRAM: &str = r#"#!/bin/sh
name=$(basename "$0")
echo "$name $*" >> "$PLACE/calls"
echo "$name: progress" >&2
if [ -e "$PLACE/broken" ] && [ "$name" = "$(cat "$PLACE/broken")" ]; then echo "$name: no law: law.json" >&2; exit 1; fi
echo page > "$4/report.html"
[ -e "$PLACE/line" ] && line=$(cat "$PLACE/line") || line="offline: 1 < 2"
echo "{\"schema_version\": 1, \"line\": \"$line\", \"page\": \"$4/report.html\"}"
"#;

const VERDICT: &str =
    "#!/bin/sh\necho \"count('X')  FAIL  .<>\"\necho verdict >> \"$PLACE/calls\"\n";

/// The end of a run: exit code, stdout, stderr, and what was called.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    calls: Vec<String>,
}

/// A repository with scripts as programs.
fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("target/debug")).unwrap();
    fs::create_dir_all(folder.path().join("target/first/examples")).unwrap();
    program(&folder.path().join("cargo"), CARGO);
    program(
        &folder.path().join("target/first/examples/verdict"),
        VERDICT,
    );
    for name in NAMES {
        program(&folder.path().join("target/debug").join(name), PROGRAM);
    }
    folder
}

fn demo(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    fs::write(folder.join("calls"), "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("demo")
        .args(arguments)
        .env("PLACE", folder)
        .env("CARGO", folder.join("cargo"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .envs(variables.to_vec())
        .output()
        .unwrap();
    let calls = fs::read_to_string(folder.join("calls")).unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        calls: calls.lines().map(str::to_owned).collect(),
    }
}

const RESULTS: &str = "count('X')  FAIL  .<>
popper       offline: 1 < 2
             target/demo/popper/report.html
zer0gravity  offline: 1 < 2
             target/demo/zer0gravity/report.html
hermitcrab   offline: 1 < 2
             target/demo/hermitcrab/report.html
logosphere   offline: 1 < 2
             target/demo/logosphere/report.html
All pages: target/demo/index.html   (open with: cargo xtask demo --open)
Took 0 s: builds 0 s, jobs 0 s.
";

/// The output with 0 in the place of all seconds.
fn timeless(text: &str) -> String {
    let parts = text.split_inclusive(|c: char| !c.is_ascii_digit());
    let words = parts.map(
        |part| match part.trim_end_matches(|c: char| !c.is_ascii_digit()) {
            "" => part.to_owned(),
            digits => part.replace(digits, "0"),
        },
    );
    words.collect()
}

#[test]
fn a_verdict_comes_first_and_each_program_as_soon_as_it_is_built() {
    let scene = scene();
    let ended = demo(scene.path(), &[], &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (results, times) = ended.stdout.rsplit_once("Took ").unwrap();
    assert_eq!(format!("{results}Took {}", timeless(times)), RESULTS);
    let widest = ended.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");

    let mut expected = vec![
        "cargo build --locked --profile first --package orrery-popper-harness --example verdict"
            .to_owned(),
        "verdict".to_owned(),
    ];
    let mut lines = vec![
        "xtask: no key and no network is used beyond fetching dependencies; first build 0 to 0 minutes on two cores".to_owned(),
        "first verdict: building".to_owned(),
        "first verdict: built in 0 s".to_owned(),
    ];
    for name in NAMES {
        expected.push(format!("cargo build --locked --workspace --bin {name}"));
        expected.push(format!("{name} demo --json --dir target/demo/{name}"));
        let step = [": building", ": built in 0 s", ": offline: 0 < 0"];
        lines.extend(step.map(|text| timeless(&format!("[1/4] {name}{text}"))));
    }
    assert_eq!(ended.calls, expected);
    assert_eq!(timeless(&ended.stderr).lines().collect::<Vec<_>>(), lines);

    let index = fs::read_to_string(scene.path().join("target/demo/index.html")).unwrap();
    assert!(
        index.len() <= 6_000 && index.matches("<h2>").count() == 4,
        "{index}"
    );
    for name in NAMES {
        assert!(
            index.contains(&format!("<a href=\"{name}/report.html\">")),
            "{index}"
        );
    }
    assert!(index.contains("<p>offline: 1 &lt; 2</p>"), "{index}");
}

#[test]
fn a_failure_is_a_result_of_its_program_alone() {
    for (file, line) in [
        (
            "broken",
            "zer0gravity  failed: no law: law.json\nhermitcrab   offline",
        ),
        ("fail", "zer0gravity  failed: `"),
    ] {
        let scene = scene();
        fs::write(scene.path().join(file), "zer0gravity").unwrap();
        let ended = demo(scene.path(), &[], &[]);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stdout.contains(line), "{}", ended.stdout);
        assert_eq!(ended.stdout.matches("offline: 1 < 2").count(), 3);
    }
}

#[test]
fn a_line_of_a_program_is_never_a_failure() {
    let scene = scene();
    fs::write(scene.path().join("line"), "failed: 0 of 30").unwrap();
    let ended = demo(scene.path(), &["popper"], &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let line = "popper       failed: 0 of 30\n             target/demo/popper/";
    assert!(ended.stdout.starts_with(line), "{}", ended.stdout);
}

#[test]
fn one_program_is_run_by_its_name() {
    let scene = scene();
    let ended = demo(scene.path(), &["logosphere"], &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let expected = [
        "cargo build --locked --workspace --bin logosphere",
        "logosphere demo --json --dir target/demo/logosphere",
    ];
    assert_eq!(ended.calls, expected);
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_where_there_is_a_display() {
    let scene = scene();
    let opener = "#!/bin/sh\necho \"xdg-open $*\" >> \"$PLACE/calls\"\n";
    program(&scene.path().join("xdg-open"), opener);
    let index = scene.path().join("target/demo/index.html");
    let path = format!("{}:/usr/bin:/bin", scene.path().display());
    for (display, opened) in [("", false), (":0", true)] {
        let variables = [("DISPLAY", display), ("PATH", &path)];
        let ended = demo(scene.path(), &["popper", "--open"], &variables);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let call = format!("xdg-open {}", index.display());
        assert_eq!(ended.calls.contains(&call), opened, "{:?}", ended.calls);
        let told = format!("the page is {}\n", index.display());
        assert_eq!(ended.stderr.ends_with(&told), !opened, "{}", ended.stderr);
    }
}
