//! Runs the binary in a separate folder; of the machine's environment it gets the path to programs only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use test_support::CompressionStub;

/// A process that takes longer hangs: it is killed and the test has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// The exit code and the output of a run of the binary.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// stderr without the line that names the host.
    pub fn told(&self) -> String {
        let lines = self.stderr.split_inclusive('\n');
        lines
            .filter(|line| !line.starts_with("zer0gravity: requests go to "))
            .collect()
    }

    /// The results on stdout.
    pub fn results(&self) -> Vec<Value> {
        list(&self.json())
    }

    /// Fails the test unless the program ended with this code; shows why.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let start: String = self.stdout.chars().take(800).collect();
        let told = format!("\n--- stderr\n{}\n--- stdout\n{start}", self.stderr);
        assert_eq!(self.code, Some(code), "{told}");
        self
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

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
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
            env!("CARGO_BIN_EXE_zer0gravity").as_ref(),
            self.0.path(),
            arguments,
        )
    }

    /// The binary without any model to ask.
    pub fn alone(&self, arguments: &[&str]) -> Ran {
        finish(start(&mut self.command(arguments)))
    }

    /// The binary with this server as its model.
    pub fn asking(&self, stub: &CompressionStub, arguments: &[&str]) -> Ran {
        finish(self.start_asking(stub, arguments))
    }

    pub fn start_asking(&self, stub: &CompressionStub, arguments: &[&str]) -> Child {
        start(self.command(arguments).args(server(&stub.url())))
    }
}

/// The flags that name a server.
pub fn server(url: &str) -> [String; 4] {
    ["--provider", "anthropic", "--base-url", url].map(str::to_owned)
}

fn clean(program: &Path, folder: &Path, arguments: &[&str]) -> Command {
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

pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().clone()
}

/// One field of every result, as it is written in JSON but strings without quotes.
pub fn column(results: &[Value], pointer: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let field = |result: &Value| result.pointer(pointer).map_or(String::new(), text);
    results.iter().map(field).collect()
}

/// A result, a list of them or a report without its times.
pub fn timeless(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // `callsFile` is the hash of a file that has times.
                for name in [
                    "timestamp",
                    "durationMs",
                    "elapsedMs",
                    "createdAt",
                    "callsFile",
                ] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}
