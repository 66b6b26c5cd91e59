//! `cargo xtask pictures` with programs and a browser that are scripts: the same bytes wherever it runs, and a difference is found.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::gate::program;

/// Shows what a terminal would change in its output.
const PROGRAM: &str = r#"#!/bin/sh
case "$1" in
  demo) mkdir -p "$4"; echo page > "$4/report.html" ;;
  *) printf '\033[32mPASS\033[0m %s %s %s\n' "$COLUMNS" "$NO_COLOR" "$(cat)" ;;
esac
"#;

const BROWSER: &str = r#"#!/bin/sh
for word in "$@"; do
  case "$word" in --screenshot=*) echo picture > "${word#--screenshot=}" ;; esac
done
"#;

/// Draws in a repository that was written by [`scene`], with this on stdin; returns the exit code and stderr.
fn pictures(folder: &Path, flags: &[&str], stdin: &str) -> (Option<i32>, String) {
    let input = folder.join("stdin");
    fs::write(&input, stdin).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("pictures")
        .args(flags)
        .env("CARGO", folder.join("cargo"))
        .env("ORRERY_CHROMIUM", folder.join("browser"))
        .env("COLUMNS", "40")
        .env("NO_COLOR", "1")
        .stdin(Stdio::from(fs::File::open(&input).unwrap()))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    fs::create_dir_all(folder.path().join("docs/img")).unwrap();
    fs::create_dir_all(folder.path().join("target/debug")).unwrap();
    let folders =
        format!(r#"{{"workspace_root": "{place}", "target_directory": "{place}/target"}}"#);
    let cargo = format!("#!/bin/sh\n[ \"$1\" = metadata ] && echo '{folders}'\nexit 0\n");
    program(&folder.path().join("cargo"), &cargo);
    program(&folder.path().join("browser"), BROWSER);
    for name in ["popper", "zer0gravity", "hermitcrab", "logosphere"] {
        program(&folder.path().join("target/debug").join(name), PROGRAM);
    }
    folder
}

#[test]
fn a_terminal_is_drawn_the_same_anywhere_and_a_difference_is_found() {
    let scene = scene();
    let images = scene.path().join("docs/img");
    let drawn = pictures(scene.path(), &[], "");
    assert_eq!(drawn, (Some(0), String::new()));
    let light = fs::read_to_string(images.join("check-light.svg")).unwrap();
    assert!(light.contains(">PASS</text>"), "{light}");
    assert!(images.join("popper-report-dark.png").is_file());

    // A check needs no browser.
    fs::remove_file(scene.path().join("browser")).unwrap();
    let checked = pictures(scene.path(), &["--check"], "noise\n");
    assert_eq!(checked, (Some(0), String::new()));

    fs::write(images.join("check-dark.svg"), light).unwrap();
    let (code, said) = pictures(scene.path(), &["--check"], "");
    let expected =
        "xtask: docs/img/check-dark.svg is not what the commands print: cargo xtask pictures\n";
    assert_eq!((code, said.as_str()), (Some(1), expected));
}
