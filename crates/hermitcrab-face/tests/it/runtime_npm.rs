//! React by the person's npm or pip. Both are shell scripts in these tests, and none of them asks a network.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use hermitcrab_face::{ReactSources, ReactStatus, Runtime, RuntimeError};
use jiff::Timestamp;
use tempfile::TempDir;

/// A data directory, an npm that does what `script` says, and no Python.
struct Place {
    root: TempDir,
    sources: ReactSources,
    told: Mutex<Vec<String>>,
}

impl Place {
    fn new(script: &str) -> Self {
        let root = TempDir::new().unwrap();
        let mut sources = ReactSources::new(Duration::from_mins(5));
        sources.npm.program = root.path().join("npm");
        sources.npm.hidden = vec!["CARGO_MANIFEST_DIR".into()];
        sources.pip.program = root.path().join("python3");
        let place = Self {
            root,
            sources,
            told: Mutex::new(Vec::new()),
        };
        place.program("npm", script);
        place
    }

    fn program(&self, name: &str, script: &str) {
        let program = self.root.path().join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    fn kept(&self) -> PathBuf {
        self.data().join("runtime")
    }

    async fn react(&self) -> Result<Runtime, RuntimeError> {
        let tell = |line: &str| self.told.lock().unwrap().push(line.to_owned());
        let now = Timestamp::UNIX_EPOCH;
        self.sources.find(&self.data(), now, &tell).await
    }

    /// The failure of npm.
    async fn npm_fails(&self) -> RuntimeError {
        match self.react().await.unwrap_err() {
            RuntimeError::NotBrought { npm, .. } => *npm,
            other => panic!("{other}"),
        }
    }

    fn told(&self) -> usize {
        self.told.lock().unwrap().len()
    }
}

/// The names in a folder, without the lock.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lock").collect()
}

/// Writes two files where npm would put React's.
const BRINGS: &str = "mkdir -p node_modules/react/umd node_modules/react-dom/umd
echo 'not React' > node_modules/react/umd/react.production.min.js
echo 'not React' > node_modules/react-dom/umd/react-dom.production.min.js";

#[tokio::test]
async fn another_script_is_refused_and_nothing_is_kept() {
    let place = Place::new(BRINGS);
    let error = place.npm_fails().await;
    assert!(matches!(error, RuntimeError::Other { .. }), "{error}");
    assert!(error.to_string().contains("expected d949f1c3"), "{error}");
    assert_eq!(names(&place.kept()), ["tried.json"]);
    assert_eq!(place.told(), 1);
    assert_eq!(Runtime::kept_react(&place.data()), None);
}

#[tokio::test]
async fn npm_runs_no_scripts_reads_the_lock_and_sees_no_hidden_variable() {
    // Cargo sets CARGO_MANIFEST_DIR for every test.
    let place = Place::new("echo \"$*\" >&2; echo \"[$CARGO_MANIFEST_DIR]\" >&2; ls >&2; exit 3");
    let error = place.npm_fails().await.to_string();
    assert!(
        error.contains("exit status: 3") && error.contains("ci --ignore-scripts"),
        "{error}"
    );
    assert!(
        error.contains("[]; npm.log; package-lock.json; package.json"),
        "{error}"
    );
    assert_eq!(names(&place.kept()), ["tried.json"]);
}

#[tokio::test]
async fn what_npm_says_is_cut_and_plain() {
    let place = Place::new(
        "printf 'x%.0s' $(seq 3000) >&2; printf '\\n\\033[31mE404\\033[0m no such\\n' >&2; exit 1",
    );
    let RuntimeError::Failed { said, .. } = place.npm_fails().await else {
        panic!("npm failed");
    };
    assert!(said.len() <= 1000 && said.contains("E404"), "{said}");
    assert!(!said.contains(char::is_control), "{said}");
}

#[tokio::test]
async fn a_missing_npm_is_named() {
    let mut place = Place::new("");
    place.sources.npm.program = place.root.path().join("nowhere/npm");
    let error = place.npm_fails().await;
    assert!(matches!(error, RuntimeError::Start { .. }), "{error}");
    assert!(error.to_string().contains("nowhere/npm"), "{error}");
}

#[tokio::test]
async fn what_lies_in_the_data_directory_is_checked_at_each_start() {
    let place = Place::new("exit 1");
    let folder = place.kept().join("react-18.3.1");
    fs::create_dir_all(&folder).unwrap();
    for file in ["react.production.min.js", "react-dom.production.min.js"] {
        fs::write(folder.join(file), "torn").unwrap();
    }
    assert_eq!(Runtime::kept_react(&place.data()), None);
    // Asked for again, once.
    assert!(matches!(
        place.npm_fails().await,
        RuntimeError::Failed { .. }
    ));
    assert_eq!(place.told(), 1);
}

#[tokio::test]
async fn what_a_killed_start_left_is_removed() {
    let place = Place::new("exit 1");
    let left = place.kept().join(".installing-abc/node_modules");
    fs::create_dir_all(&left).unwrap();
    place.react().await.unwrap_err();
    assert_eq!(names(&place.kept()), ["tried.json"]);
}

/// An npm that starts a child with a pipe, says a word, and hangs with it. The pipe ends when both have.
fn hanging() -> (Place, PathBuf) {
    let script = "exec 9> \"$(dirname \"$0\")/pipe\"; echo here >&9; sleep 1000 & sleep 1000";
    let place = Place::new(script);
    let pipe = place.root.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    (place, pipe)
}

/// Waits until npm has begun. The clock of a paused runtime does not move until then.
async fn begun(pipe: PathBuf) -> BufReader<fs::File> {
    let open = move || {
        let mut reader = BufReader::new(fs::File::open(pipe).unwrap());
        let mut word = String::new();
        reader.read_line(&mut word).unwrap();
        assert_eq!(word, "here\n");
        reader
    };
    tokio::task::spawn_blocking(open).await.unwrap()
}

/// Comes back when npm is dead.
async fn ended(mut pipe: BufReader<fs::File>) {
    let read = move || pipe.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(tokio::task::spawn_blocking(read).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_npm_that_hangs_is_ended_at_its_limit_with_all_that_it_started() {
    let (place, pipe) = hanging();
    let (error, pipe) = tokio::join!(place.npm_fails(), begun(pipe));
    assert_eq!(error.to_string(), "npm did not finish within 300 seconds");
    ended(pipe).await;
    assert_eq!(names(&place.kept()), ["tried.json"]);
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_npm_and_leaves_nothing() {
    let (place, pipe) = hanging();
    let pipe = tokio::select! {
        result = place.react() => panic!("npm hangs: {result:?}"),
        pipe = begun(pipe) => pipe,
    };
    ended(pipe).await;
    assert_eq!(names(&place.kept()), [""; 0]);
}

#[tokio::test]
async fn the_status_names_what_is_kept_and_what_failed() {
    let place = Place::new("echo 'no such registry' >&2; exit 1");
    let before = ReactStatus::read(&place.data());
    assert_eq!(
        (before.is_whole, &before.fault, before.tried_at),
        (false, &None, None)
    );
    place.react().await.unwrap_err();
    fs::create_dir_all(&before.folder).unwrap();
    fs::write(before.folder.join("react.production.min.js"), "torn").unwrap();
    let after = ReactStatus::read(&place.data());
    assert!(!after.is_whole);
    assert!(after.fault.unwrap().contains("expected d949f1c3"));
    assert_eq!(after.tried_at, Some(Timestamp::UNIX_EPOCH));
    assert!(after.npm.unwrap().contains("no such registry"));
    assert!(after.pip.unwrap().contains("python3 cannot be started"));
}

/// Needs npm and a registry: `cargo test -p orrery-hermitcrab-face -- --ignored real_react`.
#[tokio::test]
#[ignore = "asks the registry that this machine's npm is set to"]
async fn real_react_is_installed_once() {
    let mut place = Place::new("");
    place.sources.npm.program = "npm".into();
    let first = place.react().await.unwrap();
    assert_eq!(first.name(), "React 18.3.1");
    assert_eq!(names(&place.kept()), ["react-18.3.1"]);

    // The second start asks no client, and one byte more is seen.
    place.sources.npm.program = "/nowhere/npm".into();
    assert_eq!(place.react().await.unwrap(), first);
    assert_eq!(place.told(), 1);
    let file = place.kept().join("react-18.3.1/react.production.min.js");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\n").unwrap();
    assert_eq!(Runtime::kept_react(&place.data()), None);
    assert!(matches!(
        place.npm_fails().await,
        RuntimeError::Start { .. }
    ));
}
