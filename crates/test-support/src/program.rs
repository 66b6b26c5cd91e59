//! Runs of a program under test in a temporary folder, with no environment but the path to programs.

#[cfg(unix)]
mod env_file;

#[cfg(unix)]
pub use env_file::{EnvFileProgram, PlantedEnvFile};

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A process that takes longer hangs: it is killed and the test has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// The exit code and the output of a program.
#[derive(Debug)]
pub struct ProgramRun {
    /// The exit code. `None` after a signal.
    pub code: Option<i32>,
    /// The text on stdout.
    pub stdout: String,
    /// The text on stderr.
    pub stderr: String,
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "a check needs no further look at the run"
)]
impl ProgramRun {
    /// Fails the test unless the program ended with this code and in words for people; shows why.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        self.exits_with_one_of(&[code])
    }

    /// As [`ProgramRun::exits`] for several codes.
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
            let stderr = &self.stderr;
            assert!(stderr.contains(word), "{word:?} is missing\n{stderr}");
        }
        self
    }

    /// The text on stdout and stderr.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Exit code, stdout and stderr as one text, for snapshots.
    pub fn text(&self) -> String {
        let code = self.code.unwrap();
        let (stdout, stderr) = (&self.stdout, &self.stderr);
        format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }

    /// The JSON on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The JSON list on stdout.
    pub fn results(&self) -> Vec<Value> {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

impl From<Output> for ProgramRun {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A temporary folder that a program runs in, its home too.
#[derive(Debug)]
pub struct ProgramFolder {
    folder: TempDir,
    program: &'static str,
}

impl ProgramFolder {
    /// Makes a folder for the program with this path.
    pub fn new(program: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, program }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file and returns its name.
    pub fn file<'a>(&self, name: &'a str, content: impl AsRef<[u8]>) -> &'a str {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        name
    }

    /// The bytes of a file.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The JSON of a file.
    pub fn read_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names of the files in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// The texts of all files below a folder, by their path in it, without those named `lock`, which have the id of a process.
    pub fn files(&self, folder: &str) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(below) = open.pop() {
            for entry in fs::read_dir(self.path(folder).join(&below)).unwrap() {
                let entry = entry.unwrap();
                let path = below.join(entry.file_name());
                if entry.file_type().unwrap().is_dir() {
                    open.push(path);
                } else if !path.ends_with("lock") {
                    let bytes = fs::read(entry.path()).unwrap();
                    found.insert(path, String::from_utf8_lossy(&bytes).into_owned());
                }
            }
        }
        found
    }

    /// The program in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        isolated(self.program, self.root(), arguments)
    }

    /// Runs the program without a model to ask.
    pub fn alone(&self, arguments: &[&str]) -> ProgramRun {
        finish(start(&mut self.command(arguments)))
    }
}

/// Returns a recording whose lines have other times: one second a line, from 07:00 on 6 May 2031.
pub fn with_fixed_times(cassette: &str) -> String {
    let lines = cassette.lines().enumerate().map(|(number, line)| {
        let (before, rest) = line.split_once(r#","t":""#).unwrap();
        let (_, after) = rest.split_once('"').unwrap();
        let (minute, second) = (number / 60, number % 60);
        format!("{before},\"t\":\"2031-05-06T07:{minute:02}:{second:02}Z\"{after}\n")
    });
    lines.collect()
}

/// Returns the words of a line, such as arguments without blanks.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns a program without the machine's environment.
#[expect(
    clippy::disallowed_methods,
    reason = "a program under test needs the path to others"
)]
pub fn isolated(program: &str, folder: &Path, arguments: &[&str]) -> Command {
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

/// Starts a program.
pub fn start(command: &mut Command) -> Child {
    command.spawn().unwrap()
}

/// Waits for the end of a program.
pub fn finish(child: Child) -> ProgramRun {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        signal(id, "-KILL");
        let ran = receiver.recv().unwrap().map(ProgramRun::from);
        panic!("the program hangs: {ran:?}");
    };
    output.unwrap().into()
}

/// Runs a program whose stdout is a terminal with this number of columns; lines end as in a file.
#[cfg(unix)]
pub fn in_terminal(command: &mut Command, columns: u16) -> ProgramRun {
    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let size = rustix::termios::Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&terminal, size).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let screen = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let child = start(command.stdout(screen).env("TERM", "xterm"));
    // The terminal ends with its last user, which must not be this process.
    command.stdout(Stdio::null());
    let mut shown = Vec::new();
    let reader = thread::spawn(move || {
        // It ends with an error once no process has the terminal any longer.
        let _ended = fs::File::from(terminal).read_to_end(&mut shown);
        shown
    });
    let mut ran = finish(child);
    let shown = reader.join().unwrap();
    ran.stdout = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    ran
}

/// Sends a signal, such as `-INT`, to a process that the test has started.
pub fn signal(id: u32, name: &str) {
    assert!(kill(id, name), "{name} to {id}");
}

/// Whether a process of this number is there.
pub fn is_running(id: u32) -> bool {
    kill(id, "-0")
}

/// The `kill` of the shell: a program of that name is not on every machine.
fn kill(id: u32, name: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill \"$0\" \"$1\"", name, &id.to_string()]);
    shell.stderr(Stdio::null()).status().unwrap().success()
}

/// Numbers without a pattern, from a seed (`SplitMix64`).
#[derive(Debug, Clone, Copy)]
pub struct RandomNumbers(pub u64);

impl RandomNumbers {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// The next share of a time span.
    pub fn share_of(&mut self, span: Duration) -> Duration {
        span.mul_f64(self.number() as f64 / u64::MAX as f64)
    }
}
