//! A program of hermitcrab: this one, or one of another commit.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The program that is measured.
pub struct Program(pub PathBuf);

impl Program {
    fn command(&self, data: &Path, words: &[&str]) -> Command {
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
        let words = ["chat", "--provider", "offline", "--quiet"];
        let mut child = self
            .command(data, &words)
            .stdin(Stdio::piped())
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

/// A server of the Model Context Protocol that reads.
pub struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Server {
    pub fn start(program: &Program, data: &Path) -> Self {
        let mut command = program.command(data, &["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let from = BufReader::new(from);
        let mut server = Self { child, to, from };
        let client = json!({"name": "bench", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        server.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        server.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn tell(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.to.write_all(line.as_bytes()).unwrap();
        self.to.flush().unwrap();
    }

    fn ask(&mut self, message: &Value) -> String {
        self.tell(message);
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        answer
    }

    /// Reads a node.
    pub fn read(&mut self) -> Duration {
        let arguments = json!({"name": "constitution", "path": "0.1"});
        let params = json!({"name": "block_read", "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let begun = Instant::now();
        let answer = self.ask(&request);
        let taken = begun.elapsed();
        assert!(
            answer.contains("content") && !answer.contains("\"isError\":true"),
            "{answer}"
        );
        taken
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
