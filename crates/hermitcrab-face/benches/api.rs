//! The time for a page to read and write a block of 10,000 nodes: over the socket, onto the disk.
//!
//! `cargo bench -p orrery-hermitcrab-face --bench api`; the limits of the specification are in docs/benchmarks.md.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::future::ready;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use futures_util::{SinkExt as _, StreamExt as _};
use hermitcrab_face::{FaceConfig, FaceServer, NoKeys, WebHost};
use hermitcrab_kernel::{Kernel, OfflineBrain};
use pscale_blocks::{Block, BlockName, BlockStore as _, DirStore, EditAuthor, Path, Stamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;

const NODES: usize = 10_000;

/// A block whose nodes stand on four levels below the head.
fn block() -> Block {
    let mut block = Block::new("Ten thousand tides.");
    let mut paths = vec!["0".to_owned()];
    let mut at = 0;
    while paths.len() < NODES {
        let parent = paths[at].clone();
        at += 1;
        for digit in 1..=9 {
            let path = format!("{parent}.{digit}");
            let text = format!("The tide of day {} was high.", paths.len());
            block.write(&path.parse::<Path>().unwrap(), &text).unwrap();
            paths.push(path);
        }
    }
    block
}

/// The address and the tokens of a session.
struct Session {
    addr: SocketAddr,
    cookie: String,
    token: String,
}

impl Session {
    /// Opens the session of the printed address.
    fn open(addr: SocketAddr, once: &str) -> Self {
        let body = json!({ "token": once }).to_string();
        let mut stream = TcpStream::connect(addr).unwrap();
        write!(
            stream,
            "POST /session HTTP/1.1\r\nHost: {addr}\r\nOrigin: http://{addr}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let cookie = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let body: Value = serde_json::from_str(body).unwrap();
        Self {
            addr,
            cookie: cookie.unwrap().split(';').next().unwrap().to_owned(),
            token: body["token"].as_str().unwrap().to_owned(),
        }
    }

    /// A page's socket, which stays open.
    async fn page(&self) -> Page {
        let mut request = format!("ws://{}/ws", self.addr)
            .into_client_request()
            .unwrap();
        let headers = request.headers_mut();
        let origin = format!("http://{}", self.addr);
        headers.insert("origin", origin.parse().unwrap());
        headers.insert("cookie", self.cookie.parse().unwrap());
        let (mut socket, _) = connect_async(request).await.unwrap();
        // A page out of view: the model stays asleep.
        let hello = json!({"type": "hello", "token": self.token});
        let hello = Message::text(hello.to_string());
        socket.send(hello).await.unwrap();
        Page { socket, calls: 0 }
    }
}

/// A page whose bar calls.
struct Page {
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    calls: u64,
}

impl Page {
    async fn call(&mut self, method: &str, args: Value) -> Value {
        self.calls += 1;
        let call = json!({"type": "call", "id": self.calls, "method": method, "args": args});
        let call = Message::text(call.to_string());
        self.socket.send(call).await.unwrap();
        loop {
            let message = self.socket.next().await.unwrap().unwrap();
            let Message::Text(text) = message else {
                continue;
            };
            let mut message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] == "reply" && message["id"] == self.calls {
                assert_eq!(message["ok"], true, "{message}");
                return message["value"].take();
            }
        }
    }
}

fn api_10k(bench: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let folder = TempDir::new().unwrap();
    let store = Arc::new(DirStore::open(folder.path()).unwrap());
    let stamp = Stamp::new("2026-11-22T00:00:00Z".parse().unwrap(), EditAuthor::Kernel);
    let name = BlockName::new("tides").unwrap();
    store.create(&name, &block(), &stamp).unwrap();
    let host = WebHost::default();
    let cancel = CancellationToken::new();
    let (addr, once, server) = runtime.block_on(async {
        let kernel = Kernel::builder(store, Arc::new(OfflineBrain))
            .host(Arc::new(host.clone()))
            .open();
        let mut config = FaceConfig::default();
        "bench".clone_into(&mut config.version);
        let server = FaceServer::bind(kernel.unwrap(), host, Arc::new(NoKeys), config);
        let server = server.await.unwrap();
        let (addr, url) = (server.addr(), server.url());
        let once = url.split_once('#').unwrap().1.to_owned();
        (
            addr,
            once,
            tokio::spawn(server.run(cancel.clone(), ready(None))),
        )
    });
    let session = Session::open(addr, &once);
    let mut page = runtime.block_on(session.page());
    let mut call = |method: &str, args: Value| black_box(runtime.block_on(page.call(method, args)));

    let mut group = bench.benchmark_group("api_10k");
    group.bench_function("read_block", |bencher| {
        bencher.iter(|| call("blockRead", json!(["tides", "0", "subtree"])));
    });
    group.bench_function("read_node", |bencher| {
        bencher.iter(|| call("blockNode", json!(["tides", "0.1.2.3"])));
    });
    let mut rev = 1;
    group.bench_function("write_node", |bencher| {
        bencher.iter(|| {
            let content = format!("The tide of revision {rev}.");
            let saved = call("blockSave", json!(["tides", "0.1.2.3", content, rev]));
            rev = saved["rev"].as_u64().unwrap();
        });
    });
    group.finish();
    cancel.cancel();
    drop(page);
    runtime.block_on(server).unwrap();
}

criterion_group!(benches, api_10k);
criterion_main!(benches);
