//! Runs of the binary in an empty folder and with an empty environment except for `PATH`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The time after which a process is killed and the test fails.
const PATIENCE: Duration = Duration::from_mins(1);

const BINARY: &str = env!("CARGO_BIN_EXE_hermitcrab");

/// The name of the data directory of a place.
pub const DATA: &str = "data";

/// The exit code and the output of a run of the binary.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Fails the test, and shows the output, unless the program ended with this code and without a panic.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let start: String = self.stdout.chars().take(1500).collect();
        let told = format!("\n--- stderr\n{}\n--- stdout\n{start}", self.stderr);
        assert_eq!(self.code, Some(code), "{told}");
        for dump in [
            "panicked at",
            "RUST_BACKTRACE",
            "Some(",
            "Err(",
            "Error {",
            "Os {",
            "{ kind: ",
        ] {
            assert!(!self.stderr.contains(dump), "{dump}{told}");
        }
        self
    }

    /// Fails the test unless stderr has all these words.
    #[track_caller]
    pub fn tells(self, words: &[&str]) -> Self {
        for word in words {
            assert!(
                self.stderr.contains(word),
                "{word:?} is missing\n{}",
                self.stderr
            );
        }
        self
    }

    /// Returns the JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The folder in which the binary runs, which is also its home.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns a place with a block that has a head and these entries.
    pub fn with_block(name: &str, head: &str, entries: &[&str]) -> Self {
        let place = Self::new();
        place.run(&["block", "create", name, head]).exits(0);
        for entry in entries {
            place.run(&["block", "append", name, entry]).exits(0);
        }
        place
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its name.
    pub fn file<'a>(&self, name: &'a str, content: impl AsRef<[u8]>) -> &'a str {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        name
    }

    /// Lets only the owner write a file, as the program demands of a `.env`.
    #[cfg(unix)]
    pub fn private(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the sorted names of the files in a folder.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// Returns a command that runs the binary with [`DATA`] as its data directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare(arguments);
        command.args(["--data", DATA]);
        command
    }

    /// Returns a command that runs the binary without naming a data directory.
    pub fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(BINARY);
        command.args(arguments);
        command
    }

    /// Returns a command that runs the binary under a limit of the shell, such as `ulimit -f 0`.
    #[cfg(unix)]
    pub fn limited(&self, limit: &str, arguments: &[&str]) -> Command {
        let mut command = self.program("sh");
        let script = format!("{limit} && exec \"$0\" \"$@\"");
        command.args(["-c", &script, BINARY]).args(arguments);
        command.args(["--data", DATA]);
        command
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        finish(start(&mut self.command(arguments)))
    }

    /// Runs the binary with this text on stdin.
    pub fn fed(&self, stdin: &[u8], arguments: &[&str]) -> Ran {
        feed(&mut self.command(arguments), stdin)
    }

    /// Runs a command with `--json` and returns its document.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--json"]].concat();
        self.run(&arguments).exits(0).json()
    }
}

pub fn start(command: &mut Command) -> Child {
    command.spawn().unwrap()
}

/// Runs a command with this text on stdin.
pub fn feed(command: &mut Command, stdin: &[u8]) -> Ran {
    let mut child = start(command.stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.to_owned();
    // The program may end before it has read all.
    let feeding = thread::spawn(move || pipe.write_all(&bytes));
    let ran = finish(child);
    let _ = feeding.join().unwrap();
    ran
}

/// Returns the paths of all files below a folder, in their order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let below = paths.into_iter().flat_map(|path| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    below.collect()
}

/// Returns a file as text, also if it is not text.
pub fn lossy(file: &Path) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned()
}

/// Sends a signal to a process that this test has started.
#[cfg(unix)]
pub fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status();
    assert!(sent.unwrap().success());
}

/// Waits for the end of a process and returns its output.
pub fn finish(child: Child) -> Ran {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        let killed = Command::new("kill")
            .args(["-KILL", &id.to_string()])
            .status();
        let ran = receiver.recv().unwrap().map(Ran::from);
        panic!("the program hangs: {ran:?}, {killed:?}");
    };
    output.unwrap().into()
}
