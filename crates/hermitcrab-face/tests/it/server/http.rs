//! Requests as they go over the wire, so that each may be as wrong as a test wants it.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything takes here: what waits that long hangs.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        });
        Self {
            status: status.parse().unwrap(),
            headers: headers.collect(),
            body: body.to_owned(),
        }
    }

    /// The value of a header that is there once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(own, _)| own == name);
        let (_, value) = all.next()?;
        assert!(all.next().is_none(), "{name} is there twice");
        Some(value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The kind of the refusal.
    pub fn error(&self) -> String {
        let body = self.json();
        assert!(body["detail"].is_string(), "no detail: {self:?}");
        body["error"].as_str().unwrap().to_owned()
    }
}

/// A request, before it goes.
#[derive(Debug, Clone)]
pub struct Request {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            line: format!("{method} {target} HTTP/1.1"),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes a header away.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self
    }

    /// Puts a header in the place of another.
    pub fn with(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.with("Content-Length", &length)
    }

    pub fn json(self, body: &Value) -> Self {
        self.with("Content-Type", "application/json")
            .body(body.to_string())
    }

    pub async fn send(self, addr: SocketAddr) -> Answer {
        let mut head = format!("{}\r\n", self.line);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        head.push_str("Connection: close\r\n\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(self.body);
        raw(addr, &bytes).await
    }
}

/// Sends bytes and reads until the server closes.
pub async fn raw(addr: SocketAddr, bytes: &[u8]) -> Answer {
    let exchange = async {
        let mut stream = TcpStream::connect(addr).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        Answer::read(&answer)
    };
    timeout(PATIENCE, exchange).await.unwrap()
}
