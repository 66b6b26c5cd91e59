use std::io;
use std::sync::Arc;

use bytes::{Buf as _, BytesMut};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use super::answer::Step;
use super::{Answer, ServerShared};

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    /// The number of its connection, from 0.
    pub connection: usize,
    /// The number of the request at the server, from 0.
    pub number: usize,
    /// The number of requests that were being answered when it arrived, itself included.
    pub in_flight: usize,
    /// The method, such as `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body without framing.
    pub body: Vec<u8>,
}

impl Received {
    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The client closed or reset it.
    ByPeer,
    /// A step of the script closed it.
    ByScript,
}

/// Serves one connection to its end.
pub(super) async fn serve(
    mut stream: TcpStream,
    number: usize,
    shared: Arc<ServerShared>,
) -> Closed {
    // Each piece is its own packet; without this, small ones would be joined.
    stream.set_nodelay(true).unwrap();
    let mut buffer = BytesMut::new();
    loop {
        let (mut read, mut write) = stream.split();
        let Ok(Some(request)) = read_request(&mut read, &mut buffer, number).await else {
            return Closed::ByPeer;
        };
        let answer = shared.answer(request);
        let next = tokio::select! {
            next = perform(&mut write, &answer) => next.unwrap_or(Next::Gone),
            // A client sends nothing before it has the reply, so the next thing that can be read is the end.
            () = until_end(&mut read, &mut buffer) => Next::Gone,
        };
        shared.answered();
        match next {
            Next::Request => {}
            Next::Close => return Closed::ByScript,
            Next::Reset => {
                stream.set_zero_linger().unwrap();
                return Closed::ByScript;
            }
            Next::Gone => return Closed::ByPeer,
        }
    }
}

enum Next {
    Request,
    Close,
    Reset,
    Gone,
}

async fn perform(write: &mut WriteHalf<'_>, answer: &Answer) -> io::Result<Next> {
    if let Some(head) = answer.head_bytes() {
        write.write_all(&head).await?;
    }
    for step in &answer.steps {
        match step {
            Step::Write(bytes) => write.write_all(bytes).await?,
            Step::Repeat(bytes, times) => {
                for _ in 0..*times {
                    write.write_all(bytes).await?;
                }
            }
            Step::Dribble(bytes) => {
                for byte in bytes {
                    write.write_all(&[*byte]).await?;
                    tokio::task::yield_now().await;
                }
            }
            Step::Wait(signal) => signal.wait().await,
            Step::Pause(time) => tokio::time::sleep(*time).await,
            Step::Fire(signal) => signal.fire(),
            Step::Stall => std::future::pending().await,
            Step::Close => return Ok(Next::Close),
            Step::Reset => return Ok(Next::Reset),
        }
    }
    Ok(Next::Request)
}

async fn until_end(read: &mut ReadHalf<'_>, buffer: &mut BytesMut) {
    while matches!(read.read_buf(buffer).await, Ok(1..)) {}
}

/// The next request; `None` if the connection ends before it is complete.
async fn read_request(
    read: &mut ReadHalf<'_>,
    buffer: &mut BytesMut,
    connection: usize,
) -> io::Result<Option<Received>> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if read.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    buffer.advance(head_end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let mut received = Received {
        connection,
        number: 0,
        in_flight: 0,
        method: first.next().unwrap_or_default().to_owned(),
        path: first.next().unwrap_or_default().to_owned(),
        headers: lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect(),
        body: Vec::new(),
    };
    let length = received.header("content-length").map(str::parse::<usize>);
    let chunked = received
        .header("transfer-encoding")
        .is_some_and(|coding| coding.contains("chunked"));
    let complete = if chunked {
        read_chunks(read, buffer, &mut received.body).await?
    } else {
        let length = length.map_or(0, |length| length.expect("a content length is a number"));
        take(read, buffer, length, &mut received.body).await?
    };
    Ok(complete.then_some(received))
}

/// Moves `length` bytes to `body`; false if the connection ends before.
async fn take(
    read: &mut ReadHalf<'_>,
    buffer: &mut BytesMut,
    length: usize,
    body: &mut Vec<u8>,
) -> io::Result<bool> {
    while buffer.len() < length {
        if read.read_buf(buffer).await? == 0 {
            return Ok(false);
        }
    }
    body.extend_from_slice(&buffer.split_to(length));
    Ok(true)
}

async fn read_chunks(
    read: &mut ReadHalf<'_>,
    buffer: &mut BytesMut,
    body: &mut Vec<u8>,
) -> io::Result<bool> {
    loop {
        let line_end = loop {
            if let Some(at) = buffer.windows(2).position(|window| window == b"\r\n") {
                break at;
            }
            if read.read_buf(buffer).await? == 0 {
                return Ok(false);
            }
        };
        let line = buffer.split_to(line_end + 2);
        let size = String::from_utf8_lossy(&line[..line_end]).into_owned();
        let size = usize::from_str_radix(&size, 16).expect("a chunk size is hexadecimal");
        let mut framing = Vec::new();
        let complete =
            take(read, buffer, size, body).await? && take(read, buffer, 2, &mut framing).await?;
        if !complete || size == 0 {
            return Ok(complete);
        }
    }
}
