//! A page that speaks the protocol. It does what a test says, or mounts every shell by itself.

use std::collections::VecDeque;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::http::PATIENCE;

pub struct Page {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Messages that no test has waited for yet, oldest first.
    unread: VecDeque<Value>,
    /// Reports each shell as mounted.
    pub mounts: bool,
    /// Reports each frame as ready for its shell.
    pub runs: bool,
    /// The frame that the shell calls from.
    pub frame: Option<String>,
    /// The browser says with each call that the person is at it.
    pub gesture: bool,
    calls: u64,
}

impl Page {
    pub fn new(socket: WebSocketStream<MaybeTlsStream<TcpStream>>) -> Self {
        Self {
            socket,
            unread: VecDeque::new(),
            mounts: true,
            runs: true,
            frame: None,
            gesture: true,
            calls: 0,
        }
    }

    pub async fn tell(&mut self, message: Value) {
        self.tell_text(&message.to_string()).await;
    }

    pub async fn tell_text(&mut self, text: &str) {
        let sent = self.socket.send(Message::text(text)).await;
        sent.unwrap();
    }

    /// The next message off the wire; `None` if the server closed.
    async fn receive(&mut self) -> Option<Value> {
        loop {
            let message = timeout(PATIENCE, self.socket.next()).await;
            let text = match message.unwrap()? {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => continue,
            };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] == "show" {
                self.see(&message).await;
            }
            return Some(message);
        }
    }

    /// Does with a frame what a browser does. The server may have gone in the meantime.
    async fn see(&mut self, show: &Value) {
        let (frame, rev) = (&show["frame"], &show["rev"]);
        if self.runs {
            let ready = json!({"type": "ready", "frame": frame});
            let _ = self.socket.send(Message::text(ready.to_string())).await;
        }
        if self.mounts {
            self.frame = frame.as_str().map(str::to_owned);
            let mounted = json!({"type": "mounted", "frame": frame, "rev": rev});
            let _ = self.socket.send(Message::text(mounted.to_string())).await;
        }
    }

    /// The first message that fits, read already or not. It is taken out; the others stay.
    pub async fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&fits)
            && let Some(message) = self.unread.remove(at)
        {
            return message;
        }
        loop {
            let Some(message) = self.receive().await else {
                panic!("closed before {what} came; unread: {:#?}", self.unread);
            };
            if fits(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    /// Reads until the server closes.
    pub async fn closed(&mut self) {
        while let Some(message) = self.receive().await {
            self.unread.push_back(message);
        }
    }

    /// The messages that were read and not waited for.
    pub fn unread(&self) -> &VecDeque<Value> {
        &self.unread
    }

    pub async fn event(&mut self, event: &str) -> Value {
        let is = |message: &Value| message["type"] == "event" && message["event"] == event;
        self.wait(event, |message| {
            is(message) && message.get("call").is_none()
        })
        .await["data"]
            .take()
    }

    /// An event for all, with these data.
    pub async fn event_of(&mut self, event: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let is = |message: &Value| {
            message["type"] == "event" && message["event"] == event && message.get("call").is_none()
        };
        self.wait(event, |message| is(message) && fits(&message["data"]))
            .await["data"]
            .take()
    }

    pub async fn said(&mut self, role: &str, text: &str) {
        let is = |data: &Value| data["role"] == role && data["text"] == text;
        self.event_of("message", is).await;
    }

    /// The shell says something; the pieces of the answer are thrown away as they come.
    pub async fn said_all(&mut self, text: &str) {
        let call = self.start_shell("send", json!([text])).await;
        loop {
            let message = self.receive().await.unwrap();
            if message["type"] == "reply" && message["id"] == call {
                return assert_eq!(message["ok"], true, "{message}");
            }
        }
    }

    pub async fn show(&mut self) -> Value {
        self.wait("show", |message| message["type"] == "show").await
    }

    pub async fn show_of(&mut self, rev: u64) -> Value {
        let is = |message: &Value| message["type"] == "show" && message["rev"] == rev;
        self.wait("show", is).await
    }

    /// The page shows its own chat, and no frame is left.
    pub async fn safe(&mut self) -> Value {
        self.frame = None;
        self.wait("safe", |message| message["type"] == "safe").await
    }

    pub async fn discard(&mut self, show: &Value) {
        let is =
            |message: &Value| message["type"] == "discard" && message["frame"] == show["frame"];
        self.wait("discard", is).await;
    }

    /// Reports a frame as mounted, and calls from it from now on.
    pub async fn mount(&mut self, show: &Value) {
        self.frame = show["frame"].as_str().map(str::to_owned);
        let message = json!({"type": "mounted", "frame": show["frame"], "rev": show["rev"]});
        self.tell(message).await;
    }

    pub async fn fail(&mut self, show: &Value, phase: &str, message: &str) {
        let message = json!({
            "type": "failed", "frame": show["frame"], "rev": show["rev"], "phase": phase, "message": message,
            "line": 3, "col": 7,
        });
        self.tell(message).await;
    }

    /// Calls, and does not wait. Answers the call's number.
    pub async fn start(&mut self, frame: Option<&str>, method: &str, args: Value) -> u64 {
        self.calls += 1;
        let id = self.calls;
        let call = json!({
            "type": "call", "id": id, "frame": frame, "method": method, "args": args, "gesture": self.gesture,
        });
        self.tell(call).await;
        id
    }

    /// The shell in the frame calls, and does not wait.
    pub async fn start_shell(&mut self, method: &str, args: Value) -> u64 {
        let frame = self.frame.clone().unwrap();
        self.start(Some(&frame), method, args).await
    }

    pub async fn reply(&mut self, id: u64) -> Result<Value, Value> {
        let is = |message: &Value| message["type"] == "reply" && message["id"] == id;
        let mut message = self.wait("reply", is).await;
        if message["ok"] == true {
            Ok(message["value"].take())
        } else {
            Err(message["error"].take())
        }
    }

    /// The shell in the frame calls.
    pub async fn shell(&mut self, method: &str, args: Value) -> Result<Value, Value> {
        let id = self.start_shell(method, args).await;
        self.reply(id).await
    }

    /// The bar calls.
    pub async fn bar(&mut self, method: &str, args: Value) -> Result<Value, Value> {
        let id = self.start(None, method, args).await;
        self.reply(id).await
    }

    /// The messages that arrived and were not waited for: everything that the server sent before it answered this.
    pub async fn rest(&mut self) -> Vec<Value> {
        self.bar("usage", json!([])).await.unwrap();
        self.unread.drain(..).collect()
    }

    /// Whether a message is among what has come by now. It leaves all there.
    pub async fn has(&mut self, fits: impl Fn(&Value) -> bool) -> bool {
        self.bar("usage", json!([])).await.unwrap();
        self.unread.iter().any(fits)
    }
}
