//! Runs of the binary in a temporary folder.

use std::fs;
use std::io::Write as _;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;
use test_support::program::ProgramFolder;
pub use test_support::program::{ProgramRun as Ran, finish, is_running, isolated, signal, start};

/// The path of the program.
pub const BINARY: &str = env!("CARGO_BIN_EXE_hermitcrab");

/// The name of the data directory of a place.
pub const DATA: &str = "data";

/// The folder in which the binary runs, which is also its home.
pub struct Place(ProgramFolder);

impl Deref for Place {
    type Target = ProgramFolder;

    fn deref(&self) -> &ProgramFolder {
        &self.0
    }
}

impl Place {
    pub fn new() -> Self {
        Self(ProgramFolder::new(BINARY))
    }

    /// Returns a place with an empty data directory.
    pub fn with_data() -> Self {
        let place = Self::new();
        fs::create_dir(place.path(DATA)).unwrap();
        place
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

    /// Lets only the owner write a file, as the program demands of a `.env`.
    #[cfg(unix)]
    pub fn private(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Returns a command that runs the binary with [`DATA`] as its data directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare(arguments);
        command.args(["--data", DATA]);
        command
    }

    /// Returns a command that runs the binary without naming a data directory.
    pub fn bare(&self, arguments: &[&str]) -> Command {
        self.0.command(arguments)
    }

    /// Returns a command that runs the binary under a limit of the shell, such as `ulimit -f 0`.
    #[cfg(unix)]
    pub fn limited(&self, limit: &str, arguments: &[&str]) -> Command {
        let script = format!("{limit} && exec \"$0\" \"$@\"");
        let mut command = isolated("sh", self.root(), &["-c", &script, BINARY]);
        command.args(arguments).args(["--data", DATA]);
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
