use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;

use super::Signal;

/// The actions of a [`super::FaultServer`] after it has read a request: a list of steps, in order.
///
/// After the last step the connection stays open for the next request, unless a step closed it.
#[derive(Clone, Debug)]
pub struct Answer {
    head: Option<Head>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(Bytes),
    Repeat(Bytes, u64),
    Dribble(Bytes),
    Wait(Signal),
    Pause(Duration),
    Fire(Signal),
    Stall,
    Close,
    Reset,
}

impl Answer {
    /// An answer of the steps' bytes only, for replies that violate HTTP or never arrive.
    pub fn raw() -> Self {
        Self {
            head: None,
            steps: Vec::new(),
        }
    }

    /// A whole reply with a content length.
    pub fn whole(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self::head(status, content_type)
            .header("content-length", &body.len().to_string())
            .bytes(body)
    }

    /// A whole JSON reply with a content length.
    pub fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self::whole(status, "application/json", body)
    }

    /// The head of a reply whose length is given by [`Self::header`] or by closing; the steps are its body.
    pub fn head(status: u16, content_type: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self {
            head: Some(Head { status, headers }),
            steps: Vec::new(),
        }
    }

    /// The head of a chunked reply; add [`Self::chunk`]s and [`Self::end`].
    pub fn chunked(status: u16, content_type: &str) -> Self {
        Self::head(status, content_type).header("transfer-encoding", "chunked")
    }

    /// The head of an event stream; add [`Self::chunk`]s and [`Self::end`].
    pub fn events() -> Self {
        Self::chunked(200, "text/event-stream")
    }

    /// A whole event stream, one chunk for each part.
    pub fn sse<T: AsRef<str>>(pieces: impl IntoIterator<Item = T>) -> Self {
        Self::events().pieces(pieces).end()
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let head = self.head.as_mut().expect("a raw answer has no headers");
        head.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes bytes without framing.
    #[must_use]
    pub fn bytes(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Write(bytes.into()))
    }

    /// Writes bytes a number of times, for bodies that are too long for the memory.
    #[must_use]
    pub fn repeat(self, bytes: impl Into<Bytes>, times: u64) -> Self {
        self.step(Step::Repeat(bytes.into(), times))
    }

    /// Writes bytes one by one, each in its own packet.
    #[must_use]
    pub fn dribble(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Dribble(bytes.into()))
    }

    /// Writes one chunk of a chunked body.
    #[must_use]
    pub fn chunk(self, data: impl AsRef<[u8]>) -> Self {
        self.bytes(framed(data.as_ref()))
    }

    /// Writes the same chunk a number of times.
    #[must_use]
    pub fn repeat_chunk(self, data: impl AsRef<[u8]>, times: u64) -> Self {
        self.repeat(framed(data.as_ref()), times)
    }

    /// Writes each byte as its own chunk and packet.
    #[must_use]
    pub fn dribble_chunks(self, data: impl AsRef<[u8]>) -> Self {
        data.as_ref()
            .iter()
            .fold(self, |answer, byte| answer.chunk([*byte]))
    }

    /// Writes a chunk for each part.
    #[must_use]
    pub fn pieces<T: AsRef<str>>(self, pieces: impl IntoIterator<Item = T>) -> Self {
        pieces
            .into_iter()
            .fold(self, |answer, piece| answer.chunk(piece.as_ref()))
    }

    /// Ends a chunked body.
    #[must_use]
    pub fn end(self) -> Self {
        self.bytes("0\r\n\r\n")
    }

    /// Ends a chunked body with trailers (`name: value`).
    #[must_use]
    pub fn end_with_trailers(self, trailers: &[&str]) -> Self {
        let mut lines = vec!["0"];
        lines.extend_from_slice(trailers);
        self.bytes(format!("{}\r\n\r\n", lines.join("\r\n")))
    }

    /// Waits until the signal is fired.
    #[must_use]
    pub fn wait(self, signal: &Signal) -> Self {
        self.step(Step::Wait(signal.clone()))
    }

    /// Waits for a duration, by the server's own timer, for servers that are slow on purpose. Use a [`Signal`] for events that
    /// a test controls.
    #[must_use]
    pub fn pause(self, time: Duration) -> Self {
        self.step(Step::Pause(time))
    }

    /// Puts the steps of `first` before the steps so far, the head included.
    #[must_use]
    pub fn after(mut self, first: Self) -> Self {
        let mut steps = first.into_steps();
        steps.extend(self.head_bytes().map(Step::Write));
        steps.append(&mut self.steps);
        Self { head: None, steps }
    }

    /// Fires the signal, which tells the test that the server reached this step.
    #[must_use]
    pub fn fire(self, signal: &Signal) -> Self {
        self.step(Step::Fire(signal.clone()))
    }

    /// Stops here; the connection stays open until the peer closes it.
    #[must_use]
    pub fn stall(self) -> Self {
        self.step(Step::Stall)
    }

    /// Closes the connection in order (FIN).
    #[must_use]
    pub fn close(self) -> Self {
        self.step(Step::Close)
    }

    /// Resets the connection (RST).
    #[must_use]
    pub fn reset(self) -> Self {
        self.step(Step::Reset)
    }

    fn into_steps(self) -> Vec<Step> {
        let head = self.head_bytes().map(Step::Write);
        head.into_iter().chain(self.steps).collect()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The bytes of status line and headers.
    pub(super) fn head_bytes(&self) -> Option<Bytes> {
        let head = self.head.as_ref()?;
        let mut text = format!("HTTP/1.1 {} Scripted\r\n", head.status);
        for (name, value) in &head.headers {
            // Writing to a string cannot fail.
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text.push_str("\r\n");
        Some(text.into())
    }
}

/// One chunk of a chunked body.
fn framed(data: &[u8]) -> Bytes {
    let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
    chunk.extend_from_slice(data);
    chunk.extend_from_slice(b"\r\n");
    chunk.into()
}
