//! A program of hermitcrab: this one, or one of another commit.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

const CHAT: &[&str] = &["chat", "--provider", "offline", "--quiet"];

/// The program that is measured.
pub struct Program(pub PathBuf);

impl Program {
    pub fn command(&self, data: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command
            .args(words)
            .arg("--data")
            .arg(data)
            .current_dir(data.parent().unwrap())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, data: &Path, words: &[&str]) -> Duration {
        let begun = Instant::now();
        let status = self.command(data, words).status();
        let taken = begun.elapsed();
        assert!(status.unwrap().success(), "{words:?}");
        taken
    }

    /// Holds turns with the offline script, one a line.
    pub fn chat(&self, data: &Path, lines: &str) -> Duration {
        let begun = Instant::now();
        let mut child = (self.command(data, CHAT).stdin(Stdio::piped()))
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        assert!(child.wait().unwrap().success());
        begun.elapsed()
    }
}

/// A running program that answers lines with lines.
struct Dialogue {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Dialogue {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let from = BufReader::new(from);
        Self { child, to, from }
    }

    fn tell(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.to.write_all(line.as_bytes()).unwrap();
        self.to.flush().unwrap();
    }

    fn hear(&mut self) -> String {
        let mut answer = String::new();
        assert!(self.from.read_line(&mut answer).unwrap() > 0, "it ended");
        answer
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A conversation that continues.
pub struct Chat(Dialogue);

impl Chat {
    /// Starts it with turns enough for a full window: from then on one turn leaves with each that comes.
    pub fn start(program: &Program, data: &Path) -> Self {
        let mut chat = Self(Dialogue::start(program.command(data, CHAT)));
        for _ in 0..20 {
            chat.turn();
        }
        chat
    }

    /// One turn without a tool.
    pub fn turn(&mut self) -> Duration {
        let begun = Instant::now();
        self.0.tell("sing");
        while !self.0.hear().contains("not in my script") {}
        begun.elapsed()
    }
}

/// A server of the Model Context Protocol that reads.
pub struct Server(Dialogue);

impl Server {
    pub fn start(program: &Program, data: &Path) -> Self {
        let mut server = Dialogue::start(program.command(data, &["mcp"]));
        let client = json!({"name": "bench", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        server.tell(&begin.to_string());
        server.hear();
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        server.tell(&begun.to_string());
        Self(server)
    }

    /// Reads a node.
    pub fn read(&mut self) -> Duration {
        let arguments = json!({"name": "constitution", "path": "0.1"});
        let params = json!({"name": "block_read", "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let begun = Instant::now();
        self.0.tell(&request.to_string());
        let answer = self.0.hear();
        let taken = begun.elapsed();
        assert!(
            answer.contains("content") && !answer.contains("\"isError\":true"),
            "{answer}"
        );
        taken
    }
}
