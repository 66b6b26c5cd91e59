//! A server that no request may reach: it records every one that does.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::AbortHandle;

/// The answer allows any origin, so that only the policy under test can block it.
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nAccess-Control-Allow-Origin: *\r\n\
    Content-Length: 6\r\nConnection: close\r\n\r\nsecret";

/// Listens with TCP and with UDP on the same port of 127.0.0.1 until it is dropped.
pub struct Listener {
    addr: SocketAddr,
    heard: Heard,
    tasks: [AbortHandle; 2],
}

type Heard = Arc<Mutex<Vec<String>>>;

impl Listener {
    /// Opens both on a free port.
    pub async fn open() -> Self {
        let (tcp, udp) = loop {
            let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
            // The same number may be in use for datagrams.
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
                break (tcp, udp);
            }
        };
        let heard = Heard::default();
        let addr = tcp.local_addr().unwrap();
        let tasks = [
            tokio::spawn(connections(tcp, heard.clone())).abort_handle(),
            tokio::spawn(datagrams(udp, heard.clone())).abort_handle(),
        ];
        Self { addr, heard, tasks }
    }

    /// The address, as `127.0.0.1:PORT`.
    pub fn place(&self) -> String {
        self.addr.to_string()
    }

    /// The contacts so far: `tcp` for a connection, then `GET /path` for a request; `udp` for each datagram.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn connections(listener: TcpListener, heard: Heard) {
    while let Ok((stream, _)) = listener.accept().await {
        heard.lock().unwrap().push("tcp".to_owned());
        tokio::spawn(request(stream, heard.clone()));
    }
}

async fn request(mut stream: TcpStream, heard: Heard) {
    let mut start = vec![0; 1024];
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut start)).await;
    if let Ok(Ok(length @ 1..)) = read {
        let text = String::from_utf8_lossy(&start[..length]);
        let line = text.lines().next().unwrap_or_default();
        let line = line.strip_suffix(" HTTP/1.1").unwrap_or(line).to_owned();
        heard.lock().unwrap().push(line);
        let _gone = stream.write_all(ANSWER).await;
    }
}

async fn datagrams(socket: UdpSocket, heard: Heard) {
    let mut datagram = [0; 1500];
    while socket.recv_from(&mut datagram).await.is_ok() {
        heard.lock().unwrap().push("udp".to_owned());
    }
}
