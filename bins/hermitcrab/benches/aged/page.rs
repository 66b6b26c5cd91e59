//! A page of the server, as far as a face is mounted: the socket, the greeting, the conversation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

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
        let body = json!({"token": once}).to_string();
        let length = body.len();
        let headers = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
        let (mut stream, head) = server.request("POST /session", &headers, &body);
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

    fn request(&self, line: &str, headers: &str, body: &str) -> (BufReader<TcpStream>, String) {
        let Self { addr, cookie, .. } = self;
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.set_nodelay(true).unwrap();
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {addr}\r\nOrigin: http://{addr}\r\nCookie: {cookie}\r\n{headers}\r\n{body}"
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
        let headers = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let (mut stream, head) = self.request("GET /ws", headers, "");
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        let hello = json!({"type": "hello", "token": self.token, "skills": [], "visible": true});
        send(&mut stream, &hello);
        let call = json!({"type": "call", "id": 1, "method": "conversation.load", "args": []});
        send(&mut stream, &call);
        let answer = loop {
            let message = receive(&mut stream);
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

/// Sends a short text frame. Its mask is 0, which leaves the text as it is.
fn send(stream: &mut BufReader<TcpStream>, message: &Value) {
    let text = message.to_string();
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    let mut frame = vec![0x81, 0x80 | 0x7e, length[0], length[1], 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    stream.get_mut().write_all(&frame).unwrap();
}

/// Receives the next text frame.
fn receive(stream: &mut BufReader<TcpStream>) -> Value {
    loop {
        let mut begin = [0; 2];
        stream.read_exact(&mut begin).unwrap();
        let mut length = [0; 8];
        let size = match begin[1] {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        stream.read_exact(&mut length[8 - size..]).unwrap();
        let length = match size {
            0 => u64::from(begin[1]),
            _ => u64::from_be_bytes(length),
        };
        let mut text = vec![0; length as usize];
        stream.read_exact(&mut text).unwrap();
        if begin[0] == 0x81 {
            return serde_json::from_slice(&text).unwrap();
        }
    }
}
