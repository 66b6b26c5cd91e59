//! A session as lines of JSON, for what a client of a library does not do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A server of the protocol as a child, and the pipes to it.
#[derive(Debug)]
pub struct Wire {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The messages of the server that were read, but for answers.
    pub notified: Vec<Value>,
    /// The folder that the server runs in.
    pub folder: tempfile::TempDir,
}

impl Wire {
    /// Starts the server of a command, which should run in the folder.
    pub fn start(mut command: Command, folder: tempfile::TempDir) -> Self {
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

    /// Begins the session with a handshake, and returns the server's name.
    pub fn open(&mut self) -> String {
        let client = json!({"name": "lines", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        let answer = self.answer(1);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"]["serverInfo"]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    /// Sends a line.
    pub fn line(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// Calls a tool; the token makes the server report its progress.
    pub fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    /// Calls a tool that must succeed, and returns its text.
    pub fn done(&mut self, id: u32, tool: &str, arguments: &Value) -> String {
        self.result(id, tool, arguments, false)
    }

    /// Calls a tool that must fail, and returns its message.
    pub fn fails(&mut self, id: u32, tool: &str, arguments: &Value) -> String {
        self.result(id, tool, arguments, true)
    }

    fn result(&mut self, id: u32, tool: &str, arguments: &Value, is_error: bool) -> String {
        self.call(id, tool, arguments);
        let result = self.answer(id)["result"].take();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["isError"], is_error, "{tool}: {text}");
        text.to_owned()
    }

    /// Returns the answer to `tools/list`.
    pub fn tools(&mut self, id: u32) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
        self.answer(id)["result"].take()
    }

    /// Reads the next message.
    pub fn message(&mut self) -> Value {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line).unwrap();
        assert!(read > 0, "the server ended");
        serde_json::from_str(&line).unwrap()
    }

    /// Reads until the answer to the request with this id, which must be the next answer.
    pub fn answer(&mut self, id: u32) -> Value {
        loop {
            let message = self.message();
            if message.get("method").is_none() {
                assert_eq!(message["id"], id, "{message}");
                return message;
            }
            self.notified.push(message);
        }
    }

    /// Returns the files and streams that the server holds open.
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
        let folder = self.leave();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Closes the session: the server ends well.
    pub fn leave(self) -> tempfile::TempDir {
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
        folder
    }
}
