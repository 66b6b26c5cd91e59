//! The workflows of the hosting service: their commands exist, and the actions of others are pinned by commit.

use std::fs;
use std::process::Command;

use crate::packages::root;

/// The length of a commit's hash.
const HASH: usize = 40;

/// The lines of all workflows, each with the name of its file.
fn lines() -> Vec<(String, String)> {
    let folder = root().join(".github/workflows");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    files.sort_by_key(fs::DirEntry::file_name);
    assert!(files.len() >= 3);
    let lines = files.iter().flat_map(|file| {
        let name = file.file_name().into_string().unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.into_iter().map(move |line| (name.clone(), line))
    });
    lines.collect()
}

/// The values of a key of a step.
fn values(key: &str) -> Vec<(String, String)> {
    let value = |(name, line): (String, String)| {
        let line = line.trim_start().trim_start_matches("- ");
        let value = line.strip_prefix(key)?.trim().to_owned();
        Some((name, value))
    };
    let found: Vec<_> = lines().into_iter().filter_map(value).collect();
    assert!(!found.is_empty(), "{key}");
    found
}

#[test]
fn every_action_is_pinned_by_its_commit() {
    for (file, action) in values("uses:") {
        let (name, pin) = action.split_once('@').unwrap();
        let hash = pin.split(' ').next().unwrap();
        let is_hash = hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(is_hash, "{file}: {action}");
        assert!(pin.contains(" # v"), "{file}: {name} without its version");
    }
}

#[test]
fn every_command_of_this_repository_exists() {
    let help = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let tasks: Vec<_> = (help.lines())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    let mut seen = 0;
    for (file, command) in values("run:") {
        let words: Vec<_> = command.split(' ').collect();
        match words[..] {
            ["cargo", "xtask", task, ..] => {
                assert!(tasks.contains(&task), "{file}: {command}");
                seen += 1;
            }
            [program, ..] if program.contains('/') => {
                assert!(root().join(program).is_file(), "{file}: {command}");
                seen += 1;
            }
            ["cargo", "check" | "package", ..] => {
                assert!(command.contains("--locked"), "{file}: {command}");
            }
            ["rustup" | "sha256sum" | "gh", ..] => {}
            _ => panic!("{file}: {command} is not checked by this test"),
        }
    }
    assert!(seen >= 4, "{seen}");
}

#[test]
fn the_toolchain_is_the_one_of_the_workspace() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""));
    let version = version.unwrap().trim_end_matches('"');
    let installed: Vec<_> = values("run:")
        .into_iter()
        .filter(|(_, command)| command.starts_with("rustup"))
        .collect();
    for (file, command) in installed {
        let wanted = format!("toolchain install {version}.0 ");
        assert!(command.contains(&wanted), "{file}: {command}");
    }
}
