//! Sets `ORRERY_COMMIT_NOTE`, which `--version` adds to the version: in a release build commit and commit date, else nothing.
//!
//! A build of another profile asks nothing about the commit, so that no commit makes it build again.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "Cargo speaks to a build script in variables and reads what it prints"
)]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if release { found(Path::new(".")) } else { None };
    let note = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=ORRERY_COMMIT_NOTE={note}");
    println!("cargo::rerun-if-changed=build.rs");
    if release {
        println!("cargo::rerun-if-env-changed=ORRERY_COMMIT");
        for path in changed_by_a_commit(Path::new(".")) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// Returns the commit that the package in `folder` is built from, in the words of `--version`.
fn found(folder: &Path) -> Option<String> {
    let given = env::var("ORRERY_COMMIT").ok();
    let given = given.filter(|commit| !commit.trim().is_empty());
    given
        .map(|commit| commit.trim().to_owned())
        .or_else(|| packaged(&fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?))
        .or_else(|| checked_out(folder))
}

/// Returns the commit that `cargo package` noted. Its date is not in the note.
fn packaged(note: &str) -> Option<String> {
    let words: Vec<_> = note.split('"').collect();
    let place = words.iter().position(|word| *word == "sha1")?;
    let hash = words.get(place + 2)?.get(..7)?;
    let dirty = note
        .replace(char::is_whitespace, "")
        .contains("\"dirty\":true");
    Some(format!("{hash}{}", if dirty { "+" } else { "" }))
}

/// Returns the commit of the checkout, if the folder's files belong to one.
fn checked_out(folder: &Path) -> Option<String> {
    git(folder, &["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let commit = git(folder, &["log", "-1", "--format=%H %cs"])?;
    let (hash, date) = commit.split_once(' ')?;
    let changed = git(
        folder,
        &[
            "--no-optional-locks",
            "status",
            "--porcelain",
            "--untracked-files=no",
        ],
    )?;
    let dirty = if changed.is_empty() { "" } else { "+" };
    Some(format!("{}{dirty} {date}", hash.get(..7)?))
}

/// Returns the files and folders that are newer after a commit, a checkout or an edit of a source.
fn changed_by_a_commit(folder: &Path) -> Vec<String> {
    let Some(root) = git(folder, &["rev-parse", "--show-toplevel"]) else {
        return Vec::new();
    };
    let sources =
        ["bins", "crates", "Cargo.toml", "Cargo.lock"].map(|name| format!("{root}/{name}"));
    let records = ["HEAD", "logs/HEAD", "index"];
    let records = records.map(|name| {
        git(
            folder,
            &["rev-parse", "--path-format=absolute", "--git-path", name],
        )
    });
    let paths = sources.into_iter().chain(records.into_iter().flatten());
    paths.filter(|path| Path::new(path).exists()).collect()
}

/// Returns what git prints, if it is there and succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packaged_commit_is_read_from_the_note_of_cargo() {
        let note = r#"{
  "git": {
    "sha1": "31324a4c0ffee0000000000000000000000000000",
    "dirty": true
  },
  "path_in_vcs": "crates/bin-support"
}"#;
        assert_eq!(packaged(note).as_deref(), Some("31324a4+"));
        let clean = note.replace(",\n    \"dirty\": true", "");
        assert_eq!(packaged(&clean).as_deref(), Some("31324a4"));
        assert_eq!(packaged("{}"), None);
    }

    #[test]
    fn a_checkout_tells_commit_date_and_changes() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(checked_out(folder), None);
        git(folder, &["init", "-q"]).unwrap();
        fs::write(folder.join("Cargo.toml"), "[package]\n").unwrap();
        // A folder inside of a repository that does not have its files is no checkout of it.
        assert_eq!(checked_out(folder), None);
        git(folder, &["add", "Cargo.toml"]).unwrap();
        let author = ["-c", "user.name=n", "-c", "user.email=n@localhost"];
        git(folder, &[&author[..], &["commit", "-qm", "first"]].concat()).unwrap();
        let commit = checked_out(folder).unwrap();
        let (hash, date) = commit.split_once(' ').unwrap();
        assert!(
            hash.len() == 7 && hash.chars().all(|one| one.is_ascii_hexdigit()),
            "{commit}"
        );
        assert!(date.len() == 10 && date.starts_with("20"), "{commit}");
        fs::write(folder.join("Cargo.toml"), "[package]\n\n").unwrap();
        assert_eq!(checked_out(folder), Some(format!("{hash}+ {date}")));
        assert!(
            changed_by_a_commit(folder)
                .iter()
                .any(|path| path.ends_with("logs/HEAD"))
        );
    }
}
