//! A session as lines of JSON, for what a client of the library does not do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::process::fresh;

pub struct Wire {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The messages of the server that were read, but for answers.
    pub notified: Vec<Value>,
    pub folder: tempfile::TempDir,
}

impl Wire {
    /// Starts a server in an empty folder.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = fresh(folder.path(), &["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            notified: Vec::new(),
            folder,
        }
    }

    /// Begins the session with a handshake.
    pub fn open(&mut self) {
        let client = json!({"name": "lines", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        assert_eq!(self.answer(1)["result"]["serverInfo"]["name"], "popper");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    pub fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    pub fn line(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// Calls a tool; the token makes the server report its progress.
    pub fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    /// Reads the next message.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(
            self.stdout.read_line(&mut line).unwrap() > 0,
            "the server ended"
        );
        serde_json::from_str(&line).unwrap()
    }

    /// Reads until the answer to the request with this id, which must be the next answer.
    pub fn answer(&mut self, id: u32) -> Value {
        loop {
            let message = self.next();
            if message.get("method").is_none() {
                assert_eq!(message["id"], id, "{message}");
                return message;
            }
            self.notified.push(message);
        }
    }

    /// The files and streams that the server holds open.
    #[cfg(target_os = "linux")]
    pub fn open_files(&self) -> Vec<String> {
        let folder = format!("/proc/{}/fd", self.child.id());
        let entries = std::fs::read_dir(folder).unwrap();
        let links = entries.map(|entry| std::fs::read_link(entry.unwrap().path()).unwrap());
        let mut links: Vec<_> = links.map(|link| link.display().to_string()).collect();
        links.sort();
        links
    }

    /// Closes the session: the server ends well, and has written nothing in its folder.
    pub fn close(self) {
        let Self {
            mut child,
            stdin,
            stdout,
            folder,
            ..
        } = self;
        drop(stdin);
        assert!(child.wait().unwrap().success());
        let rest: Vec<_> = stdout.lines().collect();
        assert!(rest.is_empty(), "{rest:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
