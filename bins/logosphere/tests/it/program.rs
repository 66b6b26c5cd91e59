//! Runs the binary in a temporary folder, with no environment but the path to programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use test_support::MindStub;

/// A process that takes longer hangs: it is killed and the test has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// The exit and the output of the binary.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Fails the test unless the program ended with this code and in words for people; shows why.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        self.exits_with_one_of(&[code])
    }

    #[track_caller]
    pub fn exits_with_one_of(self, codes: &[i32]) -> Self {
        let start: String = self.stdout.chars().take(1500).collect();
        let told = format!("\n--- stderr\n{}\n--- stdout\n{start}", self.stderr);
        assert!(
            self.code.is_some_and(|code| codes.contains(&code)),
            "{:?} is none of {codes:?}{told}",
            self.code
        );
        for dump in [
            "panicked at",
            "RUST_BACKTRACE",
            "Some(",
            "Err(",
            "Error {",
            "Os {",
            "kind: ",
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

    /// Everything that was written.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
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

/// A folder that the binary runs in, its home too.
pub struct Place(TempDir);

/// Seeds of [`Place::experiment`].
pub const SEEDS: [&str; 8] = [
    "What lasts is what is said again.",
    "A message has no author and no date.",
    "Three of us read this; who knows which three.",
    "Short words travel further than long ones.",
    "The pool forgets from its far end.",
    "Copy this, or improve it, or let it go.",
    "Two lines\nmake one message.",
    "Silence is an answer as well.",
];

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and gives its name.
    pub fn file<'a>(&self, name: &'a str, content: impl AsRef<[u8]>) -> &'a str {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        name
    }

    /// A directory with [`SEEDS`] in its `init.md`.
    pub fn experiment<'a>(&self, name: &'a str) -> &'a str {
        self.seeded(name, &SEEDS)
    }

    /// A directory with these seeds in its `init.md`.
    pub fn seeded<'a>(&self, name: &'a str, seeds: &[&str]) -> &'a str {
        self.file(&format!("{name}/init.md"), init(seeds));
        name
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn read_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Names of the files in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        clean(
            env!("CARGO_BIN_EXE_logosphere").as_ref(),
            self.root(),
            arguments,
        )
    }

    /// The binary without any model to ask.
    pub fn alone(&self, arguments: &[&str]) -> Ran {
        finish(start(&mut self.command(arguments)))
    }

    /// The binary with this server as its model.
    pub fn asking(&self, stub: &MindStub, arguments: &[&str]) -> Ran {
        finish(self.start_asking(stub, arguments))
    }

    pub fn start_asking(&self, stub: &MindStub, arguments: &[&str]) -> Child {
        start(self.command(arguments).args(server(&stub.url())))
    }

    /// `resume` of an experiment whose server may have moved.
    pub fn resuming(&self, stub: &MindStub, experiment: &str, flags: &[&str]) -> Ran {
        finish(self.start_resuming(stub, experiment, flags))
    }

    pub fn start_resuming(&self, stub: &MindStub, experiment: &str, flags: &[&str]) -> Child {
        let arguments = [&["resume", experiment], flags].concat();
        start(self.command(&arguments).args(["--base-url", &stub.url()]))
    }
}

/// An `init.md` with these seeds.
pub fn init(seeds: &[&str]) -> String {
    let seeds: Vec<_> = seeds.iter().map(|seed| format!("---\n{seed}\n")).collect();
    format!("Notes, never sent.\n{}---\n\n---\n~init\n", seeds.concat())
}

/// The flags that name a server.
pub fn server(url: &str) -> [String; 6] {
    [
        "--provider",
        "openrouter",
        "--model",
        "m",
        "--base-url",
        url,
    ]
    .map(str::to_owned)
}

/// A program with nothing around it.
pub fn clean(program: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn start(command: &mut Command) -> Child {
    command.spawn().unwrap()
}

/// Waits for the end.
pub fn finish(child: Child) -> Ran {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        signal(id, "-KILL");
        let ran = receiver.recv().unwrap().map(Ran::from);
        panic!("the program hangs: {ran:?}");
    };
    output.unwrap().into()
}

/// Sends a signal to a process that this test has started.
pub fn signal(id: u32, name: &str) {
    let sent = Command::new("kill").args([name, &id.to_string()]).status();
    assert!(sent.unwrap().success());
}
