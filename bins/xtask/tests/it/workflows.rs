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
            ["cargo", "check" | "fetch" | "package", ..] => {
                assert!(command.contains("--locked"), "{file}: {command}");
            }
            ["rustup" | "sha256sum" | "gh", ..] => {}
            // The tag of a release: the test below runs it.
            ["test", ..] => assert_eq!(file, "release.yml"),
            _ => panic!("{file}: {command} is not checked by this test"),
        }
    }
    assert!(seen >= 4, "{seen}");
}

/// The jobs of a workflow, each the text below its name.
fn jobs(workflow: &str) -> (String, Vec<String>) {
    let text = fs::read_to_string(root().join(".github/workflows").join(workflow)).unwrap();
    let (head, jobs) = text.split_once("\njobs:\n").unwrap();
    let mut found: Vec<String> = Vec::new();
    for line in jobs.lines() {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        if is_name {
            found.push(String::new());
        }
        let job = found.last_mut().unwrap();
        job.push_str(line);
        job.push('\n');
    }
    (head.to_owned(), found)
}

/// The subject of the commit by which a pull request would be merged is none of the form that the gate reads.
#[test]
fn the_gate_reads_the_commits_of_a_pull_request() {
    for workflow in ["ci.yml", "nightly.yml"] {
        let (head, jobs) = jobs(workflow);
        let mut gates = jobs.iter().filter(|job| job.contains("- run: .ci/run\n"));
        let gate = gates.next().unwrap();
        assert!(gate.contains("          fetch-depth: 50\n"), "{gate}");
        let is_for_pull_requests = head.contains("pull_request:");
        let own = "          ref: ${{ github.event.pull_request.head.sha || github.sha }}\n";
        assert_eq!(gate.contains(own), is_for_pull_requests, "{gate}");
    }
    assert!(jobs("ci.yml").0.contains("pull_request:"));
}

/// A bare machine has no network: it copies the packages that are on this one.
#[test]
fn packages_are_there_before_a_bare_machine() {
    let (_, jobs) = jobs("nightly.yml");
    let fresh = jobs.iter().find(|job| job.contains("cargo xtask fresh"));
    let (before, _) = fresh.unwrap().split_once("cargo xtask fresh").unwrap();
    assert!(before.contains("- run: cargo fetch --locked\n"), "{before}");
}

#[test]
fn only_the_job_that_makes_the_draft_may_write() {
    for workflow in ["ci.yml", "nightly.yml", "release.yml"] {
        let (head, jobs) = jobs(workflow);
        assert!(head.contains("\npermissions:\n  contents: read"), "{head}");
        for job in jobs {
            let writes = job.contains("contents: write");
            assert_eq!(writes, job.contains("gh release create"), "{job}");
            assert!(!writes || !job.contains("checkout"), "{job}");
        }
    }
}

#[test]
fn a_release_is_built_on_the_oldest_image_and_its_tag_is_the_version() {
    let (_, jobs) = jobs("release.yml");
    let archives = &jobs[0];
    assert!(
        archives.contains("[ubuntu-22.04, ubuntu-22.04-arm, "),
        "{archives}"
    );
    let (before, _) = archives.split_once("cargo xtask dist").unwrap();
    let command = before
        .lines()
        .find_map(|line| line.trim().strip_prefix("- run: test "));
    let command = format!("test {}", command.unwrap());
    for (tag, is_equal) in [
        (concat!("v", env!("CARGO_PKG_VERSION")), true),
        (env!("CARGO_PKG_VERSION"), false),
        ("v99.0.0", false),
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).env("GITHUB_REF_NAME", tag);
        let status = shell.current_dir(root()).status().unwrap();
        assert_eq!(status.success(), is_equal, "{tag}");
    }
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
