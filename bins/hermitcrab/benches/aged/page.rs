//! A page of the server, as far as a face is mounted: the socket, the greeting, the conversation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::program::Program;

/// A running server, and the session of its page.
pub struct FaceServer {
    child: Child,
    /// Host and port.
    addr: String,
    token: String,
    cookie: String,
}

impl FaceServer {
    pub fn start(program: &Program, data: &Path) -> Self {
        let words = [
            "serve",
            "--no-open",
            "--provider",
            "offline",
            "--runtime",
            "builtin",
        ];
        let mut command = program.command(data, &words);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let (addr, once) = (url.trim().strip_prefix("http://"))
            .and_then(|url| url.split_once("/#"))
            .unwrap_or_else(|| panic!("{url}"));
        let mut server = Self {
            child,
            addr: addr.to_owned(),
            token: String::new(),
            cookie: String::new(),
        };
        let (mut stream, head) = server.post("/session", &json!({"token": once}));
        let length: usize = header(&head, "content-length").parse().unwrap();
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        answer["token"]
            .as_str()
            .unwrap()
            .clone_into(&mut server.token);
        let cookie = header(&head, "set-cookie");
        cookie
            .split(';')
            .next()
            .unwrap()
            .clone_into(&mut server.cookie);
        server
    }

    /// Posts JSON. Returns the head of the answer, and where its body follows.
    fn post(&self, path: &str, body: &Value) -> (BufReader<TcpStream>, String) {
        let (addr, body) = (&self.addr, body.to_string());
        let mut stream = TcpStream::connect(addr).unwrap();
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {addr}\r\nOrigin: http://{addr}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).unwrap() > 0, "closed: {head}");
        }
        (stream, head)
    }

    /// Connects a page, and loads the conversation as a face does when it is mounted.
    pub fn mount(&mut self) -> Duration {
        let begun = Instant::now();
        let Self { addr, cookie, .. } = self;
        let mut request = format!("ws://{addr}/ws").into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("Origin", format!("http://{addr}").parse().unwrap());
        headers.insert("Cookie", cookie.parse().unwrap());
        let stream = TcpStream::connect(&*addr).unwrap();
        stream.set_nodelay(true).unwrap();
        let (mut socket, _) = tungstenite::client(request, stream).unwrap();
        let hello = json!({"type": "hello", "token": self.token, "skills": [], "visible": true});
        let call = json!({"type": "call", "id": 1, "method": "conversation.load", "args": []});
        for message in [hello, call] {
            socket.send(Message::text(message.to_string())).unwrap();
        }
        let answer = loop {
            let Message::Text(text) = socket.read().unwrap() else {
                continue;
            };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] == "reply" {
                break message;
            }
        };
        let taken = begun.elapsed();
        assert!(answer["value"]["messages"].is_array(), "{answer}");
        taken
    }
}

impl Drop for FaceServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let found = head.lines().find_map(|line| {
        let (found, value) = line.split_once(": ")?;
        found.eq_ignore_ascii_case(name).then_some(value)
    });
    found.unwrap_or_else(|| panic!("{name} in {head}"))
}
