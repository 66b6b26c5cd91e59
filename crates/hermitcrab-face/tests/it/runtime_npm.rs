//! React by the person's npm. The npm of these tests is a shell script, and none of them asks a network.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use hermitcrab_face::{Npm, Runtime, RuntimeError};
use tempfile::TempDir;

/// A data directory and an npm that does what `script` says.
struct Place {
    root: TempDir,
    npm: Npm,
    told: Mutex<Vec<String>>,
}

impl Place {
    fn new(script: &str) -> Self {
        let root = TempDir::new().unwrap();
        let program = root.path().join("npm");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut npm = Npm::new(Duration::from_mins(5));
        npm.program = program;
        npm.hidden = vec!["CARGO_MANIFEST_DIR".into()];
        Self {
            root,
            npm,
            told: Mutex::new(Vec::new()),
        }
    }

    fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    fn kept(&self) -> PathBuf {
        self.data().join("runtime")
    }

    async fn react(&self) -> Result<Runtime, RuntimeError> {
        let tell = |line: &str| self.told.lock().unwrap().push(line.to_owned());
        Runtime::react(&self.data(), &self.npm, &tell).await
    }

    fn told(&self) -> usize {
        self.told.lock().unwrap().len()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Writes two files where npm would put React's.
const BRINGS: &str = "mkdir -p node_modules/react/umd node_modules/react-dom/umd
echo 'not React' > node_modules/react/umd/react.production.min.js
echo 'not React' > node_modules/react-dom/umd/react-dom.production.min.js";

#[tokio::test]
async fn another_script_is_refused_and_nothing_is_kept() {
    let place = Place::new(BRINGS);
    let error = place.react().await.unwrap_err();
    assert!(matches!(error, RuntimeError::Other { .. }), "{error}");
    assert!(error.to_string().contains("expected d949f1c3"), "{error}");
    assert_eq!(names(&place.kept()), [""; 0]);
    assert_eq!(place.told(), 1);
    assert_eq!(Runtime::kept_react(&place.data()), None);
}

#[tokio::test]
async fn npm_runs_no_scripts_reads_the_lock_and_sees_no_hidden_variable() {
    // Cargo sets CARGO_MANIFEST_DIR for every test.
    let place = Place::new("echo \"$*\" >&2; echo \"[$CARGO_MANIFEST_DIR]\" >&2; ls >&2; exit 3");
    let error = place.react().await.unwrap_err().to_string();
    assert!(
        error.contains("exit status: 3") && error.contains("ci --ignore-scripts"),
        "{error}"
    );
    assert!(
        error.contains("[]; npm.log; package-lock.json; package.json"),
        "{error}"
    );
    assert_eq!(names(&place.kept()), [""; 0]);
}

#[tokio::test]
async fn what_npm_says_is_cut_and_plain() {
    let place = Place::new(
        "printf 'x%.0s' $(seq 3000) >&2; printf '\\n\\033[31mE404\\033[0m no such\\n' >&2; exit 1",
    );
    let RuntimeError::Failed { said, .. } = place.react().await.unwrap_err() else {
        panic!("npm failed");
    };
    assert!(said.len() <= 1000 && said.contains("E404"), "{said}");
    assert!(!said.contains(char::is_control), "{said}");
}

#[tokio::test]
async fn a_missing_npm_is_named() {
    let mut place = Place::new("");
    place.npm.program = place.root.path().join("nowhere/npm");
    let error = place.react().await.unwrap_err();
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
        place.react().await.unwrap_err(),
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
    assert_eq!(names(&place.kept()), [""; 0]);
}

/// An npm that opens a pipe, says a word, and hangs. The pipe ends when npm does.
fn hanging() -> (Place, PathBuf) {
    let place = Place::new("exec 9> \"$(dirname \"$0\")/pipe\"; echo here >&9; exec sleep 1000");
    let pipe = place.root.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
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
async fn an_npm_that_hangs_is_ended_at_its_limit() {
    let (place, pipe) = hanging();
    let (result, pipe) = tokio::join!(place.react(), begun(pipe));
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "npm did not finish within 300 seconds",
        "{error:?}"
    );
    ended(pipe).await;
    assert_eq!(names(&place.kept()), [""; 0]);
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

/// Needs npm and a registry: `cargo test -p orrery-hermitcrab-face -- --ignored real_react`.
#[tokio::test]
#[ignore = "asks the registry that this machine's npm is set to"]
async fn real_react_is_installed_once() {
    let mut place = Place::new("");
    place.npm.program = "npm".into();
    let first = place.react().await.unwrap();
    assert_eq!(first.name(), "React 18.3.1");
    assert_eq!(names(&place.kept()), ["react-18.3.1"]);

    // The second start asks nobody, and one byte more is seen.
    place.npm.program = "/nowhere/npm".into();
    assert_eq!(place.react().await.unwrap(), first);
    assert_eq!(place.told(), 1);
    let file = place.kept().join("react-18.3.1/react.production.min.js");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\n").unwrap();
    assert_eq!(Runtime::kept_react(&place.data()), None);
    assert!(matches!(
        place.react().await.unwrap_err(),
        RuntimeError::Start { .. }
    ));
}
